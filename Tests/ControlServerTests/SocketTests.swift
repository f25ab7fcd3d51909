import ControlAPI
import ControlClient
import ControlServer
import Glibc
import Lifecycle
import Streams
import Telemetry
import Testing

@Suite(.timeLimit(.minutes(1))) struct SocketTests {
  @Test func helloComesFirst() async throws {
    try await RunningServer.with { server in
      let client = try RawClient(path: server.path)
      await client.send(#"{"jsonrpc":"2.0","id":1,"method":"node.status"}"#)
      guard case .failure(.number(1), let error)? = try await client.notice() else {
        Issue.record("no failure")
        return
      }
      #expect(error.code == .notReady)
      try await client.hello()
      await client.send(#"{"jsonrpc":"2.0","id":2,"method":"node.status"}"#)
      #expect(try await client.notice() == .answer(id: .number(2)))
    }
  }

  @Test func requestsOfOneWriteAreAnsweredInOrder() async throws {
    try await RunningServer.with { server in
      let client = try RawClient(path: server.path)
      try await client.hello()
      var bytes: [UInt8] = []
      for number in 1...500 {
        let call = ControlCall.sendMessage(SendParameters(to: "a", text: "\(number)"))
        bytes += try ControlRequest(id: .number(Int64(number)), call: call).encode()
      }
      await client.send(bytes)
      for number in 1...500 { #expect(try await client.notice() == .answer(id: .number(Int64(number)))) }
    }
  }

  @Test func clientThatInsistsOnNonsenseIsDropped() async throws {
    try await RunningServer.with { server in
      let client = try RawClient(path: server.path)
      for _ in 0...ControlServerLimits.badLines { await client.send("nonsense") }
      var answers = 0
      for line in await client.lines() {
        #expect(try ControlNotice.decode(line) == .failure(id: nil, ControlError(.parse, "the line is no JSON")))
        answers += 1
      }
      #expect(answers > 0 && answers <= ControlServerLimits.badLines + 1)
      #expect(server.counters[.droppedBadInput] == 1)
      // The others are served as before.
      try await RawClient(path: server.path).hello()
    }
  }

  @Test func endlessLineIsDropped() async throws {
    try await RunningServer.with { server in
      let client = try RawClient(path: server.path)
      await client.send([UInt8](repeating: 0x20, count: ControlAPILimits.bytesOfRequest + 1))
      guard case .failure(nil, let error)? = try await client.notice() else {
        Issue.record("no failure")
        return
      }
      #expect(error.code == .tooLong)
      #expect(await client.line() == nil)
      #expect(server.counters[.droppedLongLine] == 1)
    }
  }

  @Test func nothingIsLostBetweenSnapshotAndFirstEvent() async throws {
    let service = PlainService { events in
      events.publish(ControlEvent(time: 1, body: .delivery(DeliveryEvent(messageID: "aa", state: .sent))))
      events.publish(ControlEvent(time: 1, body: .lagged(LaggedEvent(count: 0))))
    }
    try await RunningServer.with(service) { server in
      let client = try RawClient(path: server.path)
      try await client.hello()
      #expect(!service.events.isWanted(.delivery))
      await client.send(#"{"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":{"kinds":["message"]}}"#)
      #expect(try await client.notice() == .answer(id: .number(1)))
      guard case .event(let event)? = try await client.notice() else {
        Issue.record("no event")
        return
      }
      #expect(event.kind == .delivery)
      #expect(service.events.isWanted(.message) && !service.events.isWanted(.reception))
    }
  }

  @Test func slowSubscriberIsToldWhatItMissed() async throws {
    try await RunningServer.with { server in
      let client = try RawClient(path: server.path)
      try await client.hello()
      await client.send(#"{"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":{"kinds":["all"]}}"#)
      #expect(try await client.notice() == .answer(id: .number(1)))
      let total = 20_000
      for number in 0..<total {
        let delivery = DeliveryEvent(messageID: "\(number)", state: .sent)
        server.service.events.publish(ControlEvent(time: Int64(number), body: .delivery(delivery)))
      }
      var seen = 0
      var missed = 0
      var last: Int64 = -1
      while seen + missed < total {
        guard case .event(let event)? = try await client.notice() else { break }
        if case .lagged(let lagged) = event.body {
          missed += Int(lagged.count)
        } else {
          #expect(event.time > last)
          last = event.time
          seen += 1
          if event.time == Int64(total - 1) { break }
        }
        // A missed tail is told with the next event.
        server.service.events.publish(
          ControlEvent(time: Int64(total + 1), body: .peer(.init(change: .silent, peer: peer))))
      }
      #expect(missed > 0 && seen > 0)
    }
  }

  private var peer: PeerRecord {
    PeerRecord(
      id: "00", name: "a", icon: "", fingerprintHex: "", isNeighbour: false, hops: nil, lastHeardSecondsAgo: 0,
      state: .silent, isBot: false, cardSequence: 0)
  }

  @Test func clientsAreBounded() async throws {
    try await RunningServer.with { server in
      var clients: [RawClient] = []
      for _ in 0..<ControlServerLimits.clients {
        let client = try RawClient(path: server.path)
        try await client.hello()
        clients.append(client)
      }
      let extra = try RawClient(path: server.path)
      guard case .failure(nil, let error)? = try await extra.notice() else {
        Issue.record("hung up on without a word")
        return
      }
      #expect(error.code == .notReady && error.data?.limit == ControlServerLimits.clients)
      #expect(await extra.line() == nil)
      #expect(server.counters[.refusedFull] == 1)
      await #expect(throws: ControlClientError.refused(error)) {
        _ = try await NodeClient.connect(to: server.path, as: "test", clock: EndlessClock())
      }
      clients.removeAll()
    }
  }

  @Test func pingsRunSideBySideAndAreBounded() async throws {
    try await RunningServer.with { server in
      let client = try RawClient(path: server.path)
      try await client.hello()
      for number in 1...(ControlServerLimits.longRequests + 1) {
        await client.send(
          #"{"jsonrpc":"2.0","id":\#(number),"method":"node.ping","params":{"peer":"b","timeoutMilliseconds":9}}"#)
      }
      await client.send(#"{"jsonrpc":"2.0","id":100,"method":"node.status"}"#)
      guard case .failure(.number(9), let error)? = try await client.notice() else {
        Issue.record("no failure")
        return
      }
      #expect(error.code == .notReady)
      #expect(try await client.notice() == .answer(id: .number(100)))
    }
  }

  @Test func staleSocketIsReplacedAndALiveOneIsNot() async throws {
    let path = RunningServer.socketPath()
    let service = PlainService()
    func make(_ path: String) throws -> ControlSocketServer {
      try ControlSocketServer(
        path: path, service: service, events: service.events, counters: CounterSet<ControlCounter>("c"), now: { 0 })
    }
    // A socket that was bound and whose process has died.
    let dead = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let address = try UnixSocketAddress(path: path)
    #expect(unsafe address.withPointer { unsafe bind(dead, $0, $1) } == 0)
    close(dead)
    let server = try make(path)
    var facts = stat()
    #expect(unsafe stat(path, &facts) == 0 && facts.st_mode & 0o777 == 0o600)
    #expect(throws: ControlSocketError.inUse(path: path)) { _ = try make(path) }
    let running: any Service = server
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await running.run() }
      group.cancelAll()
    }
    #expect(unsafe access(path, F_OK) != 0)
    #expect(throws: ControlSocketError.notASocket(path: "/etc/passwd")) { _ = try make("/etc/passwd") }
    let long = "/tmp/" + String(repeating: "x", count: 200)
    #expect(throws: ControlSocketError.path(.pathTooLong(bytes: 205))) { _ = try make(long) }
  }

  @Test func groupOpensTheSocketToItsMembers() throws {
    let path = RunningServer.socketPath()
    let service = PlainService()
    let counters = CounterSet<ControlCounter>("c")
    #expect(throws: ControlSocketError.unknownGroup("no-such-group-here")) {
      _ = try ControlSocketServer(
        path: path, group: "no-such-group-here", service: service, events: service.events, counters: counters,
        now: { 0 })
    }
    guard geteuid() == 0 else { return }
    _ = try ControlSocketServer(
      path: path, group: "daemon", service: service, events: service.events, counters: counters, now: { 0 })
    var facts = stat()
    #expect(unsafe stat(path, &facts) == 0 && facts.st_mode & 0o777 == 0o660 && facts.st_gid != 0)
    unsafe unlink(path)
  }
}

@Suite(.timeLimit(.minutes(1))) struct HalfCloseTests {
  /// `printf … | nc -N` ends its sentence before it has heard the answer.
  @Test func clientThatAsksNothingMoreStillGetsItsAnswers() async throws {
    try await RunningServer.with { server in
      let client = try RawClient(path: server.path)
      await client.send(
        #"{"jsonrpc":"2.0","id":1,"method":"node.hello","params":{"apiVersion":1,"client":"nc"}}"#)
      await client.send(#"{"jsonrpc":"2.0","id":2,"method":"node.status"}"#)
      await client.finishWriting()
      #expect(try await client.notice() == .answer(id: .number(1)))
      #expect(try await client.notice() == .answer(id: .number(2)))
    }
  }
}
