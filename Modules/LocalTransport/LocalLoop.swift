internal import CLinux
internal import Glibc
internal import Lifecycle
internal import Streams
internal import Transports

/// The thread behind a `LocalTransport`: waits on every socket, the directory and the clock, and does what others ask
/// of it through a queue. Everything in `LocalLoopState` is touched by this thread alone.
final class LocalLoop: Sendable {
  enum Command: Sendable {
    case scan(Bool)
    case dial(String, progress: @Sendable (DialStep) -> Void, answer: Channel<Result<LocalLink, TransportError>>)
    case awaitRoom(LinkID)
    case close(LinkID, LinkEnd)
    case delay([UInt8], LinkID, due: MonotonicTime)
    case stop
  }

  private struct Shared: Sendable {
    var commands: [Command] = []
    var isStopped = false
  }

  let directory: LocalDirectory
  let context: TransportContext
  let sightings: Hints<TransportAddress, Sighting>
  let inbound: Channel<any TransportLink>
  /// Finishes when the thread has ended.
  let ended = Channel<LocalDirectory.Failure>(capacity: 1)
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
        Glibc.close(listener)
        ended.offer(.systemCall("epoll", code: errno))
        ended.finish()
        return
      }
      let state = LocalLoopState(loop: self, listener: listener, poller: poller, wakeUp: wakeUp)
      state.run()
      ended.finish()
    }
  }

  func enqueue(_ command: Command) {
    let isFirst = shared.withLock { shared in
      shared.commands.append(command)
      return shared.commands.count == 1
    }
    if isFirst { wake() }
  }

  func takeCommands() -> [Command] {
    var value: UInt64 = 0
    _ = unsafe read(wakeUp, &value, 8)
    return shared.withLock { shared in
      defer { shared.commands = [] }
      return shared.commands
    }
  }

  private func wake() {
    var one: UInt64 = 1
    _ = unsafe Glibc.write(wakeUp, &one, 8)
  }

  func fraction() -> Double { Double(context.random() >> 11) / Double(1 << 53) }
  func awaitRoom(on id: LinkID) { enqueue(.awaitRoom(id)) }
  func close(_ id: LinkID, _ end: LinkEnd) { enqueue(.close(id, end)) }

  func delay(_ frame: [UInt8], on id: LinkID, milliseconds: Double) {
    let due = context.time.now().advanced(by: .nanoseconds(Int64(milliseconds * 1_000_000)))
    enqueue(.delay(frame, id, due: due))
  }
}
