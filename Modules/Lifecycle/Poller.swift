internal import CLinux
import Glibc

/// Waits for many descriptors at once; each is known by a token. For one thread.
package struct Poller: ~Copyable {
  package struct Interest: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let reading = Interest(rawValue: EPOLLIN.rawValue)
    package static let writing = Interest(rawValue: EPOLLOUT.rawValue)
  }

  package struct Event: Sendable {
    package let token: UInt64
    /// There is room to write.
    package let isWritable: Bool
    /// There is something to read: bytes, the end, or an error.
    package let isReadable: Bool
  }

  private let descriptor: Int32
  private let limit: Int

  /// nil when the system has no descriptor left. `limit` is the number of events that one wait returns.
  package init?(limit: Int) {
    descriptor = epoll_create1(Int32(O_CLOEXEC))
    self.limit = limit
    if descriptor < 0 { return nil }
  }

  deinit { close(descriptor) }

  package func add(_ target: Int32, token: UInt64, _ interest: Interest) {
    control(EPOLL_CTL_ADD, target, token, interest)
  }

  package func change(_ target: Int32, token: UInt64, _ interest: Interest) {
    control(EPOLL_CTL_MOD, target, token, interest)
  }

  package func remove(_ target: Int32) { control(EPOLL_CTL_DEL, target, 0, []) }

  /// Waits until something happens or the time is over; a negative time is as long as it takes. nil when waiting
  /// itself fails.
  package func wait(milliseconds: Int32 = -1) -> [Event]? {
    var events = unsafe [epoll_event](repeating: epoll_event(), count: limit)
    let count = unsafe epoll_wait(descriptor, &events, Int32(clamping: limit), milliseconds)
    guard count >= 0 else { return errno == EINTR ? [] : nil }
    return (0..<Int(count)).map { index in
      let event = unsafe events[index]
      let bits = unsafe event.events
      return unsafe Event(
        token: event.data.u64, isWritable: bits & EPOLLOUT.rawValue != 0, isReadable: bits & ~EPOLLOUT.rawValue != 0)
    }
  }

  private func control(_ operation: Int32, _ target: Int32, _ token: UInt64, _ interest: Interest) {
    var event = unsafe epoll_event()
    unsafe event.events = interest.rawValue
    unsafe event.data.u64 = token
    _ = unsafe epoll_ctl(descriptor, operation, target, &event)
  }
}
