import FakeBlueZ
import Streams
import TestKit
import Testing

@testable import DBusKit

/// Against a real `dbus-daemon`.
@Suite(.timeLimit(.minutes(1))) struct ConnectionTests {
  private let bus: PrivateBus

  init() throws { bus = try #require(PrivateBus(), "dbus-daemon is needed") }

  /// Two connections that run while `body` does.
  private func withConnections(
    time: TimeSource = ManualTime().source,
    _ body: @escaping @Sendable (_ client: DBusConnection, _ service: DBusConnection) async throws -> Void
  ) async throws {
    let client = try await DBusConnection.open(.address(bus.address), time: time)
    let service = try await DBusConnection.open(.address(bus.address), time: time)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await client.run() }
      group.addTask { await service.run() }
      try await body(client, service)
      group.cancelAll()
    }
  }

  private static let echo = DBusObject(
    "/echo",
    interfaces: [
      DBusInterface(
        "test.Echo", properties: { ["Size": .uint32(7), "Name": .string("echo")] },
        methods: [
          "Bytes": .init("ay", "ay") { .values($0.arguments) },
          "Never": .init("", "") { _ in .error(name: "test.Refused", message: "it was refused") },
          "Written": .init("aya{sv}", "", isForwarded: true),
        ])
    ])

  static let values: [DBusValue] = [
    .byte(255), .boolean(true), .int16(-2), .uint16(65_535), .int32(-3), .uint32(.max), .int64(.min), .uint64(.max),
    .double(1.5), .string("ünïcödé"), .objectPath("/a/b_1"), .signature("a{sv}"), .bytes([]), .bytes([1, 0, 255]),
    .array(element: "s", []), .strings(["a", ""]), .properties(["k": .uint16(3), "l": .bytes([9])]),
    .dictionary(key: "o", value: "a{sa{sv}}", [DBusEntry(.objectPath("/"), .dictionary(key: "s", value: "a{sv}", []))]),
    .structure([.byte(1), .structure([.string("x")])]), .variant(.variant(.array(element: "(yb)", []))),
  ]

  @Test func everyTypeComesBackAsItWas() async throws {
    try await withConnections { client, service in
      let types = Self.values.map(\.typeSignature).joined()
      await service.export(
        DBusObject(
          "/", interfaces: [DBusInterface("test.All", methods: ["All": .init(types, types) { .values($0.arguments) }])])
      )
      let reply = try await client.call(.call(service.uniqueName, "/", "test.All", "All", Self.values))
      #expect(reply.arguments == Self.values)
    }
  }

  @Test func everyCallIsAnswered() async throws {
    try await withConnections { client, service in
      await service.export(Self.echo)
      func error(_ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = []) async -> String?
      {
        do throws(DBusError) {
          _ = try await client.call(.call(service.uniqueName, path, interface, member, arguments))
          return nil
        } catch {
          if case .remote(let name, _) = error { return name }
          return "\(error)"
        }
      }
      #expect(await error("/echo", "test.Echo", "Never") == "test.Refused")
      #expect(await error("/nowhere", "test.Echo", "Bytes", [.bytes([])]) == DBusErrorName.unknownObject)
      #expect(await error("/echo", "test.Other", "Bytes", [.bytes([])]) == DBusErrorName.unknownInterface)
      #expect(await error("/echo", "test.Echo", "Nothing") == DBusErrorName.unknownMethod)
      #expect(await error("/echo", "test.Echo", "Bytes", [.string("")]) == DBusErrorName.invalidArguments)
      #expect(await error("/any", "org.freedesktop.DBus.Peer", "Ping") == nil)
      #expect(await error("/any", "org.freedesktop.DBus.Peer", "GetMachineId") == nil)
      let properties = "org.freedesktop.DBus.Properties"
      #expect(
        await error("/echo", properties, "Set", [.string("test.Echo"), .string("Size"), .variant(.uint32(1))])
          == DBusErrorName.readOnly)
      #expect(
        await error("/echo", properties, "Get", [.string("test.Echo"), .string("No")]) == DBusErrorName.unknownProperty)
      let all = try await client.call(
        .call(service.uniqueName, "/echo", properties, "GetAll", [.string("test.Echo")]))
      #expect(all.arguments.first?.asProperties == ["Size": .uint32(7), "Name": .string("echo")])
    }
  }

  @Test func manyCallsShareTheConnectionAndNoneIsLost() async throws {
    try await withConnections { client, service in
      await service.export(Self.echo)
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<500 {
          group.addTask {
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 400)
            let reply = try await client.call(.call(service.uniqueName, "/echo", "test.Echo", "Bytes", [.bytes(bytes)]))
            return reply.arguments == [.bytes(bytes)]
          }
        }
        for try await isSame in group { #expect(isSame) }
      }
      let load = await client.load
      #expect(load.outstanding == 0 && load.waiting == 0)
    }
  }

  @Test func callsWithoutAnswerEndByTheClock() async throws {
    let time = ManualTime()
    try await withConnections(time: time.source) { client, _ in
      // Nobody pumps this one, so it never answers.
      let deaf = try await DBusConnection.open(.address(bus.address), time: time.source)
      await withTaskGroup(of: DBusError?.self) { group in
        group.addTask {
          do throws(DBusError) {
            _ = try await client.call(.call(deaf.uniqueName, "/", "a.b", "C"), timeout: .seconds(5))
            return nil
          } catch { return error }
        }
        while await client.load.outstanding == 0 { await Task.yield() }
        while time.nextDeadline == nil { await Task.yield() }
        time.advance(by: .seconds(5))
        #expect(await group.next() == .timedOut)
      }
      #expect(await client.load.outstanding == 0)
    }
  }

  @Test func cancelledCallEndsAtOnce() async throws {
    try await withConnections { client, _ in
      let deaf = try await DBusConnection.open(.address(bus.address), time: ManualTime().source)
      await withTaskGroup(of: DBusError?.self) { group in
        group.addTask {
          do throws(DBusError) {
            _ = try await client.call(.call(deaf.uniqueName, "/", "a.b", "C"))
            return nil
          } catch { return error }
        }
        while await client.load.outstanding == 0 { await Task.yield() }
        group.cancelAll()
        #expect(await group.next() == .cancelled)
      }
    }
  }

  @Test func signalsAndForwardedCallsComeInTheOrderOfTheWire() async throws {
    try await withConnections { client, service in
      await service.export(Self.echo)
      try await service.addMatch("type='signal',interface='test.Signals'")
      for number in 0..<100 as Range<UInt32> {
        try await client.send(.signal("/s", "test.Signals", "Number", [.uint32(number)]))
        try await client.send(
          .call(service.uniqueName, "/echo", "test.Echo", "Written", [.bytes([UInt8(number)]), .properties([:])]))
      }
      var numbers: [UInt32] = []
      for await event in service.events {
        switch event {
        case .signal(let message, _) where message.interface == "test.Signals":
          if case .uint32(let number) = message.argument(0) { numbers.append(number) }
        case .call(let message, _): numbers.append(UInt32(message.argument(0)?.asBytes?.first ?? 0))
        default: break
        }
        if numbers.count == 200 { break }
      }
      #expect(numbers == (0..<100).flatMap { [$0, $0] })
    }
  }

  @Test func whatNobodyReadsIsCountedAndTold() async throws {
    try await withConnections { client, service in
      try await service.addMatch("type='signal',interface='test.Signals'")
      let count = DBusKitLimits.waitingSignals + 500
      for number in 0..<count {
        try await client.send(.signal("/s", "test.Signals", "Number", [.uint32(UInt32(number))]))
      }
      // An answered call says that everything before it was read.
      _ = try await client.call(.call(service.uniqueName, "/", "org.freedesktop.DBus.Peer", "Ping"))
      var (seen, missed) = (0, 0)
      func take(_ event: DBusEvent) {
        switch event {
        case .signal(let message, _) where message.interface == "test.Signals": seen += 1
        case .missed(let number): missed += number
        default: break
        }
      }
      while let event = service.events.poll() { take(event) }
      try await client.send(.signal("/s", "test.Signals", "Last"))
      while seen + missed < count + 1, let event = await service.events.next() { take(event) }
      #expect(seen + missed == count + 1 && missed > 400, "\(seen) seen, \(missed) missed")
    }
  }

  @Test func busThatGoesEndsEverything() async throws {
    let connection = try await DBusConnection.open(.address(bus.address), time: ManualTime().source)
    let deaf = try await DBusConnection.open(.address(bus.address), time: ManualTime().source)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await connection.run() }
      group.addTask {
        await #expect(throws: DBusError.disconnected) {
          _ = try await connection.call(.call(deaf.uniqueName, "/", "a.b", "C"))
        }
      }
      while await connection.load.outstanding == 0 { await Task.yield() }
      bus.kill()
      await group.waitForAll()
    }
    await #expect(throws: DBusError.disconnected) { _ = try await connection.call(.call("a.b", "/", "a.b", "C")) }
    await #expect(throws: DBusError.self) {
      _ = try await DBusConnection.open(.address(bus.address), time: ManualTime().source)
    }
  }

  @Test func whatTheProtocolForbidsIsRefusedHere() async throws {
    try await withConnections { client, _ in
      let wrong: [DBusMessage] = [
        .call("a.b", "no/slash", "a.b", "C"), .call("a.b", "/", "nodot", "C"), .call("a.b", "/", "a.b", "not-a-member"),
        .call("..", "/", "a.b", "C"), .call("a.b", "/", "a.b", "C", [.string("zero\0byte")]),
        .call("a.b", "/", "a.b", "C", [.objectPath("relative")]), .call("a.b", "/", "a.b", "C", [.structure([])]),
        .call("a.b", "/", "a.b", "C", [.array(element: "s", [.byte(1)])]),
        .call("a.b", "/", "a.b", "C", [.array(element: "nonsense!", [])]),
        .call("a.b", "/", "a.b", "C", [.signature("(")]),
        .call("a.b", "/", "a.b", "C", [(0..<70).reduce(DBusValue.byte(1)) { inner, _ in .variant(inner) }]),
      ]
      for message in wrong {
        do throws(DBusError) {
          _ = try await client.call(message)
          Issue.record("\(message) was sent")
        } catch {
          guard case .malformed = error else {
            Issue.record("\(message): \(error)")
            continue
          }
        }
      }
      // The connection is as good as before.
      let pong = try await client.call(.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.Peer", "Ping"))
      #expect(pong.arguments == [])
    }
  }
}
