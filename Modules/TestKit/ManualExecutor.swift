internal import Streams

/// Runs the tasks of a test on the thread of the test, one job at a time, in the order they became ready.
///
/// Actors without an executor of their own follow the preference of the task that calls them, so a whole node runs
/// here and two runs from one seed take the same steps.
package final class ManualExecutor: TaskExecutor {
  private let jobs = Protected<[UnownedJob]>([])

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let unowned = UnownedJob(job)
    jobs.withLock { $0.append(unowned) }
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
