import Streams
import Testing

@testable import Storing

/// A process that dies between any two things that are done to the two files, on the whole way and with all that is
/// asked of a store on it.
@Suite struct StoreCutTests {
  @Test func threat17_dyingAtAnyPointOfTheWayIntoTheSealedStoreLosesNothing() throws {
    let directory = TemporaryDirectory()
    let (wall, faults) = (Wall(), Faults())
    do { try PlainFile(path: directory.plain).put([("a", [1]), ("b", [2]), ("c", [3])], isErasing: false) }
    let cuts = Cuts(directory, wall, ["a": [1], "b": [2], "c": [3]])
    faults.watch = { cuts.check() }
    let engine = try makeEngine(directory, wall, faults)
    func put(_ values: [String: [UInt8]]) throws {
      try cuts.expecting(values.mapValues { $0 }) {
        try engine.put(values.map { ($0.key, $0.value) }, isErasing: true)
      }
    }
    func remove(_ name: String) throws { try cuts.expecting([name: nil]) { try engine.remove([name]) } }

    _ = try engine.advance(isImpatient: false) { _ in }
    for phase in [Migration.Phase.doubleWrite, .verify, .copyAll] {
      try engine.reach(phase)
      let number = UInt8(10 * phase.rawValue)
      _ = try engine.get("a")
      try put(["a": [number], "d": [number, 1]])
      try put(["a": [number, 2]])
      _ = try engine.get("b")
      try remove("d")
      try put(["d": [number, 3], "e": [number]])
      faults.now = [.write]
      try put(["a": [number, 4], "f": [number]])
      try remove("e")
      faults.now = [.lateWrite]
      try put(["e": [number, 5]])
      faults.now = []
      _ = try engine.get("a")
      if phase == .doubleWrite { try engine.rollBack() }
      engine.migration.release()
      _ = try engine.advance(isImpatient: phase == .copyAll) { _ in }
      cuts.check()
    }
    #expect(engine.migration.phase == .sealed)
    try put(["a": [99], "g": [1]])
    try remove("c")
    cuts.check()
    #expect(cuts.count > 150)
    print("\(cuts.count) cut points")
    faults.watch = nil
  }
}

/// What has to be in what a process leaves that dies now.
private final class Cuts: Sendable {
  private struct State: Sendable {
    /// Acknowledged.
    var sure: [String: [UInt8]]
    /// Asked for, and not acknowledged yet.
    var open: [String: [UInt8]?] = [:]
    var count = 0
  }

  private let directory: TemporaryDirectory
  private let wall: Wall
  private let state: Protected<State>

  init(_ directory: TemporaryDirectory, _ wall: Wall, _ values: [String: [UInt8]]) {
    self.directory = directory
    self.wall = wall
    state = Protected(State(sure: values))
  }

  var count: Int { state.withLock { $0.count } }

  func expecting(_ changes: [String: [UInt8]?], _ body: () throws -> Void) throws {
    state.withLock { $0.open = changes }
    try body()
    state.withLock { state in
      for (name, value) in changes { state.sure[name] = value }
      state.open = [:]
    }
    check()
  }

  func check() {
    let state = state.withLock { state in
      state.count += 1
      return state
    }
    do {
      let died = directory.crashed()
      let engine = try makeEngine(died, wall)
      let found = try read(engine, state)
      // And the whole way from there.
      engine.migration.release()
      _ = try engine.advance(isImpatient: true) { _ in }
      let later = try read(engine, state)
      #expect(later == found && engine.migration.phase == .sealed, "cut \(state.count)")
    } catch { Issue.record("cut \(state.count): \(error)") }
  }

  /// Old or new, all together, and nothing else.
  private func read(_ engine: MigrationEngine, _ state: State) throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for name in ["a", "b", "c", "d", "e", "f", "g"] { found[name] = try engine.get(name) }
    let new = state.sure.merging(state.open.compactMapValues { $0 }) { $1 }
      .filter { name, _ in state.open[name].map { $0 != nil } ?? true }
    #expect(found == state.sure || found == new, "cut \(state.count)")
    #expect(try engine.names() == found.keys.sorted(), "cut \(state.count)")
    return found
  }
}
