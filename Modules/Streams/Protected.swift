#if TSAN
  internal import Glibc
#else
  public import Synchronization
#endif

/// A value that only one thread at a time can touch.
///
/// The closure must not suspend, call out, or run for long: collect what is to be done and do it after the lock is
/// left. ThreadSanitizer does not understand the futex inside `Mutex` on Linux and reports races that are none, so a
/// build with `-DTSAN` uses a pthread mutex instead.
public struct Protected<Value: Sendable>: ~Copyable {
  #if TSAN
    @usableFromInline let box: PthreadBox<Value>

    public init(_ value: consuming Value) { box = PthreadBox(value) }

    @inlinable
    public borrowing func withLock<Result: Sendable, Failure: Error>(
      _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
      try box.withLock(body)
    }
  #else
    @usableFromInline let mutex: Mutex<Value>

    @inlinable
    public init(_ value: consuming Value) { mutex = Mutex(value) }

    @inlinable
    public borrowing func withLock<Result: Sendable, Failure: Error>(
      _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
      try mutex.withLock { (value) throws(Failure) in try body(&value) }
    }
  #endif
}

extension Protected: @unchecked Sendable {}

#if TSAN
  @usableFromInline
  final class PthreadBox<Value: Sendable>: @unchecked Sendable {
    private var value: Value
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init(_ value: consuming Value) {
      self.value = value
      unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
      unsafe pthread_mutex_destroy(mutex)
      unsafe mutex.deallocate()
    }

    @usableFromInline
    func withLock<Result: Sendable, Failure: Error>(
      _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
      unsafe pthread_mutex_lock(mutex)
      defer { unsafe pthread_mutex_unlock(mutex) }
      return try body(&value)
    }
  }
#endif
