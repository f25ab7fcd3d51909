internal import CLinux
internal import Glibc
internal import Lifecycle
internal import Streams
internal import Transports

/// The thread behind a `LocalRadio`: waits on every socket, the directory and the clock, and does what others ask
/// of it through a queue. Everything in `LocalLoopState` is touched by this thread alone.
///
/// The queue is bounded: dials by `LocalTransportLimits.waitingDials`, and each link asks for each thing once until it
/// was done.
final class LocalLoop: Sendable {
  /// Where a dial is answered. Finished by whoever dialled when it gives up; a link that comes then is closed.
  typealias Answer = Channel<Result<LocalLink, TransportError>>

  enum Command: Sendable {
    case scan(Bool)
    case dial(String, progress: @Sendable (DialStep) -> Void, answer: Answer)
    /// Whoever dialled has given up.
    case abandon(Answer)
    case awaitRoom(LinkID)
    case flush(LinkID)
    case close(LinkID)
    case stop
  }

  private struct Shared: Sendable {
    var commands: [Command] = []
    var waitingDials = 0
    var hasEnded = false
    var failure: LocalDirectory.Failure?
    var waiter: CheckedContinuation<Void, Never>?
  }

  let directory: LocalDirectory
  let context: TransportContext
  let sightings: Hints<TransportAddress, Sighting>
  let inbound: Channel<any TransportLink>
  private let shared = Protected(Shared())
  private let wakeUp: Int32

  init(
    directory: LocalDirectory, context: TransportContext, sightings: Hints<TransportAddress, Sighting>,
    inbound: Channel<any TransportLink>
  ) throws(LocalDirectory.Failure) {
    self.directory = directory
    self.context = context
    self.sightings = sightings
    self.inbound = inbound
    wakeUp = eventfd(0, Int32(O_NONBLOCK) | Int32(O_CLOEXEC))
    guard wakeUp >= 0 else { throw .systemCall("eventfd", code: errno) }
  }

  deinit { Glibc.close(wakeUp) }

  /// Starts the thread; it ends after `.stop`.
  func start(listener: Int32) {
    WorkerThread.start(name: "local") { [self] in
      guard let poller = Poller(limit: 64) else {
        let code = errno
        Glibc.close(listener)
        end(.systemCall("epoll_create1", code: code))
        return
      }
      end(LocalLoopState(loop: self, listener: listener, poller: poller, wakeUp: wakeUp).run())
    }
  }

  /// Returns when the thread has ended and every socket is closed, whether or not the task is cancelled.
  ///
  /// - Returns: why it ended, if nobody asked it to.
  func waitUntilEnded() async -> LocalDirectory.Failure? {
    await withCheckedContinuation { continuation in
      let hasEnded = shared.withLock { shared in
        if !shared.hasEnded { shared.waiter = continuation }
        return shared.hasEnded
      }
      if hasEnded { continuation.resume() }
    }
    return shared.withLock { $0.failure }
  }

  private func end(_ failure: LocalDirectory.Failure?) {
    let (waiter, commands) = shared.withLock { shared in
      shared.hasEnded = true
      shared.failure = failure
      defer { (shared.waiter, shared.commands) = (nil, []) }
      return (shared.waiter, shared.commands)
    }
    for command in commands {
      if case .dial(_, _, let answer) = command { answer.offer(.failure(.notPoweredOn)) }
    }
    waiter?.resume()
  }

  enum Acceptance { case accepted, tooMany, ended }

  @discardableResult
  func enqueue(_ command: Command) -> Acceptance {
    let (acceptance, isFirst) = shared.withLock { shared -> (Acceptance, Bool) in
      guard !shared.hasEnded else { return (.ended, false) }
      switch command {
      case .dial:
        guard shared.waitingDials < LocalTransportLimits.waitingDials else { return (.tooMany, false) }
        shared.waitingDials += 1
      case .scan: shared.commands.removeAll { if case .scan = $0 { true } else { false } }
      default: break
      }
      shared.commands.append(command)
      return (.accepted, shared.commands.count == 1)
    }
    if isFirst { wake() }
    return acceptance
  }

  func takeCommands() -> [Command] {
    var value: UInt64 = 0
    _ = unsafe read(wakeUp, &value, 8)
    return shared.withLock { shared in
      defer { (shared.commands, shared.waitingDials) = ([], 0) }
      return shared.commands
    }
  }

  private func wake() {
    var one: UInt64 = 1
    _ = unsafe Glibc.write(wakeUp, &one, 8)
  }

  func fraction() -> Double { Double(context.random() >> 11) / Double(1 << 53) }
}
