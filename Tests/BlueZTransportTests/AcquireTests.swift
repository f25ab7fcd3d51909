import DBusKit
import FakeBlueZ
import Glibc
import Streams
import TestKit
import Testing

@testable import BlueZTransport

extension ThroughBlueZ {
  /// Notifications through sockets, as three generations of BlueZ have them: what the stand-in does must be what the real
  /// one does, or a node that hands out sockets one day would be tested against a fiction.
  @Suite(.serialized) struct AcquireTests {
    /// A program that hands out a socket for its characteristic, and keeps its own ends.
    private final class Server: Sendable {
      let ends = Protected<[Int32]>([])

      var objects: [DBusObject] {
        let service = DBusInterface(
          BlueZNames.gattService,
          properties: { ["UUID": .string("0000aaaa-0000-1000-8000-00805f9b34fb"), "Primary": .boolean(true)] })
        let characteristic = DBusInterface(
          BlueZNames.gattCharacteristic,
          properties: {
            [
              "UUID": .string("0000bbbb-0000-1000-8000-00805f9b34fb"), "Service": .objectPath("/app/service"),
              "Flags": .strings(["notify"]), "NotifyAcquired": .boolean(false),
            ]
          }, methods: ["AcquireNotify": .init("a{sv}", "hq") { [self] _ in open() }])
        return [
          DBusObject("/app", interfaces: [], isManager: true), DBusObject("/app/service", interfaces: [service]),
          DBusObject("/app/service/one", interfaces: [characteristic]),
        ]
      }

      private func open() -> DBusAnswer {
        var pair: [Int32] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &pair) == 0 else {
          return .error(name: "org.bluez.Error.Failed", message: "no socket")
        }
        ends.withLock { $0.append(pair[0]) }
        return .values([.descriptor(DBusDescriptor(owning: pair[1])), .uint16(185)])
      }

      func write(_ index: Int, _ byte: UInt8) {
        var byte = byte
        let end = ends.withLock { $0[index] }
        _ = unsafe send(end, &byte, 1, Int32(MSG_NOSIGNAL))
      }

      /// Whether BlueZ has closed its end.
      func isClosed(_ index: Int) -> Bool {
        var byte: UInt8 = 0
        let end = ends.withLock { $0[index] }
        return unsafe recv(end, &byte, 1, Int32(MSG_DONTWAIT)) == 0
      }

      deinit { for end in ends.withLock({ $0 }) { close(end) } }
    }

    private final class Heard: Sendable { let lines = Protected<[String]>([]) }

    private let time = TimeSource.running()

    /// What each of two subscribers hears of a byte written into each socket, and which sockets are closed when the second
    /// one goes.
    private func observe(_ generation: FakeBlueZ.Generation) async throws -> (
      sockets: Int, heard: [String], closed: [Bool]
    ) {
      let harness = try #require(FakeHarness(adapters: 3, options: ["--generation", generation.rawValue]))
      let server = Server()
      let bus = try await DBusConnection.open(.address(harness.bus.address), time: time)
      for object in server.objects { await bus.export(object) }
      let heard = Heard()
      return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await bus.run() }
        group.addTask { for await _ in bus.events {} }
        func call(_ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = []) async throws {
          _ = try await bus.call(.call(BlueZNames.service, path, interface, member, arguments))
        }
        try await call(
          "/org/bluez/hci0", BlueZNames.gattManager, "RegisterApplication", [.objectPath("/app"), .properties([:])])
        let client = try await DBusConnection.open(.address(harness.bus.address), time: time)
        group.addTask { await client.run() }
        group.addTask {
          for await event in client.events {
            guard case .signal(let signal, _) = event, let path = signal.path,
              let value = signal.argument(1)?.asProperties?["Value"]?.asBytes?.first
            else { continue }
            heard.lines.withLock { $0.append("\(path.split(separator: "/")[2]) hears \(value)") }
          }
        }
        try await client.addMatch("type='signal',sender='\(BlueZNames.service)',interface='\(BlueZNames.properties)'")
        // The subscribers are adapters 1 and 2, connected to the server's.
        for number in [1, 2] {
          harness.control("foreign \(number) 0")
          harness.control("services \(number) 0")
        }
        for number in [1, 2] {
          try await call(
            "/org/bluez/hci\(number)/dev_00_B1_1E_00_00_00/service0010/char0012", BlueZNames.gattCharacteristic,
            "StartNotify")
        }
        let sockets = server.ends.withLock { $0.count }
        for index in 0..<sockets { server.write(index, UInt8(10 + index)) }
        let expected = generation == .exact ? 2 : 2 * sockets
        let isHeard = await harness.until(.seconds(200)) { heard.lines.withLock { $0.count } >= expected }
        #expect(isHeard)
        harness.control("drop 0 2")
        harness.control("inventory")
        let closed = (0..<sockets).map { server.isClosed($0) }
        group.cancelAll()
        return (sockets, heard.lines.withLock { $0.sorted() }, closed)
      }
    }

    @Test func oneSocketIsSharedByAllOfThemAtFirst() async throws {
      let seen = try await observe(.shared)
      #expect(seen.sockets == 1 && seen.heard == ["hci1 hears 10", "hci2 hears 10"] && seen.closed == [false])
    }

    @Test func oneForEachOfThemStillReachesAllAndTheWrongOneIsClosed() async throws {
      let seen = try await observe(.perDevice)
      #expect(seen.sockets == 2)
      #expect(seen.heard == ["hci1 hears 10", "hci1 hears 11", "hci2 hears 10", "hci2 hears 11"])
      #expect(seen.closed == [true, false], "the second device has gone, and the first one's socket is closed")
    }

    @Test func oneForEachOfThemReachesOneInTheEndAndTheWrongOneIsStillClosed() async throws {
      let seen = try await observe(.exact)
      #expect(seen.sockets == 2 && seen.heard == ["hci1 hears 10", "hci2 hears 11"] && seen.closed == [true, false])
    }
  }
}
