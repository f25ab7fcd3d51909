import ControlAPI
import ControlServer
import FuzzSupport

/// The same call, made by hand from what was read.
private func made(_ call: ControlCall) -> ControlCall {
  switch call {
  case .hello(let told): .hello(HelloParameters(apiVersion: told.apiVersion, client: told.client))
  case .trustContact(let told): .trustContact(TrustParameters(peer: told.peer, isVerified: told.isVerified))
  case .blockContact(let told): .blockContact(PeerParameters(peer: told.peer))
  case .sendMessage(let told):
    .sendMessage(SendParameters(to: told.to, text: told.text, isEcho: told.isEcho, isBot: told.isBot))
  case .messageStatus(let told): .messageStatus(MessageStatusParameters(messageID: told.messageID))
  case .listMessages(let told): .listMessages(ListMessagesParameters(limit: told.limit))
  case .ping(let told): .ping(PingParameters(peer: told.peer, timeoutMilliseconds: told.timeoutMilliseconds))
  case .subscribe(let told): .subscribe(SubscribeParameters(kinds: told.kinds))
  case .acknowledge(let told): .acknowledge(AcknowledgeParameters(cursor: told.cursor))
  default: call
  }
}

/// Any bytes are requests or faults, however they are cut on the way; a request that is taken comes back.
private let fuzzer = Fuzzer(
  seeds: {
    let requests = [
      #"{"jsonrpc":"2.0","id":1,"method":"node.hello","params":{"apiVersion":1,"client":"x"}}"#,
      #"{"jsonrpc":"2.0","id":"a","method":"node.status"}"#,
      #"{"jsonrpc":"2.0","id":2,"method":"node.stop","params":{}}"#,
      #"{"jsonrpc":"2.0","id":3,"method":"peers.list"}"#, #"{"jsonrpc":"2.0","id":3,"method":"links.list"}"#,
      #"{"jsonrpc":"2.0","id":3,"method":"contacts.list"}"#, #"{"jsonrpc":"2.0","id":3,"method":"contact.list"}"#,
      ##"{"jsonrpc":"2.0","id":4,"method":"message.send","params":{"to":"#public","text":"hé","isEcho":true}}"##,
      ##"{"jsonrpc":"2.0","id":4,"method":"message.send","params":{"to":"","text":""}}"##,
      #"{"jsonrpc":"2.0","id":5,"method":"message.status","params":{"messageID":"00ff"}}"#,
      #"{"jsonrpc":"2.0","id":6,"method":"messages.list","params":{"limit":500}}"#,
      #"{"jsonrpc":"2.0","id":6,"method":"messages.list","params":{"limit":0}}"#,
      #"{"jsonrpc":"2.0","id":7,"method":"node.ping","params":{"peer":"ada","timeoutMilliseconds":1}}"#,
      #"{"jsonrpc":"2.0","id":8,"method":"events.subscribe","params":{"kinds":["message","peer","link","reception","all"]}}"#,
      #"{"jsonrpc":"2.0","id":8,"method":"events.subscribe","params":{"kinds":[7]}}"#,
      #"{"jsonrpc":"2.0","id":9,"method":"events.acknowledge","params":{"cursor":18446744073709551615}}"#,
      #"{"jsonrpc":"2.0","id":9,"method":"events.acknowledge","params":{"cursor":-1}}"#,
      #"{"jsonrpc":"2.0","id":9,"method":"events.acknowledge","params":[]}"#,
      #"{"jsonrpc":"1.0","id":9}"#, #"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#, "[]", "{", "null",
      #"{"jsonrpc":"2.0","id":9,"method":"node.status","more":1}"#, #"{"jsonrpc":"2.0","id":9}"#,
      #"{"jsonrpc":"2.0","id":9,"method":"unknown"}"#, #"{"jsonrpc":"2.0","id":9,"method":"node.ping","params":{}}"#,
      #"{"jsonrpc":"2.0","id":9,"method":"node.ping","params":{"what":1}}"#, "{\"jsonrpc\":\"\\ud800\"}",
    ]
    // Further methods by name, so that the corpus knows every one there is.
    let others = ControlMethod.allCases.flatMap { method in
      [
        #"{"jsonrpc":"2.0","id":1,"method":"\#(method.rawValue)","params":{"peer":"ada"}}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"\#(method.rawValue)","params":{"peer":"ada","isVerified":true}}"#,
        #"{"jsonrpc":"2.0","id":1,"method":"\#(method.rawValue)"}"#,
      ]
    }
    let long = String(repeating: "x", count: 200)
    let bounds = [
      #"{"jsonrpc":"2.0","id":"\#(long)","method":"node.status"}"#,
      #"{"jsonrpc":"2.0","id":1,"method":"node.ping","params":{"peer":"\#(long)","timeoutMilliseconds":1}}"#,
    ]
    let lines = (requests + others + bounds).map { Array($0.utf8) }
    return lines.enumerated().map { ("request-\($0.offset)", [7] + $0.element + [10]) } + [
      ("lines", [3] + lines[0] + [10, 10] + lines[1] + [10] + lines[2]),
      ("too-long", [40] + [UInt8](repeating: 0x78, count: 400)),
    ]
  },
  test: { bytes in
    guard let first = bytes.first else { return }
    let input = bytes.dropFirst()
    // What a client reads of a node, which may be anybody's program.
    _ = try? ControlNotice.decode(Array(input))
    // The first byte says into what pieces the rest is cut.
    let size = max(1, Int(first))
    var splitter = LineSplitter(limit: 300)
    var lines: [[UInt8]] = []
    var isTooLong = false
    var rest = input
    while !rest.isEmpty, !isTooLong {
      splitter.append(rest.prefix(size))
      rest = rest.dropFirst(size)
      while !isTooLong, let piece = splitter.next() {
        switch piece {
        case .line(let line): lines.append(line)
        case .tooLong: isTooLong = true
        }
      }
    }
    let wanted = input.split(separator: 10).map { Array($0) }
    require(lines.allSatisfy { !$0.isEmpty && $0.count < 300 && !$0.contains(10) }, "a line is a line")
    require(
      lines.count <= wanted.count && lines == Array(wanted.prefix(lines.count)), "lines come in order, as they were")
    if !isTooLong {
      require(wanted.count - lines.count == (input.isEmpty || input.last == 10 ? 0 : 1), "no whole line is kept back")
    }
    for line in wanted {
      do throws(ControlFault) {
        let request = try ControlRequest.decode(line)
        require(made(request.call) == request.call, "what was read can be made")
        if case .subscribe(let told) = request.call { require(!told.eventKinds.isEmpty, "a subscriber gets something") }
        // A control character in a text may need six bytes, so that what was taken does not always fit again.
        guard let encoded = try? request.encode() else { continue }
        require(encoded.last == 10, "a request ends its line")
        require((try? ControlRequest.decode(Array(encoded.dropLast()))) == request, "a request comes back")
      } catch {
        require(!error.error.message.isEmpty, "a fault says what it is")
      }
    }
  })

@_cdecl("FuzzControl_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
