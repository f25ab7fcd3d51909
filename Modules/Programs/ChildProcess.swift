internal import CLinux
import Glibc
import Lifecycle
import Streams

/// A process that this one has started.
final class ChildProcess: Sendable {
  let number: pid_t
  private let state = Protected<(status: Int32?, waiter: CheckedContinuation<Void, Never>?)>((nil, nil))

  /// Starts `executable` with its standard output on our standard error and nothing to read, in a process group of its
  /// own, so that a Ctrl-C reaches us first. nil when it cannot be started.
  init?(_ executable: String, _ arguments: [String]) {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, 2, 1)

    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    for signal in [SIGPIPE, SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&defaults, signal) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    // The threads of the pool block signals, and the child would begin with that.
    var mask = sigset_t()
    unsafe sigemptyset(&mask)
    unsafe posix_spawnattr_setsigmask(&attributes, &mask)
    let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

    let words = unsafe ([executable] + arguments).map { unsafe strdup($0) }
    defer { unsafe words.forEach { unsafe free($0) } }
    let argv = unsafe words + [nil]
    var number: pid_t = 0
    guard unsafe posix_spawn(&number, executable, &actions, &attributes, argv, clinux_environment()) == 0 else {
      return nil
    }
    self.number = number
    WorkerThread.start(name: "child") { [self] in waitForEnd() }
  }

  /// nil while it runs, else what `waitpid` said.
  var endStatus: Int32? { state.withLock { $0.status } }

  /// Asks it to end, makes it end when it has not after `patience`, and returns when it has. A cancelled task waits as
  /// well, because an orphan would keep the radio. One caller.
  func stop(patience: Duration = ProgramsLimits.endOfNode) async {
    signal(SIGTERM)
    WorkerThread.start(name: "child-end") { [self] in
      usleep(useconds_t(clamping: patience.components.seconds * 1_000_000))
      signal(SIGKILL)
    }
    await withCheckedContinuation { continuation in
      let hasEnded = state.withLock { state in
        if state.status == nil { state.waiter = continuation }
        return state.status != nil
      }
      if hasEnded { continuation.resume() }
    }
  }

  /// Under the lock the number cannot have gone to another process.
  private func signal(_ number: Int32) {
    state.withLock { if $0.status == nil { kill(self.number, number) } }
  }

  private func waitForEnd() {
    var facts = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(number), &facts, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
    let waiter = state.withLock { state in
      var status: Int32 = 0
      while unsafe waitpid(number, &status, 0) < 0 && errno == EINTR {}
      state.status = status
      return state.waiter.take()
    }
    waiter?.resume()
  }
}
