import Testing

@testable import ControlAPI

@Suite struct ControlRequestTests {
  private func decode(_ text: String) throws -> ControlRequest { try ControlRequest.decode(Array(text.utf8)) }

  private func fault(_ text: String) -> ControlFault? {
    do {
      _ = try ControlRequest.decode(Array(text.utf8))
      return nil
    } catch {
      return error
    }
  }

  static let calls: [ControlCall] = [
    .hello(HelloParameters(client: "test")), .status, .stop, .listPeers, .listLinks, .topology,
    .sendMessage(SendParameters(to: "#public", text: "ünïcödé \" \\ / \n", isEcho: true)),
    .messageStatus(MessageStatusParameters(messageID: "00ff")), .listMessages(ListMessagesParameters(limit: 7)),
    .storeProgress, .storeStatus, .ping(PingParameters(peer: "bob")),
    .subscribe(SubscribeParameters(kinds: [.message, .reception])),
    .acknowledge(AcknowledgeParameters(cursor: .max)),
  ]

  @Test(arguments: calls) func everyCallComesBack(call: ControlCall) throws {
    for id in [RequestIdentifier.number(-7), .text("a-1")] {
      let line = try ControlRequest(id: id, call: call).encode()
      #expect(line.last == 0x0A && !line.dropLast().contains(0x0A))
      #expect(try ControlRequest.decode(line) == ControlRequest(id: id, call: call))
    }
  }

  @Test func paramsMayBeLeftOutWhereThereAreNone() throws {
    #expect(try decode(#"{"jsonrpc":"2.0","id":1,"method":"node.status"}"#).call == .status)
    #expect(try decode(#"{"jsonrpc":"2.0","id":1,"method":"node.status","params":{}}"#).call == .status)
  }

  @Test(arguments: [
    ("", ControlErrorCode.parse, nil), ("nonsense", .parse, nil), ("{", .parse, nil), ("{}{}", .parse, nil),
    ("[]", .invalidRequest, nil), ("7", .invalidRequest, nil), ("null", .parse, nil), ("{}", .invalidRequest, nil),
    (#"{"jsonrpc":"1.0","id":1,"method":"node.status"}"#, .invalidRequest, 1),
    (#"{"jsonrpc":"2.0","method":"node.status"}"#, .invalidRequest, nil),
    (#"{"jsonrpc":"2.0","id":null,"method":"node.status"}"#, .invalidRequest, nil),
    (#"{"jsonrpc":"2.0","id":1.5,"method":"node.status"}"#, .invalidRequest, nil),
    (#"{"jsonrpc":"2.0","id":1,"method":7}"#, .invalidRequest, 1),
    (#"{"jsonrpc":"2.0","id":1,"method":"node.status","extra":1}"#, .invalidRequest, 1),
    (#"{"jsonrpc":"2.0","id":1,"method":"node.nonsense"}"#, .unknownMethod, 1),
    (#"{"jsonrpc":"2.0","id":1,"method":"node.status","params":[]}"#, .invalidParameters, 1),
    (#"{"jsonrpc":"2.0","id":1,"method":"node.status","params":{"x":1}}"#, .invalidParameters, 1),
    (#"{"jsonrpc":"2.0","id":1,"method":"node.hello"}"#, .invalidParameters, 1),
    (#"{"jsonrpc":"2.0","id":1,"method":"message.send","params":{"to":"x"}}"#, .invalidParameters, 1),
    (#"{"jsonrpc":"2.0","id":1,"method":"message.send","params":{"to":"x","text":7}}"#, .invalidParameters, 1),
    (#"{"jsonrpc":"2.0","id":1,"method":"message.send","params":{"to":"","text":"x"}}"#, .invalidParameters, 1),
    (#"{"jsonrpc":"2.0","id":1,"method":"message.send","params":{"to":"x","text":"y","z":1}}"#, .invalidParameters, 1),
    (#"{"jsonrpc":"2.0","id":1,"method":"messages.list","params":{"limit":0}}"#, .invalidParameters, 1),
    (#"{"jsonrpc":"2.0","id":1,"method":"messages.list","params":{"limit":1e400}}"#, .parse, nil),
    (
      #"{"jsonrpc":"2.0","id":1,"method":"messages.list","params":{"limit":99999999999999999999}}"#, .invalidParameters,
      1
    ),
    (#"{"jsonrpc":"2.0","id":1,"method":"events.acknowledge","params":{"cursor":-1}}"#, .invalidParameters, 1),
    (#"{"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":{"kinds":["gossip"]}}"#, .invalidParameters, 1),
    (#"{"jsonrpc":"2.0","id":1,"method":"message.read","params":{"messageIDs":["zz"]}}"#, .invalidParameters, 1),
    (#"{"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":{"kinds":[]}}"#, .invalidParameters, 1),
  ]) func wrongLinesHaveTheirCode(text: String, code: ControlErrorCode, id: Int64?) {
    let fault = fault(text)
    #expect(fault?.error.code == code || (code == .parse && fault?.error.code == .invalidParameters))
    if code != .parse { #expect(fault?.id == id.map { .number($0) }) }
  }

  @Test func boundsAreTold() {
    let long = String(repeating: "x", count: ControlAPILimits.bytesOfText + 1)
    let send = fault(#"{"jsonrpc":"2.0","id":1,"method":"message.send","params":{"to":"x","text":"\#(long)"}}"#)
    #expect(send?.error.code == .tooLong && send?.error.data?.limit == ControlAPILimits.bytesOfText)
    let line = fault(String(repeating: " ", count: ControlAPILimits.bytesOfRequest + 1))
    #expect(line?.error.code == .tooLong)
    let deep = fault(String(repeating: "[", count: 60_000))
    #expect(deep?.error.code == .parse)
    #expect(throws: ControlFault.self) { try ControlRequest.decode([0x22, 0xFF, 0x22]) }
  }

  @Test func anyBytesGiveARequestOrAFault() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var state = seed
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    let lines = try Self.calls.map { try ControlRequest(id: .number(1), call: $0).encode() }
    for _ in 0..<4_000 {
      var line = lines[next(lines.count)]
      for _ in 0...next(4) { line[next(line.count)] = UInt8(truncatingIfNeeded: next(256)) }
      if next(4) == 0 { line.removeSubrange(next(line.count)...) }
      if let request = try? ControlRequest.decode(line) {
        let again = try request.encode()
        #expect(try ControlRequest.decode(again) == request, "seed \(seed)")
      }
      _ = try? ControlNotice.decode(line)
    }
  }
}
