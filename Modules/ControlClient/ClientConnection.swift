internal import CLinux
import ControlAPI
import Glibc
import Lifecycle
import Streams
import Synchronization

/// The socket of a client and the thread that reads and writes it, so that no task ever blocks on it.
final class ClientConnection: Sendable {
  typealias Reply = Result<[UInt8], ControlClientError>

  private struct State: Sendable {
    var pending: [Int64: Channel<Reply>] = [:]
    var lastNumber: Int64 = 0
    var unsent: [UInt8] = []
    var isClosed = false
    /// Why the node ends the connection, when it has said so.
    var refusal: ControlError?

    /// What calls are told that come to nothing.
    var end: ControlClientError { refusal.map { .refused($0) } ?? .connectionLost }
  }

  let events = Channel<ControlEvent>(capacity: ControlClientLimits.waitingEvents)
  private let state = Protected(State())
  private let socket: Int32
  private let wakeDescriptor: Int32

  init(path: String) throws(ControlClientError) {
    socket = try Self.connect(path)
    wakeDescriptor = eventfd(0, Int32(O_CLOEXEC | O_NONBLOCK))
    guard wakeDescriptor >= 0 else {
      let code = errno
      Glibc.close(socket)
      throw .systemCall(name: "eventfd", code: code)
    }
    // The thread holds the connection until it has ended, and closes the descriptors.
    WorkerThread.start(name: "control-client") { self.run() }
  }

  private static func connect(_ path: String) throws(ControlClientError) -> Int32 {
    guard let address = try? UnixSocketAddress(path: path) else { throw .badPath(path: path) }
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let socket = Glibc.socket(AF_UNIX, type, 0)
    guard socket >= 0 else { throw .systemCall(name: "socket", code: errno) }
    if unsafe address.withPointer({ unsafe Glibc.connect(socket, $0, $1) }) == 0 { return socket }
    let code = errno
    Glibc.close(socket)
    switch code {
    case ENOENT, ECONNREFUSED, ENOTDIR: throw .notRunning(path: path)
    case EACCES, EPERM: throw .noAccess(path: path)
    default: throw .systemCall(name: "connect", code: code)
    }
  }

  deinit {
    Glibc.close(socket)
    Glibc.close(wakeDescriptor)
  }

  /// Puts the request on its way; the reply comes through the channel.
  func send(_ call: ControlCall) throws(ControlClientError) -> (number: Int64, reply: Channel<Reply>) {
    let reply = Channel<Reply>(capacity: 1)
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    let line: [UInt8]
    do { line = try ControlRequest(id: .number(number), call: call).encode() } catch { throw .refused(error) }
    let problem: ControlClientError? = state.withLock { state in
      if state.isClosed { return state.end }
      guard state.pending.count < ControlClientLimits.pendingCalls,
        state.unsent.count + line.count <= ControlClientLimits.bytesOfRequests
      else { return .tooMuchWaits }
      state.pending[number] = reply
      state.unsent += line
      return nil
    }
    if let problem { throw problem }
    wake()
    return (number, reply)
  }

  /// The reply is not wanted any more.
  func forget(_ number: Int64) { state.withLock { $0.pending[number] = nil } }

  func close() {
    state.withLock { $0.isClosed = true }
    wake()
  }

  private func wake() {
    var one: UInt64 = 1
    _ = unsafe write(wakeDescriptor, &one, 8)
  }

  // MARK: - The thread

  private func run() {
    var buffer = [UInt8](repeating: 0, count: ControlClientLimits.bytesOfTurn)
    var lines = AnswerLines()
    var missed: UInt64 = 0
    while let wantsToWrite = writeWaiting() {
      var polled = [
        pollfd(fd: socket, events: Int16(POLLIN | (wantsToWrite ? POLLOUT : 0)), revents: 0),
        pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0),
      ]
      guard unsafe poll(&polled, nfds_t(polled.count), -1) >= 0 || errno == EINTR else { break }
      var count: UInt64 = 0
      _ = unsafe read(wakeDescriptor, &count, 8)
      guard Int32(polled[0].revents) & ~POLLOUT != 0 else { continue }
      let size = unsafe read(socket, &buffer, buffer.count)
      if size < 0, errno == EAGAIN || errno == EINTR { continue }
      guard size > 0, lines.append(buffer[..<size]) else { break }
      while let line = lines.next() { take(line, &missed) }
    }
    let (pending, end) = state.withLock { state in
      state.isClosed = true
      defer { state.pending = [:] }
      return (state.pending.values, state.end)
    }
    for reply in pending {
      reply.offer(.failure(end))
      reply.finish()
    }
    shutdown(socket, Int32(SHUT_RDWR))
    events.finish()
  }

  /// Whether something is left to write; nil when the connection is at its end.
  private func writeWaiting() -> Bool? {
    while true {
      let unsent = state.withLock { state in state.isClosed ? nil : state.unsent }
      guard let unsent else { return nil }
      guard !unsent.isEmpty else { return false }
      let size = unsafe Glibc.send(socket, unsent, unsent.count, Int32(MSG_NOSIGNAL))
      if size < 0, errno == EINTR { continue }
      // After an error what has arrived is still worth reading; the end shows there.
      guard size > 0 else { return errno == EAGAIN }
      state.withLock { $0.unsent.removeFirst(size) }
    }
  }

  private func take(_ line: [UInt8], _ missed: inout UInt64) {
    switch try? ControlNotice.decode(line) {
    case .answer(.number(let number)): reply(number, .success(line))
    case .failure(.number(let number), let error): reply(number, .failure(.refused(error)))
    case .event(let event):
      if missed > 0 {
        let lagged = ControlEvent(time: event.time, body: .lagged(LaggedEvent(count: missed)))
        if events.offer(lagged) == .accepted { missed = 0 }
      }
      if missed > 0 || events.offer(event) != .accepted { missed += 1 }
    // It answers no request of ours: the node says it before it ends the connection.
    case .failure(nil, let error): state.withLock { $0.refusal = error }
    case .answer, .failure, nil: break
    }
  }

  private func reply(_ number: Int64, _ reply: Reply) {
    let channel = state.withLock { $0.pending.removeValue(forKey: number) }
    channel?.offer(reply)
  }
}

/// Cuts what comes from the node into lines; one that is too long ends the connection.
struct AnswerLines {
  private var buffer: [UInt8] = []
  private var used = 0
  private var searched = 0

  /// False when a line has grown past `ControlAPILimits.bytesOfAnswer`.
  mutating func append(_ bytes: ArraySlice<UInt8>) -> Bool {
    if used > 0 {
      buffer.removeFirst(used)
      searched -= used
      used = 0
    }
    buffer += bytes
    return buffer.count <= ControlAPILimits.bytesOfAnswer + ControlClientLimits.bytesOfTurn
  }

  mutating func next() -> [UInt8]? {
    guard let end = buffer[searched...].firstIndex(of: 0x0A) else {
      searched = buffer.count
      return nil
    }
    defer {
      used = end + 1
      searched = used
    }
    return Array(buffer[used..<end])
  }
}
