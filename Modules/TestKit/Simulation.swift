internal import Streams

/// Drives real actors in virtual time: runs every ready job, then moves the clock to the next deadline.
///
/// For a test that wants to see a whole conversation in milliseconds and the same one again from the same seed.
package final class Simulation: Sendable {
  package let executor: ManualExecutor
  package let time: ManualTime

  package init(time: ManualTime = ManualTime(), executor: ManualExecutor = ManualExecutor()) {
    self.time = time
    self.executor = executor
  }

  /// Starts `body` on the simulation's executor. The caller cancels it in the end.
  package func start(_ body: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error> {
    Task(executorPreference: executor) { try await body() }
  }

  /// Runs until `isDone` says so or the virtual time is over.
  ///
  /// - Returns: whether `isDone` said so.
  package func run(for duration: Duration, until isDone: () -> Bool = { false }) -> Bool {
    let end = time.now.advanced(by: duration)
    while true {
      executor.runUntilIdle()
      if isDone() { return true }
      guard let next = time.nextDeadline, next <= end else {
        time.advance(to: end)
        executor.runUntilIdle()
        return isDone()
      }
      time.advance(to: next)
    }
  }
}
