import PowerCuts
import Storing

/// What one call did to the disk, and what has to be there before and after it.
struct Call: Sendable {
  var number: Int
  var word: String
  /// Whether nothing was there before the process that made it, so that the store may begin.
  var mayBegin: Bool
  var beginsSealed: Bool
  var phase: Migration.Phase
  var phaseAfter: Migration.Phase
  var before: [String: [UInt8]]
  var after: [String: [UInt8]]
  /// Of the operations of the segment.
  var operations: Range<Int>
}

/// The life of one process: the disk as it found it, and all that it did to it.
struct Segment: Sendable {
  var disk: DiskState
  var operations: [DiskOperation] = []
  var calls: [Call] = []
}

/// A journey that was made once, on a disk that keeps its word.
struct Recording {
  struct Failed: Error, CustomStringConvertible {
    var description: String
  }

  private(set) var segments: [Segment] = []
  let wall = Wall()
  private var disk: CutDisk
  private var store: MigratingStore?
  private var phase = Migration.Phase.plain
  private var values: [String: [UInt8]] = [:]
  private var mayBegin = true
  private let seed: UInt64
  private let beginsSealed: Bool
  private let withoutSync: (@Sendable (String) -> Bool)?

  init(
    _ journey: Journey, seed: UInt64, withoutSync: (@Sendable (String) -> Bool)? = nil
  ) async throws {
    self.seed = seed
    beginsSealed = journey.beginsSealed
    self.withoutSync = withoutSync
    disk = CutDisk(withoutSync: withoutSync)
    segments = [Segment(disk: DiskState())]
    for (number, step) in journey.steps.enumerated() { try await make(step, number) }
    try await end()
    guard phase == .sealed else { throw Failed(description: "the journey ended in \(phase)") }
  }

  private mutating func make(_ step: Step, _ number: Int) async throws {
    let start = disk.operationCount
    var call = Call(
      number: number, word: step.word, mayBegin: mayBegin, beginsSealed: beginsSealed, phase: phase, phaseAfter: phase,
      before: values,
      after: values, operations: 0..<0)
    do {
      try await perform(step)
    } catch { throw Failed(description: "call \(number), \(step.word), in \(phase): \(error)") }
    if case .die = step { return }
    if case .dieInCopyAll = step { return }
    if let store { phase = try await store.status().migration.phase }
    (call.after, call.phaseAfter) = (values, phase)
    call.operations = start..<disk.operationCount
    segments[segments.count - 1].calls.append(call)
    mayBegin = false
  }

  private mutating func perform(_ step: Step) async throws {
    switch step {
    case .open:
      store = try NodeStore.open(
        disk, wall, mayBegin: mayBegin, beginsSealed: beginsSealed, seed: seed &+ UInt64(segments.count))
      if let store {
        let found = try await store.found()
        guard found.values == values else { throw Failed(description: "found \(found.values), not \(values)") }
      }
    case .close:
      store = nil
      while disk.openFileCount > 0 { await Task.yield() }
    case .die(let leftover): try await die(leftover)
    case .put(let new, let isErasing):
      try await store?.put(new.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, isErasing: isErasing)
      values.merge(new) { $1 }
    case .remove(let names):
      try await store?.remove(names)
      for name in names { values[name] = nil }
    case .get(let name):
      let value = try await store?.get(name)
      guard value == values[name] else { throw Failed(description: "\(name) is wrong") }
    case .nextDay: wall.passDay()
    case .advance: try await store?.advance()
    case .migrate: _ = try await store?.migrate(isImpatient: false) { _ in }
    case .verify: _ = try await store?.verify { _ in }
    case .rollback: try await store?.rollback()
    case .dieInCopyAll: try await dieInCopyAll()
    }
  }

  private mutating func die(_ leftover: Leftover) async throws {
    disk.cut()
    let left = disk.snapshot.afterCut(leftover)
    try await end()
    begin(left)
  }

  private mutating func begin(_ state: DiskState) {
    disk = CutDisk(state, withoutSync: withoutSync)
    segments.append(Segment(disk: state))
  }

  private mutating func end() async throws {
    segments[segments.count - 1].operations = disk.operations
    store = nil
  }

  private mutating func dieInCopyAll() async throws {
    disk.cut()
    let state = disk.snapshot.afterCut(.everything)
    try await end()
    for count in 1..<400 {
      let trial = CutDisk(state)
      let one = try NodeStore.open(trial, wall, mayBegin: false, seed: seed)
      trial.cut(at: trial.operationCount + count)
      _ = try? await one.advance()
      trial.cut()
      let left = trial.snapshot.afterCut(.everything)
      let again = CutDisk(left)
      let found = try await NodeStore.open(again, wall, mayBegin: false, seed: seed).found()
      again.cut()
      guard found.phase == .copyAll else { continue }
      phase = .copyAll
      return begin(left)
    }
    throw Failed(description: "no point in copyAll")
  }
}
