import Arguments
import ControlAPI
import ControlClient
import Glibc
import Programs

func sendMessage(_ context: ProgramContext) async throws(ProgramFailure) {
  var words = context.invocation.arguments["WORDS"] ?? []
  let recipient: String
  if let peer = context.settings.text("to") {
    recipient = peer
  } else if let room = words.first, room.hasPrefix("#") {
    recipient = room
    words.removeFirst()
  } else {
    throw ProgramFailure("Say to whom: relaychat send '#public' TEXT, or --to PEER TEXT.", exitCode: ExitCode.usage)
  }
  let text = words == ["-"] ? try readStandardInput() : words.joined(separator: " ")
  guard !text.isEmpty else { throw ProgramFailure("The text is missing.", exitCode: ExitCode.usage) }
  guard text.utf8.count <= ControlAPILimits.bytesOfText else {
    throw ProgramFailure("The text has more than \(ControlAPILimits.bytesOfText) bytes; send less.")
  }
  let client = try await context.connect()
  let answer = try await asking { () async throws(ControlClientError) in try await client.send(text, to: recipient) }
  if try context.wantsJSON {
    try writeJSON(answer)
  } else {
    Output.line("\(answer.messageID) \(answer.state.rawValue)")
  }
}

/// At most what a message can have, without the last line end.
func readStandardInput() throws(ProgramFailure) -> String {
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 4_096)
  while bytes.count <= ControlAPILimits.bytesOfText + 1 {
    let size = unsafe read(0, &chunk, chunk.count)
    if size < 0, errno == EINTR { continue }
    guard size > 0 else { break }
    bytes += chunk[..<size]
  }
  if bytes.last == 0x0A { bytes.removeLast() }
  let isTooLong = bytes.count > ControlAPILimits.bytesOfText
  // What is too long was cut, maybe inside a character; it is refused for its length.
  guard
    let text = String(validating: bytes, as: UTF8.self) ?? (isTooLong ? String(decoding: bytes, as: UTF8.self) : nil)
  else { throw ProgramFailure("Standard input is no UTF-8 text.", exitCode: ExitCode.usage) }
  return text
}

func listen(_ context: ProgramContext) async throws(ProgramFailure) {
  let recent = try context.reading { (settings) throws(SettingError) in
    try settings.integer("recent", in: 1...ControlAPILimits.messagesPerList)
  }
  let count = try context.reading { (settings) throws(SettingError) in try settings.integer("count", in: 1...1_000_000)
  }
  let showsAll = try context.reading { (settings) throws(SettingError) in try settings.flag("all") }
  let tellsRead = try context.reading { (settings) throws(SettingError) in try settings.flag("read") }
  let wantsJSON = try context.wantsJSON
  let client = try await context.connect()
  let kinds: [SubscribeParameters.Kind] = showsAll ? [.all] : [.message, .peer]
  _ = try await asking { () async throws(ControlClientError) in try await client.subscribe(to: kinds) }
  if let recent {
    let messages = try await asking { () async throws(ControlClientError) in try await client.messages(limit: recent) }
    for message in messages { if wantsJSON { try writeJSON(message) } else { Output.line(PeerText.line(message)) } }
    if tellsRead { try await tellRead(messages, client) }
  }
  var rest = count ?? Int.max
  for await event in client.events {
    if wantsJSON {
      try writeJSON(event)
    } else if let line = text(event), !Output.line(line) {
      return
    }
    if case .message(let message) = event.body, !message.isOwn {
      rest -= 1
      if tellsRead { try await tellRead([message], client) }
    }
    if rest == 0 { return }
  }
  if !Task.isCancelled { throw ProgramFailure(.connectionLost) }
}

/// Tells the authors of those that are personal and of others, as many at a time as a receipt speaks of.
private func tellRead(_ messages: [MessageRecord], _ client: NodeClient) async throws(ProgramFailure) {
  let ids = messages.filter { $0.room == nil && !$0.isOwn }.map(\.messageID)
  for start in stride(from: 0, to: ids.count, by: ControlAPILimits.messagesPerReceipt) {
    let some = Array(ids[start..<min(start + ControlAPILimits.messagesPerReceipt, ids.count)])
    try await asking { () async throws(ControlClientError) in try await client.markRead(some) }
  }
}

private func text(_ event: ControlEvent) -> String? {
  let time = PeerText.time(event.time)
  switch event.body {
  case .message(let message): return PeerText.line(message)
  case .delivery(let delivery):
    let reason = delivery.reason.map { ": " + TerminalText.neutralised($0) } ?? ""
    return "\(time) \(delivery.messageID.prefix(8)) \(delivery.state.rawValue)\(reason)"
  case .peer(let event):
    let peer = PeerReference(id: event.peer.id, name: event.peer.name)
    return "\(time) \(PeerText.name(peer)) \(event.change.rawValue)"
  case .contact(let contact):
    return "\(time) \(PeerText.line(contact))"
  case .link(let event):
    let reason = event.reason.map { ": " + $0 } ?? ""
    let peer = event.link.peer.map(PeerText.name) ?? event.link.address
    if event.change == .unsteady {
      return "\(time) " + TerminalText.neutralised("the link to \(peer) does not hold\(reason)")
    }
    return "\(time) "
      + TerminalText.neutralised(
        "link \(event.link.id) to \(peer) \(event.change.rawValue) (\(event.link.step.rawValue))\(reason)")
  case .reception(let event):
    let words = [
      event.direction.rawValue, event.link, event.packetKind, String(event.id.prefix(8)), "\(event.hops) hops",
      "\(event.size) bytes", event.verdict,
    ]
    return "\(time) " + TerminalText.neutralised(words.joined(separator: " "))
  case .lagged(let event): return "\(time) \(event.count) events are missing here"
  }
}

func ping(_ context: ProgramContext) async throws(ProgramFailure) {
  let seconds = try context.reading { (settings) throws(SettingError) in
    try settings.integer("timeout", in: 1...(ControlAPILimits.millisecondsOfPing / 1_000))
  }
  let peer = context.invocation.argument("PEER") ?? ""
  let client = try await context.connect()
  let answer = try await asking { () async throws(ControlClientError) in
    try await client.ping(peer, timeout: .seconds(seconds ?? 10))
  }
  if try context.wantsJSON {
    try writeJSON(answer)
    return
  }
  let path = answer.path.map { TerminalText.neutralised($0) }.joined(separator: ", ")
  let way = path.isEmpty ? "" : " over \(path)"
  let hops = "\(answer.hops) \(answer.hops == 1 ? "hop" : "hops")"
  Output.line("\(PeerText.name(answer.peer)): \(Int(answer.roundTripMilliseconds.rounded())) ms, \(hops)\(way)")
}
