import PowerCuts
import Storing
import Streams

/// Cuts a recorded journey at each of its operations and looks at what is left.
struct CutChecker: Sendable {
  struct Tally: Sendable {
    /// Distinct points: phase, call, operation of it.
    var points = 0
    /// Disks that were opened; those that were the same after the same call are opened once.
    var disks = 0
    var losses = 0
    /// The first of them.
    var examples: [String] = []
    var pointsOfPhase: [Migration.Phase: Int] = [:]

    mutating func add(_ other: Tally) {
      points += other.points
      disks += other.disks
      losses += other.losses
      examples = Array((examples + other.examples).prefix(10))
      pointsOfPhase.merge(other.pointsOfPhase) { $0 + $1 }
    }
  }

  let wall: Wall
  let seed: UInt64
  /// How many seeds of what is left are tried at a point, beside nothing and everything.
  let seeds: Int
  var withoutSync: (@Sendable (String) -> Bool)?

  func check(_ segment: Segment, progress: @Sendable (Int) -> Void) async -> Tally {
    var tally = Tally()
    var state = segment.disk
    for call in segment.calls {
      var seen: Set<Int> = []
      for index in call.operations {
        let operation = segment.operations[index]
        var started = state
        switch operation {
        case .sync, .syncDirectory: break
        default: started.apply(operation)
        }
        var left = [(Leftover.nothing, state.afterCut(.nothing)), (.everything, state.afterCut(.everything))]
        for number in 0..<seeds {
          let leftover = Leftover.some(seed: seed &* 1_000_003 &+ UInt64(index * seeds + number))
          left.append((leftover, started.afterCut(leftover)))
        }
        for (leftover, disk) in left where seen.insert(disk.digest).inserted {
          tally.disks += 1
          guard let fault = await fault(disk, call, deep: tally.disks.isMultiple(of: 4)) else { continue }
          tally.losses += 1
          if tally.examples.count < 10 {
            tally.examples.append(
              "\(call.phase), call \(call.number) (\(call.word)), operation \(index - call.operations.lowerBound) of "
                + "\(call.operations.count) (\(operation.word)), left: \(leftover): \(fault)")
          }
        }
        tally.points += 1
        tally.pointsOfPhase[call.phase, default: 0] += 1
        progress(1)
        state.apply(operation)
      }
    }
    return tally
  }

  /// What is wrong with the disk after a cut in the call. The way is gone to its end, and, when `deep`, once more cut.
  private func fault(_ state: DiskState, _ call: Call, deep: Bool) async -> String? {
    let disk = CutDisk(state, withoutSync: withoutSync)
    defer { disk.cut() }
    do {
      let store = try NodeStore.open(disk, wall, mayBegin: call.mayBegin, beginsSealed: call.beginsSealed, seed: seed)
      let found = try await store.found()
      guard found.values == call.before || found.values == call.after else {
        return "neither old nor new: \(Self.difference(found.values, call.after))"
      }
      let phases = [call.phase, call.phaseAfter].sorted()
      guard (phases[0]...phases[1]).contains(found.phase) else { return "it is in \(found.phase)" }
      guard found.mismatches == 0 else { return "\(found.mismatches) mismatches" }
      let missing = try await store.migrate(isImpatient: true) { _ in }
      guard missing.isEmpty else { return "held up by \(missing)" }
      let sealed = try await store.found()
      guard sealed.phase == .sealed else { return "sealed is not reached" }
      guard sealed.values == found.values else {
        return "lost on the way to sealed: \(Self.difference(sealed.values, found.values))"
      }
      disk.cut()
      let left = disk.snapshot.afterCut(.nothing)
      guard left.file(NodeStore.plainName) == nil else { return "the deleted plain store comes back" }
      guard deep else { return nil }
      let again = CutDisk(left, withoutSync: withoutSync)
      defer { again.cut() }
      let last = try await NodeStore.open(again, wall, mayBegin: false, seed: seed).found()
      return last == sealed ? nil : "lost after sealed: \(Self.difference(last.values, sealed.values))"
    } catch { return "refused: \(error)" }
  }

  private static func difference(_ found: [String: [UInt8]], _ wanted: [String: [UInt8]]) -> String {
    Set(found.keys).union(wanted.keys).sorted().filter { found[$0] != wanted[$0] }.map { name in
      func text(_ value: [UInt8]?) -> String {
        value.map { String(decoding: $0.prefix { $0 != UInt8(ascii: ".") }.prefix(24), as: UTF8.self) } ?? "nothing"
      }
      return "\(name) is \(text(found[name])), not \(text(wanted[name]))"
    }.joined(separator: ", ")
  }
}
