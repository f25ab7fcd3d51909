internal import CLinux
internal import Glibc
internal import Lifecycle
internal import Streams

/// Tells when a descriptor can be read or written, from a thread that waits for it and does nothing else.
///
/// Each `arm` gives one element, so that nothing is told twice before it was looked at. The watch has a duplicate of the
/// descriptor, so that whoever owns the original may close it at any time.
final class DescriptorWatch: Sendable {
  /// One element after each `arm`.
  let ready = Channel<Void>(capacity: 1)

  private struct State: Sendable {
    var isArmed = false
    var isWriting = false
    var isFinished = false
  }

  private let state = Protected(State())
  private let descriptor: Int32
  private let wakeUp: Int32
  private let events: Int32

  /// nil when the system has no descriptor or no event left.
  init?(duplicating original: Int32) {
    descriptor = fcntl(original, F_DUPFD_CLOEXEC, 0)
    wakeUp = eventfd(0, Int32(O_NONBLOCK) | Int32(O_CLOEXEC))
    events = epoll_create1(Int32(O_CLOEXEC))
    // Armed for nothing at first, and told once: whoever arms it again need not wake the thread.
    guard descriptor >= 0, wakeUp >= 0, events >= 0,
      Self.control(events, EPOLL_CTL_ADD, descriptor, Self.once),
      Self.control(events, EPOLL_CTL_ADD, wakeUp, EPOLLIN.rawValue)
    else {
      for one in [descriptor, wakeUp, events] where one >= 0 { close(one) }
      return nil
    }
  }

  deinit {
    close(events)
    close(descriptor)
    close(wakeUp)
  }

  private static let once = EPOLLONESHOT.rawValue

  private static func control(_ events: Int32, _ operation: Int32, _ descriptor: Int32, _ interest: UInt32) -> Bool {
    var event = unsafe epoll_event()
    unsafe event.events = interest
    unsafe event.data.fd = descriptor
    return unsafe epoll_ctl(events, operation, descriptor, &event) == 0
  }

  /// Starts the thread; it ends after `finish`.
  func start() { WorkerThread.start(name: "dbus") { [self] in wait() } }

  /// Asks to be told once when there is something to read or, if wanted, room to write.
  func arm(isWriting: Bool) {
    state.withLock { state in
      guard !state.isFinished, !state.isArmed || state.isWriting != isWriting else { return }
      state.isArmed = true
      state.isWriting = isWriting
      let interest = EPOLLIN.rawValue | (isWriting ? EPOLLOUT.rawValue : 0) | Self.once
      _ = Self.control(events, EPOLL_CTL_MOD, descriptor, interest)
    }
  }

  func finish() {
    state.withLock { $0.isFinished = true }
    var one: UInt64 = 1
    _ = unsafe write(wakeUp, &one, 8)
  }

  private func wait() {
    while !state.withLock({ $0.isFinished }) {
      var event = unsafe epoll_event()
      guard unsafe epoll_wait(events, &event, 1, -1) > 0, unsafe event.data.fd == descriptor else { continue }
      state.withLock { $0.isArmed = false }
      ready.offer(())
    }
    ready.finish()
  }
}
