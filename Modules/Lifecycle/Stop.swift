import Synchronization

/// The wish that the program ends, in two stages: the first request asks every part to finish what it has promised,
/// the second one ends it at once. Shared by the signals, the control socket and every service with something to finish.
package final class Stop: Sendable {
  package enum Stage: Int, Sendable, Comparable {
    case running, graceful, immediate
    package static func < (left: Stage, right: Stage) -> Bool { left.rawValue < right.rawValue }
  }

  private struct Waiter {
    let stage: Stage
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var stage = Stage.running
    var nextWaiter: UInt64 = 0
    /// One per task that waits; a task leaves when it is resumed or cancelled.
    var waiters: [UInt64: Waiter] = [:]
    /// Waiters whose task was cancelled before they had put down their continuation.
    var cancelled: Set<UInt64> = []
  }

  private let state = Mutex(State())

  package init() {}

  package var stage: Stage { state.withLock { $0.stage } }

  /// Moves to the next stage; the third and later requests change nothing.
  package func request() { advance { Stage(rawValue: $0.rawValue + 1) ?? .immediate } }

  /// Moves to `stage` unless that has been reached.
  package func request(_ stage: Stage) { advance { max($0, stage) } }

  /// Returns true once `stage` is reached, false when the task is cancelled before.
  package func reached(_ stage: Stage) async -> Bool {
    let id = state.withLock { state in
      state.nextWaiter &+= 1
      return state.nextWaiter
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: Bool? = state.withLock { state in
          if state.stage >= stage { return true }
          if state.cancelled.remove(id) != nil { return false }
          state.waiters[id] = Waiter(stage: stage, continuation: continuation)
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        let waiter = state.waiters.removeValue(forKey: id)
        if waiter == nil && state.stage < stage { state.cancelled.insert(id) }
        return waiter
      }
      waiter?.continuation.resume(returning: false)
    }
  }

  private func advance(_ next: (Stage) -> Stage) {
    let ready = state.withLock { state in
      state.stage = next(state.stage)
      let ready = state.waiters.filter { $0.value.stage <= state.stage }
      for id in ready.keys { state.waiters[id] = nil }
      return ready.values.map(\.continuation)
    }
    for continuation in ready { continuation.resume(returning: true) }
  }
}
