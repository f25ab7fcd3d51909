import Glibc
import TestKit
import Testing

@testable import Storing

/// Random operations against a dictionary, in every phase, with restarts, deaths and failures of the sealed path.
@Suite struct StoreModelTests {
  private static let operations =
    unsafe getenv("RELAYCHAT_MODEL_OPERATIONS").flatMap { unsafe Int(String(cString: $0)) } ?? 20_000

  @Test(arguments: [1, 2, 3, 4]) func theStoreIsADictionaryWhateverHappens(_ number: UInt64) throws {
    let environment = unsafe getenv("RELAYCHAT_MODEL_SEED").flatMap { unsafe UInt64(String(cString: $0)) }
    let model = try StoreModel(seed: environment ?? number &* 0x1234_5678_9ABC)
    do {
      for _ in 0..<max(1, Self.operations / 4) { try model.step() }
    } catch {
      Issue.record("seed \(model.seed), operation \(model.count), phase \(model.engine.migration.phase): \(error)")
    }
    #expect(model.fault == nil, "seed \(model.seed), operation \(model.count)")
    print("seed \(model.seed): \(model.count) operations, \(model.summary)")
  }
}

final class StoreModel {
  let seed: UInt64
  private var generator: SeededGenerator
  private var directory = TemporaryDirectory()
  private let wall = Wall()
  private let faults = Faults()
  private let settings = Migration.Settings(days: 1, restarts: 1)
  private var values: [String: [UInt8]] = [:]
  private(set) var engine: MigrationEngine
  private(set) var count = 0
  private(set) var perPhase: [Migration.Phase: Int] = [:]
  /// What was not as the dictionary has it.
  private(set) var fault: String?

  var summary: String {
    Migration.Phase.allCases.map { "\($0) \(perPhase[$0, default: 0])" }.joined(separator: ", ")
  }

  init(seed: UInt64) throws {
    self.seed = seed
    generator = SeededGenerator(seed: seed)
    engine = try makeEngine(directory, wall, faults, settings: settings)
  }

  private func pick(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

  private func name() -> String { "n\(pick(24))" }

  private func value() -> [UInt8] {
    let (count, byte) = (pick(40), UInt8(pick(256)))
    return [UInt8](repeating: byte, count: count)
  }

  func step() throws {
    guard fault == nil else { return }
    count += 1
    let phase = engine.migration.phase
    perPhase[phase, default: 0] += 1
    switch pick(1_000) {
    case 0..<420: try read()
    case 420..<720: try put()
    case 720..<820: try remove()
    case 820..<830: try compareAll()
    case 830..<880: changeFaults()
    case 880..<920: try reopen(dies: false)
    case 920..<960: try reopen(dies: true)
    case 960..<970: wall.pass(days: 1)
    case 970..<982: try move { engine throws(StoreError) in _ = try engine.advance(isImpatient: false) { _ in } }
    case 982..<985: try move { engine throws(StoreError) in _ = try engine.advance(isImpatient: true) { _ in } }
    case 985..<992: try move { engine throws(StoreError) in _ = try engine.verify { _ in } }
    case 992:
      guard phase != .sealed else { return }
      try move { engine throws(StoreError) in try engine.rollBack() }
    default: try hurry(from: phase)
    }
  }

  /// A phase further, so that a run sees all of them often.
  private func hurry(from phase: Migration.Phase) throws {
    switch phase {
    case .plain:
      engine.migration.release()
      try move { engine throws(StoreError) in _ = try engine.advance(isImpatient: false) { _ in } }
    case .doubleWrite: try engine.reach(.verify)
    case .verify: try engine.reach(.copyAll)
    case .copyAll: break
    case .sealed: try beginAgain()
    }
  }

  private func expect(_ holds: Bool, _ what: @autoclosure () -> String) {
    if !holds, fault == nil { fault = "\(what()) in \(engine.migration.phase), faults \(faults.now)" }
  }

  /// Whether the sealed path may fail a call: only when there is no other.
  private var mayFail: Bool { engine.migration.phase == .sealed && !faults.now.isEmpty }

  private func read() throws {
    let name = name()
    do {
      let found = try engine.get(name)
      expect(found == values[name], "\(name) is \(String(describing: found)), not \(String(describing: values[name]))")
    } catch { if !mayFail { throw error } }
  }

  private func put() throws {
    var changes: [(name: String, value: [UInt8])] = []
    for _ in 0...pick(3) {
      let name = name()
      if !changes.contains(where: { $0.name == name }) { changes.append((name, value())) }
    }
    do {
      try engine.put(changes, isErasing: pick(20) == 0)
      for (name, value) in changes { values[name] = value }
    } catch {
      guard mayFail else { throw error }
      try settle(changes.map { ($0.name, $0.value) })
    }
  }

  private func remove() throws {
    let name = name()
    do {
      try engine.remove([name])
      values[name] = nil
    } catch {
      guard mayFail else { throw error }
      try settle([(name, nil)])
    }
  }

  /// After a failure that may have come too late: old or new, and nothing else, and all the same.
  private func settle(_ changes: [(name: String, value: [UInt8]?)]) throws {
    guard faults.now == [.lateWrite] else { return }
    let found = try changes.map { try engine.get($0.name) }
    let isNew = zip(found, changes).allSatisfy { $0 == $1.value }
    expect(isNew || zip(found, changes).allSatisfy { $0 == values[$1.name] }, "\(changes.map(\.name)) are neither")
    if isNew { for change in changes { values[change.name] = change.value } }
  }

  private func compareAll() throws {
    let names = try engine.names()
    expect(names == values.keys.sorted(), "names are \(names)")
  }

  private func changeFaults() {
    guard faults.now.isEmpty else {
      faults.now = []
      return
    }
    faults.now = [Fault.allCases[pick(Fault.allCases.count)]]
  }

  /// Something that may be refused, and must not lose anything then.
  private func move(_ body: (MigrationEngine) throws(StoreError) -> Void) throws {
    do { try body(engine) } catch {
      switch error {
      case .migration(.held), .migration(.mismatches), .sealed: break
      default: throw error
      }
    }
    expect(faults.now.isEmpty == false || engine.migration.occurrences(of: .mismatch).count == 0, "a mismatch")
  }

  private func reopen(dies: Bool) throws {
    let next = dies ? directory.crashed() : directory
    // The file that a new one opens must not be open in the old one.
    if !dies { engine.close() }
    do {
      engine = try makeEngine(next, wall, faults, settings: settings)
    } catch {
      // Without its key a sealed store does not open, and is there again when it can be had.
      guard !faults.now.isDisjoint(with: [.keyFetch, .openStore, .note, .lateNote]) else { throw error }
      faults.now = []
      engine = try makeEngine(next, wall, faults, settings: settings)
    }
    directory = next
    try compareAll()
  }

  /// A plain store with what there is, for another time the whole way.
  private func beginAgain() throws {
    directory = TemporaryDirectory()
    faults.now = []
    engine = try makeEngine(directory, wall, faults, settings: settings)
    for (name, value) in values { try engine.put(name, value) }
  }
}

extension MigrationEngine {
  /// As a process ends that has nothing left to do.
  func close() {
    plain = nil
    sealed = nil
  }
}
