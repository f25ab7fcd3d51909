import ControlAPI
import ControlClient
import ControlServer
import Glibc
import Streams
import Telemetry
import Testing

/// A clock on which a sleep lasts until it is cancelled.
struct EndlessClock: Clock {
  struct Instant: InstantProtocol {
    func advanced(by duration: Duration) -> Instant { self }
    func duration(to other: Instant) -> Duration { .zero }
    static func < (left: Instant, right: Instant) -> Bool { false }
  }

  var now: Instant { Instant() }
  var minimumResolution: Duration { .nanoseconds(1) }
  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    guard await Channel<Void>(capacity: 1).next() != nil else { throw CancellationError() }
  }
}

/// A clock on which every deadline has passed.
struct ImpatientClock: Clock {
  var now: EndlessClock.Instant { EndlessClock.Instant() }
  var minimumResolution: Duration { .nanoseconds(1) }
  func sleep(until deadline: EndlessClock.Instant, tolerance: Duration?) async throws {}
}

@Suite(.timeLimit(.minutes(1))) struct ClientTests {
  @Test func callsComeBackWithTheirAnswers() async throws {
    try await RunningServer.with { server in
      let client = try await NodeClient.connect(to: server.path, as: "test", clock: EndlessClock())
      #expect(client.hello.permissions == [.read, .send, .admin])
      #expect(try await client.status().name == "node")
      #expect(try await client.peers().isEmpty)
      #expect(try await client.links().isEmpty)
      #expect(try await client.messages().isEmpty)
      #expect(try await client.send("hello", to: "#public").messageID == "hello")
      #expect(try await client.messageStatus("ab").state == .sent)
      try await client.acknowledge(cursor: 7)
      try await client.stop()
      server.service.pings.offer(())
      #expect(try await client.ping("b").hops == 1)
      await #expect(throws: ControlClientError.refused(ControlError(.notFound, "no such peer"))) {
        try await client.send("x", to: "nobody")
      }
    }
  }

  @Test func manyCallsShareOneConnection() async throws {
    try await RunningServer.with { server in
      let client = try await NodeClient.connect(to: server.path, as: "test", clock: EndlessClock())
      let answers = try await withThrowingTaskGroup(of: (String, String).self) { group in
        for number in 0..<200 {
          group.addTask { ("\(number)", try await client.send("\(number)", to: "a").messageID) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.count == 200 && answers.allSatisfy { $0.0 == $0.1 })
    }
  }

  @Test func eventsArriveAfterTheSnapshot() async throws {
    try await RunningServer.with { server in
      let client = try await NodeClient.connect(to: server.path, as: "test", clock: EndlessClock())
      _ = try await client.subscribe(to: [.message])
      for number in 0..<100 {
        let delivery = DeliveryEvent(messageID: "\(number)", state: .delivered)
        server.service.events.publish(ControlEvent(time: Int64(number), body: .delivery(delivery)))
      }
      var times: [Int64] = []
      for await event in client.events {
        times.append(event.time)
        if times.count == 100 { break }
      }
      #expect(times == Array(0..<100))
    }
  }

  @Test func missingDaemonIsNamed() async {
    let path = RunningServer.socketPath()
    await #expect(throws: ControlClientError.notRunning(path: path)) {
      try await NodeClient.connect(to: path, as: "test", clock: EndlessClock())
    }
    let long = String(repeating: "x", count: 200)
    await #expect(throws: ControlClientError.badPath(path: long)) {
      try await NodeClient.connect(to: long, as: "test", clock: EndlessClock())
    }
  }

  @Test func deadlineEndsACall() async throws {
    try await RunningServer.with { server in
      let client = try await NodeClient.connect(to: server.path, as: "test", clock: EndlessClock())
      let impatient = ImpatientClock()
      await #expect(throws: ControlClientError.timeout) {
        try await NodeClient.connect(to: server.path, as: "test", clock: impatient).ping("b")
      }
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await #expect(throws: ControlClientError.cancelled) { try await client.ping("b") }
        }
        group.cancelAll()
      }
    }
  }

  @Test func lostConnectionEndsCallsAndEvents() async throws {
    let path = RunningServer.socketPath()
    let service = PlainService()
    let server = try ControlSocketServer(
      path: path, service: service, events: service.events, counters: .init("c"), now: { 0 })
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      let client = try await NodeClient.connect(to: path, as: "test", clock: EndlessClock())
      let error = await withTaskGroup(of: ControlClientError?.self) { pings in
        pings.addTask {
          do throws(ControlClientError) {
            _ = try await client.ping("b")
            return nil
          } catch {
            return error
          }
        }
        while let call = await service.calls.next() { if case .ping = call { break } }
        group.cancelAll()
        return await pings.next()
      }
      #expect(error == .connectionLost || error == .refused(ControlError(.timeout, "no answer")))
      for await _ in client.events {}
      await #expect(throws: ControlClientError.connectionLost) { try await client.status() }
    }
  }
}
