import Glibc
import PowerCuts
import Storing
import Streams
import TestKit

/// What many random operations found.
struct ModelTally: Sendable {
  var operations = 0
  /// Clean ends of the process, and ends at which what was not synced is forgotten or torn.
  var reopened = 0
  var crashes = 0
  /// Calls that failed for a fault, or for the end in their midst.
  var errors = 0
  var differences = 0
  var examples: [String] = []
  var operationsOfPhase: [Migration.Phase: Int] = [:]
  var crashesOfPhase: [Migration.Phase: Int] = [:]

  mutating func add(_ other: ModelTally) {
    operations += other.operations
    reopened += other.reopened
    crashes += other.crashes
    errors += other.errors
    differences += other.differences
    examples = Array((examples + other.examples).prefix(10))
    operationsOfPhase.merge(other.operationsOfPhase, uniquingKeysWith: +)
    crashesOfPhase.merge(other.crashesOfPhase, uniquingKeysWith: +)
  }

  /// The line that a program reads.
  var line: String {
    "\(operations) operations, \(reopened) reopened, \(crashes) crashes, \(differences) differences"
  }

  var phases: String {
    Migration.Phase.allCases.map {
      "\($0): \(operationsOfPhase[$0, default: 0]) operations, \(crashesOfPhase[$0, default: 0]) crashes"
    }.joined(separator: "; ")
  }

  /// Whether every phase was lived and died in.
  var isComplete: Bool {
    Migration.Phase.allCases.allSatisfy { operationsOfPhase[$0] != nil && crashesOfPhase[$0] != nil }
  }
}

/// Random operations on a store and on a dictionary, which have to hold the same. The same for the same seed.
///
/// Calls fail and the power goes in the midst of them. What a call that failed should have written is old or new, of all
/// its names alike, until the power was cut: then the disk holds one of both for good.
final class ModelRun {
  private struct Difference: Error, CustomStringConvertible {
    var description: String
  }

  /// What a call that failed would have changed.
  private typealias Change = (old: [UInt8]?, new: [UInt8]?)

  /// What of the sealed path is missing, besides what its disk does.
  private final class Missing: Sendable {
    let key = Protected(false)
    let random = Protected(false)
  }

  private static let names = (0..<24).map { "n\($0)" }

  private let seed: UInt64
  private var choices: SeededGenerator
  private var wall = Wall()
  private let missing = Missing()
  private var disk: CutDisk
  private let withoutSync: (@Sendable (String) -> Bool)?
  private var store: MigratingStore?
  private var phase = Migration.Phase.plain
  private var values: [String: [UInt8]] = [:]
  private var may = Expected([:])
  private var undecided: [String: Change] = [:]
  private var isFaulty = false
  /// The store has to be opened again before it says anything.
  private var isUndecided = false
  private var tally = ModelTally()

  /// - Parameter withoutSync: syncs that the disk says are done and are not; shows that the model sees anything.
  init(seed: UInt64, withoutSync: (@Sendable (String) -> Bool)? = nil) {
    self.seed = seed
    self.withoutSync = withoutSync
    disk = CutDisk(withoutSync: withoutSync)
    choices = SeededGenerator(seed: seed)
  }

  /// - Parameter progress: is called for each thousand operations.
  func run(_ operations: Int, progress: @Sendable (Int) -> Void) async -> ModelTally {
    do {
      try await begin()
      while tally.operations < operations {
        try await step()
        if isUndecided { try await reopen() }
        tally.operations += 1
        tally.operationsOfPhase[phase, default: 0] += 1
        if tally.operations.isMultiple(of: 1_000) { progress(1_000) }
      }
      try await die(in: nil)
    } catch {
      tally.differences += 1
      tally.examples.append("seed \(seed), operation \(tally.operations), \(phase): \(error)")
    }
    return tally
  }

  private func pick(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &choices) }
  private func name() -> String { Self.names[pick(Self.names.count)] }

  private func value() -> [UInt8] {
    let count = pick(200) == 0 ? 5_000 : pick(60)
    return [UInt8](repeating: UInt8(pick(256)), count: count)
  }

  private func step() async throws {
    switch pick(1_000) {
    case 0..<400: try await read()
    case 400..<700: try await change(put())
    case 700..<800: try await change(removal())
    case 800..<860: breakSomething()
    case 860..<900: mend()
    case 900..<920: try await reopen()
    case 920..<940: try await die(in: nil)
    case 940..<960: try await die(in: pick(2) == 0 ? put() : removal())
    case 960..<975: try await move { try await $0?.advance() }
    case 975..<980: try await move { _ = try await $0?.migrate(isImpatient: true) { _ in } }
    case 980..<986: try await move { _ = try await $0?.verify { _ in } }
    case 986..<990: try await move { try await $0?.rollback() }
    default:
      mend()
      wall.passDay()
      try await move { _ = try await $0?.migrate(isImpatient: false) { _ in } }
    }
  }

  // MARK: - Calls

  private func put() -> [String: [UInt8]?] {
    var changes: [String: [UInt8]?] = [:]
    for _ in 0...pick(3) { changes[name()] = value() }
    return changes
  }

  private func removal() -> [String: [UInt8]?] {
    var changes: [String: [UInt8]?] = [:]
    for _ in 0...pick(2) { changes.updateValue(nil, forKey: name()) }
    return changes
  }

  private func read() async throws {
    let name = name()
    let found: [UInt8]??
    do { found = .some(try await store?.get(name)) } catch {
      try failed(error)
      found = nil
    }
    if let found { try may.check(name, found) }
  }

  private func change(_ changes: [String: [UInt8]?]) async throws {
    let isOne = isAlone(changes)
    for (name, value) in changes { may.allow(name, value) }
    do { try await make(changes) } catch {
      undecided = [:]
      if isOne { for (name, value) in changes { undecided[name] = (values[name], value) } }
      return try failed(error)
    }
    for (name, value) in changes {
      may.settle(name, value)
      values[name] = value
    }
    if changes.keys.contains(where: { undecided[$0] != nil }) { undecided = [:] }
  }

  /// Whether all that would be open after a failure of this is old or new together; of more than one failure only each
  /// name by itself is told.
  private func isAlone(_ changes: [String: [UInt8]?]) -> Bool {
    undecided.isEmpty && changes.keys.allSatisfy { may.isSettled($0) }
  }

  private func make(_ changes: [String: [UInt8]?]) async throws {
    let puts = changes.compactMap { name, value in value.map { (name: name, value: $0) } }.sorted { $0.name < $1.name }
    if puts.isEmpty {
      try await store?.remove(changes.keys.sorted())
    } else {
      try await store?.put(puts, isErasing: pick(20) == 0)
    }
  }

  /// A step of the migration, which may be refused.
  private func move(_ body: (MigratingStore?) async throws -> Void) async throws {
    do { try await body(store) } catch {
      if case StoreError.migration(let refusal) = error, refusal != .undecided {
        // Held up, or too late to go back.
      } else {
        try failed(error)
      }
    }
    try await look()
  }

  /// No call may fail on a disk that works.
  private func failed(_ error: any Error) throws {
    guard isFaulty else { throw error }
    tally.errors += 1
    if case StoreError.migration(.undecided) = error { isUndecided = true }
  }

  private func look() async throws {
    guard let status = try? await store?.status() else { return }
    phase = status.migration.phase
    if phase == .sealed, !isFaulty, pick(4) == 0 { try await beginAgain() }
  }

  // MARK: - Faults

  private func breakSomething() {
    isFaulty = true
    switch pick(6) {
    case 0: missing.key.withLock { $0 = true }
    case 1: missing.random.withLock { $0 = true }
    case let other:
      let fault = CutDisk.Fault.allCases[other % CutDisk.Fault.allCases.count]
      disk.inject(fault, atCall: disk.callCount + pick(40))
    }
  }

  private func mend() {
    disk.heal()
    missing.key.withLock { $0 = false }
    missing.random.withLock { $0 = false }
    // A store that could not be opened stays closed until it is asked for, so errors may go on; never once all is new.
  }

  // MARK: - Processes

  private func begin() async throws {
    store = try open(mayBegin: true)
    for (name, value) in values.sorted(by: { $0.key < $1.key }) { try await store?.put([(name, value)]) }
    may = Expected(values)
    phase = .plain
  }

  private func open(mayBegin: Bool = false) throws -> MigratingStore {
    let missing = missing
    return try NodeStore.open(
      disk, wall, mayBegin: mayBegin, seed: choices.next(), isKeyThere: { missing.key.withLock { !$0 } },
      isRandomThere: { missing.random.withLock { !$0 } })
  }

  /// The process ends and another one begins; on a disk that fails that may take two.
  private func reopen() async throws {
    isUndecided = false
    await close()
    tally.reopened += 1
    do { store = try open() } catch {
      guard isFaulty else { throw error }
      tally.errors += 1
      await close()
      mend()
      store = try open()
    }
    // What failed before may still show, as a store that is not open.
    mend()
    try await compareAll()
    isFaulty = false
    try await begun()
  }

  private func close() async {
    store = nil
    while disk.openFileCount > 0 { await Task.yield() }
  }

  /// The power goes: now, or while these changes are made.
  private func die(in changes: [String: [UInt8]?]?) async throws {
    if let changes {
      disk.cut(at: disk.operationCount + pick(12))
      isFaulty = true
      let isOne = isAlone(changes)
      for (name, value) in changes { may.allow(name, value) }
      undecided = [:]
      do {
        try await make(changes)
        for (name, value) in changes {
          may.settle(name, value)
          values[name] = value
        }
      } catch {
        tally.errors += 1
        if isOne { for (name, value) in changes { undecided[name] = (values[name], value) } }
      }
    } else if pick(4) == 0 || phase == .verify {
      // On a step of the way; the one out of `verify` leads through `copyAll` and is short.
      disk.cut(at: disk.operationCount + pick(phase == .verify ? 20 : 60))
      wall.passDay()
      _ = try? await store?.advance()
    }
    disk.cut()
    let leftover = [Leftover.nothing, .everything, .some(seed: choices.next()), .some(seed: choices.next())][pick(4)]
    let state = disk.snapshot.afterCut(leftover)
    store = nil
    isUndecided = false
    disk = CutDisk(state, withoutSync: withoutSync)
    mend()
    isFaulty = false
    tally.crashes += 1
    tally.crashesOfPhase[phase, default: 0] += 1
    store = try open()
    try await compareAll(isSettling: true)
    try await begun()
  }

  private func begun() async throws {
    if pick(phase == .copyAll ? 20 : 3) > (phase == .copyAll ? 18 : 0) { _ = try await store?.advance() }
    try await look()
  }

  /// - Parameter isSettling: whether what is found is all there is, so that it has to be found from now on.
  private func compareAll(isSettling: Bool = false) async throws {
    guard let store else { return }
    let found = try await store.found()
    for name in Set(Self.names).union(found.values.keys) { try may.check(name, found.values[name]) }
    let isOld = undecided.allSatisfy { found.values[$0.key] == $0.value.old }
    let isNew = undecided.allSatisfy { found.values[$0.key] == $0.value.new }
    guard isOld || isNew else {
      throw Difference(description: "of \(undecided.keys.sorted()) some are old and some are new")
    }
    guard isSettling else { return }
    values = found.values
    may = Expected(values)
    undecided = [:]
  }

  /// A plain store with what there is, for another time the whole way.
  private func beginAgain() async throws {
    guard let found = try await store?.found() else { return }
    values = found.values
    undecided = [:]
    await close()
    disk = CutDisk(withoutSync: withoutSync)
    wall = Wall()
    try await begin()
  }
}
