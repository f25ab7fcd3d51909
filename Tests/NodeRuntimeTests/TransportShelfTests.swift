import Foundation
import Storing
import Telemetry
import TestKit
import Testing
import Transports

@testable import NodeRuntime

/// What transports keep, in a store that is opened anew.
struct TransportShelfTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("relaychat-\(UUID())").path
  private var path: String { folder + "/plain.db" }

  init() throws {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  private func shelf(_ scheme: String) throws -> TransportMemory {
    TransportShelf(
      scheme: scheme, store: try PlainStore(path: path), log: Log(label: "test", threshold: .error, sink: NoSink())
    ).memory
  }

  private struct NoSink: LogSink {
    func write(_ record: LogRecord) {}
  }

  @Test func whatIsKeptOutlivesTheDaemon() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    await (try shelf("bluez")).keep("ceiling/00:11", [1, 7])
    let later = try shelf("bluez")
    #expect(await later.recall("ceiling/00:11") == [1, 7])
    await later.keep("ceiling/00:11", [1, 6])
    #expect(await later.recall("ceiling/00:11") == [1, 6])
    #expect(await later.recall("ceiling/00:22") == nil)
    #expect(await (try shelf("local")).recall("ceiling/00:11") == nil)
  }

  @Test func keysAndValuesAreBounded() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let shelf = try shelf("bluez")
    await shelf.keep(String(repeating: "k", count: TransportsLimits.bytesOfKey + 1), [1])
    await shelf.keep("long", Array(repeating: 1, count: TransportsLimits.bytesOfMemory + 1))
    #expect(await shelf.recall("long") == nil)
    for number in 0...TransportsLimits.keys { await shelf.keep("\(number)", [1]) }
    #expect(await shelf.recall("\(TransportsLimits.keys - 1)") == [1])
    #expect(await shelf.recall("\(TransportsLimits.keys)") == nil)
    await shelf.keep("0", [2])
    #expect(await shelf.recall("0") == [2])
  }
}
