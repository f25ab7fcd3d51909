internal import CLinux
import Glibc

/// Starts threads for what must not run on the cooperative pool: calls that block on a disk, a socket or a signal.
package enum WorkerThread {
  private final class Body {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }

  /// Runs `body` once on a new detached thread. `name` shows in `top`, 15 bytes of it.
  /// Traps when the system has no more threads, which no caller could go on without.
  package static func start(name: String, _ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(Body(name: String(name.prefix(15)), run: body))
    let result = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        let body = unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
        unsafe body.name.withCString { _ = unsafe clinux_name_thread($0) }
        body.run()
        return nil
      }, context.toOpaque())
    precondition(result == 0, "no thread could be started")
    pthread_detach(thread)
  }
}
