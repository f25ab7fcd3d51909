internal import CLinux
internal import Glibc
internal import Streams
internal import Transports

/// One end of a link over a socket. `send` writes on the caller's thread; everything else happens on the loop's.
final class LocalLink: TransportLink {
  private struct State: Sendable {
    var descriptor: Int32
    var end: LinkEnd?
    var conditions: LocalAir.Conditions
    var isBlocked = false
    var dropped: UInt64 = 0
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
    state = Protected(State(descriptor: descriptor, conditions: conditions))
  }

  var frameSize: Int { state.withLock { $0.conditions.frameSize } }
  var end: LinkEnd? { state.withLock { $0.end } }
  var droppedFrames: UInt64 { state.withLock { $0.dropped } }

  func send(_ frame: [UInt8]) -> LinkSend {
    let (conditions, end) = state.withLock { ($0.conditions, $0.end) }
    guard end == nil else { return .closed }
    guard !conditions.isPlain else { return write(frame) }
    guard frame.count <= conditions.frameSize else { return .tooLong }
    guard conditions.loss == 0 || loop.fraction() >= conditions.loss else { return .sent }
    let delay = conditions.delayMilliseconds + conditions.jitterMilliseconds * loop.fraction()
    guard delay > 0 else { return write(frame) }
    loop.delay(frame, on: id, milliseconds: delay)
    return .sent
  }

  /// Writes to the socket, past what the air does.
  func write(_ frame: [UInt8]) -> LinkSend {
    let answer = state.withLock { state -> LinkSend in
      guard state.end == nil else { return .closed }
      guard frame.count <= state.conditions.frameSize else { return .tooLong }
      let result = unsafe frame.withUnsafeBufferPointer { bytes in
        unsafe clinux_send_marked(state.descriptor, LocalMessage.frameMark, bytes.baseAddress, bytes.count)
      }
      guard result != 0 else { return .sent }
      if errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS {
        state.isBlocked = true
        return .full
      }
      return .closed
    }
    if answer == .full { loop.awaitRoom(on: id) }
    return answer
  }

  func close() { loop.close(id, .closedHere) }

  // MARK: For the loop

  /// - Returns: false when the reader has no room: the frame is to be offered again.
  func deliver(_ frame: [UInt8]) -> Bool { inputs.offer(.frame(frame)) != .full }

  /// - Returns: false when the reader has no room for the news.
  func tellWritable() -> Bool {
    guard state.withLock({ $0.isBlocked }) else { return true }
    guard inputs.offer(.writable) != .full else { return false }
    state.withLock { $0.isBlocked = false }
    return true
  }

  func setConditions(_ conditions: LocalAir.Conditions) {
    let isResized = state.withLock { state in
      defer { state.conditions = conditions }
      return state.conditions.frameSize != conditions.frameSize
    }
    if isResized { inputs.offer(.frameSize(conditions.frameSize)) }
  }

  /// The loop has taken the descriptor away: nothing is written any more.
  func finish(_ end: LinkEnd) {
    let descriptor = state.withLock { state -> Int32 in
      guard state.end == nil else { return -1 }
      state.end = end
      defer { state.descriptor = -1 }
      return state.descriptor
    }
    guard descriptor >= 0 else { return }
    _ = Glibc.close(descriptor)
    inputs.finish()
  }
}

extension LocalAir.Conditions {
  /// Frames go straight to the socket.
  var isPlain: Bool { loss == 0 && delayMilliseconds == 0 && jitterMilliseconds == 0 }
}
