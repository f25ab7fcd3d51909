import Testing

@testable import ControlAPI

@Suite struct ControlResponseTests {
  static let peer = PeerRecord(
    id: "00", name: "Ann", icon: "🦊", fingerprintHex: "ff", isNeighbour: true, hops: nil, lastHeardSecondsAgo: 1.5,
    state: .present, isBot: false, cardSequence: 3)
  static let link = LinkRecord(
    id: "1", transport: "local", address: "a", role: .central, step: .ready, peer: .init(id: "00", name: "Ann"),
    frameSize: 244, rssi: -60, queued: 0, sent: 1, received: 2, retransmitted: 0, sinceSeconds: 9,
    lastFailure: .init(step: .connecting, reason: "timeout"))
  static let message = MessageRecord(
    messageID: "ab", room: "#public", from: .init(id: "00", name: "Ann"), fromIsBot: false, text: "hi", sentTime: 5,
    receivedTime: 6, hops: 3, path: ["B", "C"], isEcho: false, isOwn: false)

  static let events: [ControlEvent] = [
    ControlEvent(time: 1, cursor: 9, body: .message(message)),
    ControlEvent(time: 1, cursor: 10, body: .delivery(.init(messageID: "ab", state: .expired, reason: "key"))),
    ControlEvent(time: 2, body: .peer(.init(change: .renamed, peer: peer))),
    ControlEvent(time: 2, body: .link(.init(change: .down, reason: "gone", link: link))),
    ControlEvent(
      time: 3,
      body: .reception(
        .init(
          link: "1", neighbour: .init(id: "00", name: "Ann"), direction: .in, packetKind: "public", id: "cd", hops: 1,
          size: 99, verdict: "accepted"))),
    ControlEvent(time: 4, body: .lagged(.init(count: 12))),
  ]

  @Test(arguments: events) func everyEventComesBack(event: ControlEvent) throws {
    let line = try #require(ControlResponse.encode(event))
    #expect(try ControlNotice.decode(line) == .event(event))
  }

  @Test func eventsAreFlat() throws {
    let line = try #require(ControlResponse.encode(Self.events[5]))
    #expect(
      String(decoding: line, as: UTF8.self)
        == #"{"jsonrpc":"2.0","method":"event","params":{"count":12,"kind":"lagged","time":4}}"# + "\n")
  }

  @Test func answersComeBack() throws {
    let line = ControlResponse.encode(.peers([Self.peer]), to: .number(4))
    #expect(try ControlNotice.decode(line) == .answer(id: .number(4)))
    #expect(try ControlNotice.answer([String: [PeerRecord]].self, in: line) == ["peers": [Self.peer]])
    let done = ControlResponse.encode(.done, to: .text("x"))
    #expect(String(decoding: done, as: UTF8.self) == #"{"id":"x","jsonrpc":"2.0","result":{}}"# + "\n")
  }

  @Test func errorsCarryTheirFacts() throws {
    let error = ControlError(.ambiguous, "two peers", candidates: ["00aa", "00bb"])
    let line = ControlResponse.encode(error, to: nil)
    #expect(try ControlNotice.decode(line) == .failure(id: nil, error))
  }

  @Test func answerThatIsTooLongIsAnError() throws {
    var long = Self.message
    long.text = String(repeating: "x", count: 60_000)
    let line = ControlResponse.encode(.messages(Array(repeating: long, count: 30)), to: .number(1))
    guard case .failure(.number(1), let error) = try ControlNotice.decode(line) else {
      Issue.record("no failure")
      return
    }
    #expect(error.code == .tooLong)
  }

  @Test func filtersNameEventKinds() {
    #expect(SubscribeParameters(kinds: [.message]).eventKinds == [.message, .delivery])
    #expect(SubscribeParameters(kinds: [.all]).eventKinds == Set(ControlEventKind.allCases))
  }

  @Test func permissionsIncludeTheLower() {
    #expect(ControlPermission.send.included == [.read, .send])
    #expect(ControlMethod.stop.permission == .admin)
  }
}
