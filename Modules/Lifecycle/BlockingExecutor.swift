import Glibc

/// A serial executor with a thread of its own, for an actor whose calls block: a database that waits for the disk
/// would otherwise hold one of the few threads that all tasks share.
///
/// An actor keeps its executor in a `let` and returns it as `unownedExecutor`. A call into such an actor costs about
/// ten microseconds, two thread switches. The thread ends with the executor, after the jobs that wait.
package final class BlockingExecutor: SerialExecutor {
  private let queue: JobQueue

  package init(name: String) {
    let queue = JobQueue()
    self.queue = queue
    WorkerThread.start(name: name) { queue.run() }
  }

  deinit { queue.finish() }

  package func enqueue(_ job: consuming ExecutorJob) {
    unsafe queue.append(UnownedJob(job), executor: asUnownedSerialExecutor())
  }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor { unsafe UnownedSerialExecutor(ordinary: self) }

  package func checkIsolated() { precondition(queue.isCurrentThread, "not on the thread of this executor") }

  package func isIsolatingCurrentContext() -> Bool? { queue.isCurrentThread }
}

/// The jobs of one executor. Their number is the number of calls into the actor that are in flight, so the callers
/// bound it.
@safe private final class JobQueue: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var jobs: [UnownedJob] = []
  /// Set with the first job; the executor outlives its jobs.
  private var executor: UnownedSerialExecutor?
  private var isFinished = false
  private var thread: pthread_t?

  init() {
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(condition, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  var isCurrentThread: Bool {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    guard let thread else { return false }
    return pthread_equal(thread, pthread_self()) != 0
  }

  func append(_ job: UnownedJob, executor: UnownedSerialExecutor) {
    unsafe pthread_mutex_lock(mutex)
    jobs.append(job)
    unsafe self.executor = executor
    unsafe pthread_cond_signal(condition)
    unsafe pthread_mutex_unlock(mutex)
  }

  func finish() {
    unsafe pthread_mutex_lock(mutex)
    isFinished = true
    unsafe pthread_cond_signal(condition)
    unsafe pthread_mutex_unlock(mutex)
  }

  func run() {
    unsafe pthread_mutex_lock(mutex)
    thread = pthread_self()
    while true {
      while jobs.isEmpty && !isFinished { unsafe pthread_cond_wait(condition, mutex) }
      guard !jobs.isEmpty, let executor = unsafe executor else { break }
      let ready = jobs
      jobs = []
      unsafe pthread_mutex_unlock(mutex)
      for job in ready { unsafe job.runSynchronously(on: executor) }
      unsafe pthread_mutex_lock(mutex)
    }
    thread = nil
    unsafe pthread_mutex_unlock(mutex)
  }
}
