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

  /// nil when the system has no descriptor or no event left.
  init?(duplicating original: Int32) {
    descriptor = fcntl(original, F_DUPFD_CLOEXEC, 0)
    wakeUp = eventfd(0, Int32(O_NONBLOCK) | Int32(O_CLOEXEC))
    guard descriptor >= 0, wakeUp >= 0 else {
      if descriptor >= 0 { close(descriptor) }
      if wakeUp >= 0 { close(wakeUp) }
      return nil
    }
  }

  deinit {
    close(descriptor)
    close(wakeUp)
  }

  /// Starts the thread; it ends after `finish`.
  func start() { WorkerThread.start(name: "dbus") { [self] in wait() } }

  /// Asks to be told once when there is something to read or, if wanted, room to write.
  func arm(isWriting: Bool) {
    state.withLock { state in
      state.isArmed = true
      state.isWriting = isWriting
    }
    wake()
  }

  func finish() {
    state.withLock { $0.isFinished = true }
    wake()
  }

  private func wake() {
    var one: UInt64 = 1
    _ = unsafe write(wakeUp, &one, 8)
  }

  private func wait() {
    while true {
      let (isArmed, isWriting, isFinished) = state.withLock { ($0.isArmed, $0.isWriting, $0.isFinished) }
      if isFinished { break }
      var events = [pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0)]
      if isArmed {
        events.append(
          pollfd(fd: descriptor, events: Int16(POLLIN) | (isWriting ? Int16(POLLOUT) : 0), revents: 0))
      }
      let count = unsafe poll(&events, nfds_t(events.count), -1)
      guard count > 0 else { continue }
      if events[0].revents != 0 {
        var value: UInt64 = 0
        _ = unsafe read(wakeUp, &value, 8)
      }
      if isArmed, events[1].revents != 0 {
        state.withLock { $0.isArmed = false }
        ready.offer(())
      }
    }
    ready.finish()
  }
}
