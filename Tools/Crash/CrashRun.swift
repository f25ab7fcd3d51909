import Glibc
import PowerCuts
import Storing
import Streams

/// Everything that is tried, and its counts.
struct CrashRun {
  /// A sync that is left out, and the name it has on the command line.
  struct LeftOut: Sendable {
    var name: String
    var isLeftOut: @Sendable (String) -> Bool

    static let all = [
      LeftOut(name: "plain-log") { $0 == "/plain.db-wal" },
      LeftOut(name: "plain-file") { $0 == "/plain.db" },
      LeftOut(name: "store-log") { $0 == "/store.db-wal" },
      LeftOut(name: "store-file") { $0 == "/store.db" },
      LeftOut(name: "directory-of-log") { $0 == "directory of a log" },
      LeftOut(name: "directory-of-deletion") { $0 == "directory" },
    ]
  }

  let journeys: Int
  let length: Int
  let seeds: Int
  /// Of the calls that could fail, every so many-th.
  let faultStride: Int
  let firstSeed: UInt64

  /// All cut points of all journeys.
  func cuts() async throws -> CutChecker.Tally {
    var work: [(checker: CutChecker, segment: Segment)] = []
    for seed in firstSeed..<(firstSeed + UInt64(journeys)) {
      for journey in [Journey(seed: seed, length: length), .sealed(seed: seed, length: length)] {
        let recording = try await Recording(journey, seed: seed)
        let checker = CutChecker(wall: recording.wall, seed: seed, seeds: seeds)
        work += recording.segments.map { (checker, $0) }
      }
    }
    let bar = ProgressBar("cuts", total: work.map(\.segment.operations.count).reduce(0, +))
    var tally = CutChecker.Tally()
    for one in await parallel(work, { await $0.checker.check($0.segment) { bar.advance($0) } }) { tally.add(one) }
    bar.finish()
    return tally
  }

  /// The same with a disk that says of some syncs that they are done and does nothing.
  func cuts(without leftOut: LeftOut) async -> CutChecker.Tally {
    do {
      let journey = Journey(seed: firstSeed, length: 4, isLosing: false)
      let recording = try await Recording(journey, seed: firstSeed, withoutSync: leftOut.isLeftOut)
      let checker = CutChecker(wall: recording.wall, seed: firstSeed, seeds: 1, withoutSync: leftOut.isLeftOut)
      let bar = ProgressBar("without \(leftOut.name)", total: recording.segments.map(\.operations.count).reduce(0, +))
      var tally = CutChecker.Tally()
      for one in await parallel(recording.segments, { await checker.check($0) { bar.advance($0) } }) { tally.add(one) }
      bar.finish()
      return tally
    } catch {
      // It was lost before anything was cut.
      return CutChecker.Tally(losses: 1, examples: ["\(error)"])
    }
  }

  /// Every call of a script in every phase, each failing in each way.
  func faults() async throws -> [(fault: CutDisk.Fault, tally: FaultRun.Tally)] {
    let recording = try await Recording(Journey(seed: firstSeed, length: 6), seed: firstSeed)
    var answer: [(CutDisk.Fault, FaultRun.Tally)] = []
    for fault in CutDisk.Fault.allCases {
      var work: [(run: FaultRun, call: Int)] = []
      for segment in recording.segments {
        for isBack in [false, true] {
          let run = FaultRun(
            segment: segment, steps: FaultRun.script(isBack: isBack), start: recording.wall.now, seed: firstSeed)
          let calls = await run.calls(fault)
          work += stride(from: 0, to: calls.count, by: faultStride).map { (run, calls[$0]) }
        }
      }
      let bar = ProgressBar("\(fault)", total: work.count)
      var tally = FaultRun.Tally()
      let tallies = await parallel(work) { one in
        var tally = FaultRun.Tally()
        await one.run.run(fault, atCall: one.call, into: &tally)
        bar.advance(1)
        return tally
      }
      for one in tallies { tally.add(one) }
      bar.finish()
      answer.append((fault, tally))
    }
    return answer
  }

  /// The archive of messages: every call of a day of it, in each start, each failing in each way.
  func archive() async throws -> [(fault: CutDisk.Fault, tally: FaultRun.Tally)] {
    var trials: [ArchiveTrial] = []
    for start in ArchiveTrial.Start.allCases { trials.append(try await ArchiveTrial(start)) }
    var answer: [(CutDisk.Fault, FaultRun.Tally)] = []
    for fault in CutDisk.Fault.allCases {
      var work: [(trial: ArchiveTrial, call: Int)] = []
      for trial in trials {
        let calls = await trial.calls(fault)
        work += stride(from: 0, to: calls.count, by: faultStride).map { (trial, calls[$0]) }
      }
      let bar = ProgressBar("archive, \(fault)", total: work.count)
      var tally = FaultRun.Tally()
      let tallies = await parallel(work) { one in
        let outcome = await one.trial.run(fault, atCall: one.call, seed: firstSeed &+ UInt64(one.call))
        bar.advance(1)
        return FaultRun.Tally(
          runs: 1, errors: outcome.errors, losses: outcome.fault == nil ? 0 : 1,
          examples: outcome.fault.map { ["archive, \(one.trial.start), \(fault) at call \(one.call): \($0)"] } ?? [])
      }
      for one in tallies { tally.add(one) }
      bar.finish()
      answer.append((fault, tally))
    }
    return answer
  }

  /// So many operations of the model, on all processors.
  func model(_ operations: Int, without leftOut: LeftOut? = nil) async -> ModelTally {
    let lanes = 8
    let bar = ProgressBar("model", total: operations)
    var tally = ModelTally()
    let tallies = await parallel(Array(0..<lanes)) { lane in
      let share = operations / lanes + (lane < operations % lanes ? 1 : 0)
      return await ModelRun(seed: firstSeed &* 1_000 &+ UInt64(lane), withoutSync: leftOut?.isLeftOut).run(share) {
        bar.advance($0)
      }
    }
    for one in tallies { tally.add(one) }
    bar.finish()
    return tally
  }

  private func parallel<Work: Sendable, Result: Sendable>(
    _ work: [Work], _ body: @escaping @Sendable (Work) async -> Result
  ) async -> [Result] {
    await withTaskGroup(of: Result.self) { group in
      let atOnce = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
      var results: [Result] = []
      for (number, one) in work.enumerated() {
        if number >= atOnce, let result = await group.next() { results.append(result) }
        group.addTask { await body(one) }
      }
      for await result in group { results.append(result) }
      return results
    }
  }
}

/// How far it is, on a terminal only.
final class ProgressBar: Sendable {
  private let name: String
  private let total: Int
  private let done = Protected(0)
  private static let isTerminal = isatty(2) == 1

  init(_ name: String, total: Int) {
    self.name = name
    self.total = max(1, total)
  }

  func advance(_ count: Int) {
    let (now, isNew) = done.withLock { done in
      let old = done * 100 / total
      done += count
      return (done, done * 100 / total != old)
    }
    guard Self.isTerminal, isNew else { return }
    let filled = now * 30 / total
    let bar = String(repeating: "█", count: min(30, filled)) + String(repeating: "░", count: max(0, 30 - filled))
    Self.write("\r\(name) \(bar) \(now)/\(total)\u{1b}[K")
  }

  func finish() { if Self.isTerminal { Self.write("\r\u{1b}[K") } }

  private static func write(_ text: String) { _ = unsafe Glibc.write(2, text, text.utf8.count) }
}
