import Glibc
import Synchronization

/// The signals that a program reacts to.
package enum UnixSignal: Sendable, CaseIterable {
  case terminate, interrupt, hangUp

  package var number: Int32 {
    switch self {
    case .terminate: SIGTERM
    case .interrupt: SIGINT
    case .hangUp: SIGHUP
    }
  }
}

/// The writing end of the pipe that the handler tells signals to. A handler may do little more than load an integer
/// and call `write(2)`.
private let handlerPipe = Atomic<Int32>(-1)

/// Turns SIGTERM, SIGINT and SIGHUP into a stream, and ignores SIGPIPE for good, so that a peer that has gone shows as
/// an error of the call.
///
/// One per process at a time: the dispositions of signals are process-wide.
package enum UnixSignals {
  package enum Failure: Error, Equatable {
    case alreadyInstalled
    case systemCall(code: Int32)
  }

  /// Installs the handlers and returns the signals as they come. When the stream's reader ends, the default
  /// dispositions return.
  package static func stream(_ signals: [UnixSignal] = UnixSignal.allCases) throws(Failure) -> AsyncStream<UnixSignal> {
    ignoreBrokenPipes()
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw .systemCall(code: errno) }
    let (reading, writing) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(writing, F_SETFL, O_NONBLOCK)
    guard handlerPipe.compareExchange(expected: -1, desired: writing, ordering: .sequentiallyConsistent).exchanged
    else {
      close(reading)
      close(writing)
      throw .alreadyInstalled
    }

    let (stream, continuation) = AsyncStream.makeStream(
      of: UnixSignal.self, bufferingPolicy: .bufferingNewest(LifecycleLimits.waitingSignals))
    for signal in signals { setHandler(signal.number) }
    continuation.onTermination = { _ in
      for signal in signals { Glibc.signal(signal.number, SIG_DFL) }
      handlerPipe.store(-1, ordering: .sequentiallyConsistent)
      close(writing)
    }
    WorkerThread.start(name: "signals") {
      var number: UInt8 = 0
      while true {
        let size = unsafe read(reading, &number, 1)
        if size < 0 && errno == EINTR { continue }
        guard size == 1 else { break }
        if let signal = signals.first(where: { $0.number == Int32(number) }) { continuation.yield(signal) }
      }
      close(reading)
    }
    return stream
  }

  /// For programs that write to sockets and pipes but need no other signal.
  package static func ignoreBrokenPipes() { Glibc.signal(SIGPIPE, SIG_IGN) }

  private static func setHandler(_ number: Int32) {
    _ = handlerPipe.load(ordering: .relaxed)
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { number in
      let saved = errno
      var byte = UInt8(truncatingIfNeeded: number)
      _ = unsafe write(handlerPipe.load(ordering: .relaxed), &byte, 1)
      errno = saved
    }
    action.sa_flags = SA_RESTART
    unsafe sigemptyset(&action.sa_mask)
    _ = unsafe sigaction(number, &action, nil)
  }
}
