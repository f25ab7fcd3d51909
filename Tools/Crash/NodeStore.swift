import Bytes
import Database
import PowerCuts
import Primitives
import Storing
import Streams
import TestKit

/// Milliseconds since 1970, set by hand.
final class Wall: Sendable {
  private let time: Protected<UInt64>
  init(at start: UInt64 = 1_700_000_000_000) { time = Protected(start) }
  var now: UInt64 { time.withLock { $0 } }
  func passDay() { time.withLock { $0 += 86_400_000 } }
}

/// What a store says of itself and holds.
struct Found: Equatable, Sendable {
  var phase: Migration.Phase
  var mismatches: Int
  var values: [String: [UInt8]]
}

/// The store of a node on a disk that can be cut.
enum NodeStore {
  static let sealedName = "/store.db"
  static let plainName = "/plain.db"

  static func open(
    _ disk: CutDisk, _ wall: Wall, mayBegin: Bool, beginsSealed: Bool = false, seed: UInt64,
    isKeyThere: @escaping @Sendable () -> Bool = { true }, isRandomThere: @escaping @Sendable () -> Bool = { true }
  ) throws(StoreError) -> MigratingStore {
    let choices = Protected(SeededGenerator(seed: seed))
    let random = RandomSource { span in
      guard isRandomThere() else { return false }
      for index in 0..<span.byteCount {
        span.storeBytes(
          of: UInt8(truncatingIfNeeded: choices.withLock { $0.next() }), toByteOffset: index, as: UInt8.self)
      }
      return true
    }
    let provider = SealedFileProvider(
      path: disk.directory + sealedName, storeID: Array(1...16), random: random, disk: disk
    ) { () throws(SealedStoreError) in
      guard isKeyThere() else { throw .noKey(reason: "left out") }
      return Secret(copying: [UInt8](repeating: 7, count: 32).rawSpan)
    }
    return try MigratingStore(
      plainPath: disk.directory + plainName, provider: provider, settings: Migration.Settings(days: 1, restarts: 0),
      mayBegin: mayBegin, beginsSealed: beginsSealed, disk: disk, wall: { wall.now })
  }
}

extension MigratingStore {
  /// All of it, and what the names it should not have give.
  func found() throws(StoreError) -> Found {
    let status = try status()
    var values: [String: [UInt8]] = [:]
    let listed = try names()
    for name in Set(listed).union(Journey.names) {
      values[name] = try get(name)
      // A name that is listed and not there, or the other way round, is not what was asked for.
      if listed.contains(name) != (values[name] != nil) {
        values[name] = Array("the list of names says otherwise".utf8)
      }
    }
    return Found(
      phase: status.migration.phase,
      mismatches: status.openMismatches + Int(status.migration.occurrences(of: .mismatch).count), values: values)
  }
}
