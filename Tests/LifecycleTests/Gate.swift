import Synchronization

/// Holds a task until it is opened, whether the task is cancelled or not.
final class Gate: Sendable {
  private let state = Mutex<(isOpen: Bool, waiter: CheckedContinuation<Void, Never>?)>((false, nil))

  func passed() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiter = continuation }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiter = state.withLock { state in
      state.isOpen = true
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }
}

/// A clock on which every sleep is over at once.
struct ImpatientClock: Clock {
  var now: ManualClock.Instant { .init(offset: .zero) }
  var minimumResolution: Duration { .nanoseconds(1) }
  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {}
}
