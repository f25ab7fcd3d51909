package import Streams

/// A clock that stands still until a test moves it.
package final class ManualTime: Sendable {
  private struct Sleeper: Sendable {
    var deadline: MonotonicTime
    var number: UInt64
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct State: Sendable {
    var now: MonotonicTime
    var wall: UInt64
    var sleepers: [Sleeper] = []
    var number: UInt64 = 0
  }

  private let state: Protected<State>

  /// - Parameter wallMilliseconds: the time of day at the start; 2026-01-01 unless told.
  package init(wallMilliseconds: UInt64 = 1_767_225_600_000) {
    state = Protected(State(now: MonotonicTime(nanoseconds: 1_000_000_000), wall: wallMilliseconds))
  }

  package var now: MonotonicTime { state.withLock { $0.now } }

  /// What the node under test is handed.
  package var source: TimeSource {
    TimeSource(
      now: { self.now },
      wallMilliseconds: { self.state.withLock { $0.wall &+ $0.now.nanoseconds / 1_000_000 } },
      sleep: { deadline in try await self.sleep(until: deadline) })
  }

  /// The earliest deadline anybody sleeps for.
  package var nextDeadline: MonotonicTime? { state.withLock { $0.sleepers.first?.deadline } }

  /// Moves the clock and wakes, in order of their deadlines, everybody who slept until then.
  package func advance(to time: MonotonicTime) {
    let woken = state.withLock { state -> [Sleeper] in
      state.now = max(state.now, time)
      let now = state.now
      let count = state.sleepers.firstIndex { $0.deadline > now } ?? state.sleepers.count
      let woken = Array(state.sleepers.prefix(count))
      state.sleepers.removeFirst(count)
      return woken
    }
    for sleeper in woken { sleeper.continuation.resume() }
  }

  package func advance(by duration: Duration) { advance(to: now.advanced(by: duration)) }

  private func sleep(until deadline: MonotonicTime) async throws {
    let number = state.withLock { state in
      state.number += 1
      return state.number
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let answer = state.withLock { state -> Result<Void, any Error>? in
          if Task.isCancelled { return .failure(CancellationError()) }
          if deadline <= state.now { return .success(()) }
          let sleeper = Sleeper(deadline: deadline, number: number, continuation: continuation)
          var low = 0
          var high = state.sleepers.count
          while low < high {
            let middle = (low + high) / 2
            if state.sleepers[middle].deadline <= deadline { low = middle + 1 } else { high = middle }
          }
          state.sleepers.insert(sleeper, at: low)
          return nil
        }
        if let answer { continuation.resume(with: answer) }
      }
    } onCancel: {
      let sleeper = state.withLock { state -> Sleeper? in
        guard let index = state.sleepers.firstIndex(where: { $0.number == number }) else { return nil }
        return state.sleepers.remove(at: index)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}
