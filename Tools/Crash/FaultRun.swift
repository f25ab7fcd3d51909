import PowerCuts
import Storing

/// Calls after which a disk does one thing wrong and goes on: none of them may lose what was acknowledged.
struct FaultRun: Sendable {
  struct Tally: Sendable {
    var runs = 0
    /// Calls that the store answered with an error.
    var errors = 0
    var losses = 0
    var examples: [String] = []

    mutating func add(_ other: Tally) {
      runs += other.runs
      errors += other.errors
      losses += other.losses
      examples = Array((examples + other.examples).prefix(10))
    }
  }

  private struct Outcome {
    var errors = 0
    var fault: String?
  }

  /// Where a process starts, and what it is asked for.
  let segment: Segment
  let steps: [Step]
  /// Milliseconds since 1970.
  let start: UInt64
  let seed: UInt64

  /// The script: every kind of call, the step forward or back, and every kind again.
  static func script(isBack: Bool) -> [Step] {
    let one = [UInt8](repeating: 1, count: 90)
    let long = [UInt8](repeating: 2, count: 5_000)
    return [
      .open, .advance, .put(["fault": one], isErasing: false), .get("identity"),
      // What is read after a write that failed in part is the old value or the new one, whichever store has it.
      .put(["identity": one], isErasing: false), .get("identity"), .remove(["peers"]), .get("peers"),
      .put(["identity": long, "note": one], isErasing: true), .get("identity"), .get("note"), .verify, .nextDay,
      isBack ? .rollback : .advance, .put(["peers": one], isErasing: false), .get("note"), .remove(["note"]),
      .get("note"), .migrate, .put(["note": long], isErasing: true), .get("fault"), .get("peers"),
    ]
  }

  /// Numbers of the calls that can fail this way.
  func calls(_ fault: CutDisk.Fault) async -> [Int] {
    let disk = CutDisk(segment.disk)
    _ = await run(disk, fault: fault)
    return fault == .inputOutput ? Array(0..<disk.callCount) : disk.writeCalls.sorted()
  }

  func run(_ fault: CutDisk.Fault, atCall call: Int, into tally: inout Tally) async {
    let disk = CutDisk(segment.disk)
    disk.inject(fault, atCall: call)
    let outcome = await run(disk, fault: fault)
    tally.runs += 1
    tally.errors += outcome.errors
    guard let text = outcome.fault else { return }
    tally.losses += 1
    if tally.examples.count < 10 {
      tally.examples.append("\(segment.calls.first?.phase ?? .plain), \(fault) at call \(call): \(text)")
    }
  }

  private func run(_ disk: CutDisk, fault: CutDisk.Fault) async -> Outcome {
    let wall = Wall(at: start)
    var outcome = Outcome()
    var may = Expected(segment.calls.first?.before ?? [:])
    let mayBegin = segment.calls.first?.mayBegin ?? false
    var store: MigratingStore?
    for step in steps {
      if store == nil {
        do {
          store = try NodeStore.open(disk, wall, mayBegin: mayBegin, seed: seed)
        } catch {
          outcome.errors += 1
          disk.heal()
          do { store = try NodeStore.open(disk, wall, mayBegin: mayBegin, seed: seed) } catch {
            outcome.fault = "after a failed start it does not start: \(error)"
            return outcome
          }
        }
      }
      do { try await perform(step, store, wall, &may) } catch let error as Expected.Wrong {
        outcome.fault = error.description
        return outcome
      } catch { outcome.errors += 1 }
    }
    disk.heal()
    let probe = Array("probe".utf8)
    do {
      may.allow("clock", probe)
      try await store?.put([("clock", probe)])
      may.settle("clock", probe)
    } catch { outcome.errors += 1 }
    disk.cut()
    outcome.fault = await look(disk, wall, may, mayBegin: mayBegin)
    return outcome
  }

  private func perform(_ step: Step, _ store: MigratingStore?, _ wall: Wall, _ may: inout Expected) async throws {
    switch step {
    case .put(let values, let isErasing):
      for (name, value) in values { may.allow(name, value) }
      try await store?.put(values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, isErasing: isErasing)
      for (name, value) in values { may.settle(name, value) }
    case .remove(let names):
      for name in names { may.allow(name, nil) }
      try await store?.remove(names)
      for name in names { may.settle(name, nil) }
    case .get(let name): try may.check(name, try await store?.get(name))
    case .nextDay: wall.passDay()
    case .advance: try await store?.advance()
    case .migrate: _ = try await store?.migrate(isImpatient: true) { _ in }
    case .verify: _ = try await store?.verify { _ in }
    case .rollback: try await store?.rollback()
    case .open, .close, .die, .dieInCopyAll: break
    }
  }

  /// The power is cut as well, and the way is gone to its end.
  private func look(_ disk: CutDisk, _ wall: Wall, _ may: Expected, mayBegin: Bool) async -> String? {
    for leftover in [Leftover.nothing, .some(seed: seed)] {
      let again = CutDisk(disk.snapshot.afterCut(leftover))
      defer { again.cut() }
      do {
        let store = try NodeStore.open(again, wall, mayBegin: mayBegin, seed: seed &+ 1)
        let found = try await store.found()
        for name in Set(Journey.names + found.values.keys) { try may.check(name, found.values[name]) }
        // What differs is settled by the second look into it.
        for _ in 0..<2 { _ = try await store.verify { _ in } }
        let missing = try await store.migrate(isImpatient: true) { _ in }
        guard missing.isEmpty else { return "held up by \(missing)" }
        guard try await store.found().values == found.values else { return "lost on the way to sealed" }
      } catch { return "\(error)" }
    }
    return nil
  }
}

/// What each name may hold: one value, or after a call that failed one of some.
struct Expected: Sendable {
  struct Wrong: Error, CustomStringConvertible {
    var description: String
  }

  private var values: [String: Set<[UInt8]?>]

  init(_ values: [String: [UInt8]]) { self.values = values.mapValues { [$0] } }

  mutating func allow(_ name: String, _ value: [UInt8]?) { values[name, default: [nil]].insert(value) }
  mutating func settle(_ name: String, _ value: [UInt8]?) { values[name] = [value] }

  /// Whether there is one value alone that it may have.
  func isSettled(_ name: String) -> Bool { values[name, default: [nil]].count == 1 }

  func check(_ name: String, _ value: [UInt8]?) throws(Wrong) {
    guard values[name, default: [nil]].contains(value) else {
      throw Wrong(description: "\(name) is neither old nor new: \(value.map { "\($0.count) bytes" } ?? "nothing")")
    }
  }
}
