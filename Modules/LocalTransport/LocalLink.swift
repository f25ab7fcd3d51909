internal import CLinux
internal import Glibc
internal import Streams
internal import Transports

/// One end of a link over a socket. `send` writes on the caller's thread; everything else happens on the loop's.
///
/// Frames that the air delays wait here, in order, until the loop finds them due; while any waits, later ones wait
/// behind it, whatever the air does to them.
final class LocalLink: TransportLink {
  private struct Delayed: Sendable {
    var due: MonotonicTime
    var frame: [UInt8]
  }

  private struct State: Sendable {
    var descriptor: Int32
    var end: LinkEnd?
    var conditions: LocalAir.Conditions
    var delayed: [Delayed] = []
    /// The sender was told that there is no room.
    var isBlocked = false
    /// The sender is to be told that there is room.
    var owesWritable = false
    var toldFrameSize: Int
    var dropped: UInt64 = 0

    func write(_ frame: [UInt8]) -> LinkSend {
      guard end == nil else { return .closed }
      let result = unsafe frame.withUnsafeBufferPointer { bytes in
        unsafe clinux_send_marked(descriptor, LocalMessage.frameMark, bytes.baseAddress, bytes.count)
      }
      guard result != 0 else { return .sent }
      return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? .full : .closed
    }
  }

  let id: LinkID
  let role: LinkRole
  let address: TransportAddress
  let inputs = Channel<LinkInput>(capacity: TransportsLimits.inputsPerLink)
  private let loop: LocalLoop
  private let state: Protected<State>

  init(
    id: LinkID, role: LinkRole, address: String, descriptor: Int32, conditions: LocalAir.Conditions,
    loop: LocalLoop
  ) {
    self.id = id
    self.role = role
    self.address = TransportAddress(address)
    self.loop = loop
    state = Protected(State(descriptor: descriptor, conditions: conditions, toldFrameSize: conditions.frameSize))
  }

  var frameSize: Int { state.withLock { $0.conditions.frameSize } }
  var end: LinkEnd? { state.withLock { $0.end } }
  var droppedFrames: UInt64 { state.withLock { $0.dropped } }

  func send(_ frame: [UInt8]) -> LinkSend {
    let (conditions, end) = state.withLock { ($0.conditions, $0.end) }
    guard end == nil else { return .closed }
    guard frame.count <= conditions.frameSize else { return .tooLong }
    guard !conditions.isPlain else { return send(frame, due: nil) }
    guard conditions.loss == 0 || loop.fraction() >= conditions.loss else { return .sent }
    let delay = conditions.delayMilliseconds + conditions.jitterMilliseconds * loop.fraction()
    let due = loop.context.time.now().advanced(by: .nanoseconds(Int64(delay * 1_000_000)))
    return send(frame, due: delay > 0 ? due : nil)
  }

  private enum Call { case none, awaitRoom, flush }

  private func send(_ frame: [UInt8], due: MonotonicTime?) -> LinkSend {
    let (answer, call) = state.withLock { state -> (LinkSend, Call) in
      guard state.end == nil else { return (.closed, .none) }
      if due == nil, state.delayed.isEmpty {
        let answer = state.write(frame)
        guard answer == .full else { return (answer, .none) }
        defer { state.isBlocked = true }
        return (.full, state.isBlocked ? .none : .awaitRoom)
      }
      guard state.delayed.count < LocalTransportLimits.delayedFramesPerLink else {
        state.isBlocked = true
        return (.full, .none)
      }
      let last = state.delayed.last?.due ?? .start
      state.delayed.append(Delayed(due: max(due ?? .start, last), frame: frame))
      return (.sent, state.delayed.count == 1 ? .flush : .none)
    }
    switch call {
    case .none: break
    case .awaitRoom: loop.enqueue(.awaitRoom(id))
    case .flush: loop.enqueue(.flush(id))
    }
    return answer
  }

  func close() {
    let isFirst = state.withLock { state in
      guard state.end == nil else { return false }
      state.end = .closedHere
      return true
    }
    if isFirst { loop.enqueue(.close(id)) }
  }

  // MARK: For the loop

  struct Flushed: Sendable {
    /// When the next delayed frame is due.
    var next: MonotonicTime?
    /// The socket took no more; what is due stays and keeps its order.
    var isFull: Bool
  }

  /// Writes the delayed frames that are due.
  func flush(now: MonotonicTime) -> Flushed {
    state.withLock { state in
      var count = 0
      var answer = LinkSend.sent
      while count < state.delayed.count, state.delayed[count].due <= now {
        answer = state.write(state.delayed[count].frame)
        guard answer != .full else { break }
        count += 1
      }
      state.delayed.removeFirst(count)
      let isFull = answer == .full
      if !isFull, state.isBlocked, state.delayed.count <= LocalTransportLimits.delayedFramesPerLink / 2 {
        state.isBlocked = false
        state.owesWritable = true
      }
      return Flushed(next: state.delayed.first?.due, isFull: isFull)
    }
  }

  /// - Returns: false when the reader has no room: the frame is to be offered again.
  func deliver(_ frame: [UInt8]) -> Bool {
    inputs.offer(.frame(frame), leaving: TransportsLimits.newsPerLink) != .full
  }

  /// Frames that were received and can never be taken.
  func countDropped(_ count: Int) { state.withLock { $0.dropped += UInt64(count) } }

  func setConditions(_ conditions: LocalAir.Conditions) { state.withLock { $0.conditions = conditions } }

  /// Tells the reader of room and of another frame size, where it was not told yet.
  ///
  /// - Returns: false when the reader has no room for the news: to be tried again.
  func tellNews() -> Bool {
    let (size, told, isWritable) = state.withLock { ($0.conditions.frameSize, $0.toldFrameSize, $0.owesWritable) }
    if size != told {
      guard inputs.offer(.frameSize(size)) != .full else { return false }
      state.withLock { $0.toldFrameSize = size }
    }
    if isWritable {
      guard inputs.offer(.writable) != .full else { return false }
      state.withLock { $0.owesWritable = false }
    }
    return true
  }

  /// Takes the descriptor away: nothing is written any more.
  func finish(_ end: LinkEnd) {
    let descriptor = state.withLock { state -> Int32 in
      state.end = state.end ?? end
      state.delayed = []
      defer { state.descriptor = -1 }
      return state.descriptor
    }
    guard descriptor >= 0 else { return }
    _ = Glibc.close(descriptor)
    inputs.finish()
  }
}
