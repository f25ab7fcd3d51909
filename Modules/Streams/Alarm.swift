/// One alarm clock for one actor: rings at the earliest time it was set to.
///
/// `set` is cheap when an earlier time stands already, so a state machine may call it after every input. A ring may
/// come early in the sense that the owner has moved its deadline meanwhile: the owner looks at its own deadlines, and
/// sets the alarm again. Nothing is awake while no time stands.
public final class Alarm: Sendable {
  private let time: TimeSource
  private let earliest = Protected(MonotonicTime.never)
  private let changes = Channel<Void>(capacity: 1)

  public init(time: TimeSource) { self.time = time }

  /// Asks for a ring at `deadline` or before; nil asks for nothing.
  public func set(_ deadline: MonotonicTime?) {
    guard let deadline, deadline != .never else { return }
    let isEarlier = earliest.withLock { earliest in
      guard deadline < earliest else { return false }
      earliest = deadline
      return true
    }
    if isEarlier { changes.offer(()) }
  }

  /// Calls `ring` at each time set, until the task is cancelled.
  public func run(_ ring: @Sendable () async -> Void) async {
    while !Task.isCancelled {
      let deadline = earliest.withLock { $0 }
      if deadline == .never {
        guard await changes.next() != nil else { return }
        continue
      }
      if time.now() < deadline {
        await sleepOrChange(deadline)
        continue
      }
      earliest.withLock { $0 = .never }
      await ring()
    }
  }

  /// Returns at `deadline` or when an earlier one was set.
  private func sleepOrChange(_ deadline: MonotonicTime) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [time] in try? await time.sleep(deadline) }
      group.addTask { [changes] in _ = await changes.next() }
      await group.next()
      group.cancelAll()
    }
  }
}
