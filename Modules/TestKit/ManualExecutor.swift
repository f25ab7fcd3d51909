internal import CLinux
internal import Glibc
internal import Streams

/// Runs the tasks of a test on the thread of the test, one job at a time, in the order they became ready.
///
/// Actors without an executor of their own follow the preference of the task that calls them, so a whole node runs
/// here and two runs from one seed take the same steps.
package final class ManualExecutor: TaskExecutor {
  private let jobs = Protected<[UnownedJob]>([])

  /// Readable when a job has come from another thread; -1 when nobody waits for one.
  private let arrivals: Int32

  /// - Parameter isAwaited: whether jobs come from threads that are not the test's, which then may wait for them.
  package init(isAwaited: Bool = false) { arrivals = isAwaited ? eventfd(0, Int32(O_NONBLOCK) | Int32(O_CLOEXEC)) : -1 }

  deinit { if arrivals >= 0 { close(arrivals) } }

  package func enqueue(_ job: consuming ExecutorJob) {
    let unowned = UnownedJob(job)
    jobs.withLock { $0.append(unowned) }
    guard arrivals >= 0 else { return }
    var one: UInt64 = 1
    _ = unsafe write(arrivals, &one, 8)
  }

  /// Waits for a job of another thread, in real time.
  ///
  /// - Returns: whether one came within `milliseconds`.
  package func awaitJob(milliseconds: Int32) -> Bool {
    if jobs.withLock({ !$0.isEmpty }) { return true }
    var event = pollfd(fd: arrivals, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&event, 1, milliseconds) > 0 else { return false }
    var count: UInt64 = 0
    _ = unsafe read(arrivals, &count, 8)
    return true
  }

  /// Runs until no job is ready, at most `limit` jobs.
  ///
  /// - Returns: how many jobs ran.
  @discardableResult
  package func runUntilIdle(limit: Int = .max) -> Int {
    var count = 0
    while count < limit {
      let batch = jobs.withLock { jobs -> [UnownedJob] in
        let batch = jobs
        jobs.removeAll(keepingCapacity: true)
        return batch
      }
      if batch.isEmpty { break }
      for job in batch { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
      count += batch.count
    }
    return count
  }
}
