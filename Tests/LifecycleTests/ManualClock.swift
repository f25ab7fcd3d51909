import Synchronization

/// A clock that moves only when the test says so. A sleep that is already due returns at once.
final class ManualClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct State {
    var now = Duration.zero
    var sleepers: [Int: (deadline: Duration, continuation: CheckedContinuation<Bool, Never>)] = [:]
    var cancelled: Set<Int> = []
    var next = 0
    var arrivals: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  var now: Instant { Instant(offset: state.withLock { $0.now }) }
  var minimumResolution: Duration { .nanoseconds(1) }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let id = state.withLock { state in
      state.next += 1
      return state.next
    }
    let isDue = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (answer, arrivals): (Bool?, [CheckedContinuation<Void, Never>]) = state.withLock { state in
          if state.cancelled.contains(id) { return (false, []) }
          if state.now >= deadline.offset { return (true, []) }
          state.sleepers[id] = (deadline.offset, continuation)
          defer { state.arrivals = [] }
          return (nil, state.arrivals)
        }
        if let answer { continuation.resume(returning: answer) }
        for arrival in arrivals { arrival.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        state.cancelled.insert(id)
        return state.sleepers.removeValue(forKey: id)
      }
      sleeper?.continuation.resume(returning: false)
    }
    if !isDue { throw CancellationError() }
  }

  /// Returns once somebody sleeps.
  func someoneSleeps() async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if !state.sleepers.isEmpty { return true }
        state.arrivals.append(continuation)
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now += duration
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for id in due.keys { state.sleepers[id] = nil }
      return due.values.map(\.continuation)
    }
    for continuation in due { continuation.resume(returning: true) }
  }
}
