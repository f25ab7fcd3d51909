internal import DBusKit
internal import Streams
internal import Transports

/// One end of a link to a device. `send` puts a frame into a queue that the host empties as the peer grants room.
final class BlueZLink: TransportLink {
  private struct State: Sendable {
    var end: LinkEnd?
    var frameSize: Int
    var queue: [[UInt8]] = []
    var head = 0
    /// The sender was told that there is no room.
    var isBlocked = false
    var dropped: UInt64 = 0

    var count: Int { queue.count - head }
  }

  let id: LinkID
  let role: LinkRole
  let address: TransportAddress
  let inputs = Channel<LinkInput>(capacity: TransportsLimits.inputsPerLink)
  /// The path of the device.
  let device: String
  private let wake: @Sendable (BlueZLink) -> Void
  private let state: Protected<State>

  /// - Parameter wake: there is something to send, or it was closed.
  init(
    id: LinkID, role: LinkRole, address: String, device: String, frameSize: Int,
    wake: @escaping @Sendable (BlueZLink) -> Void
  ) {
    self.id = id
    self.role = role
    self.address = TransportAddress(address)
    self.device = device
    self.wake = wake
    state = Protected(State(frameSize: frameSize))
  }

  var frameSize: Int { state.withLock { $0.frameSize } }
  var end: LinkEnd? { state.withLock { $0.end } }
  var droppedFrames: UInt64 { state.withLock { $0.dropped } }

  func send(_ frame: [UInt8]) -> LinkSend {
    let (answer, isFirst) = state.withLock { state -> (LinkSend, Bool) in
      guard state.end == nil else { return (.closed, false) }
      guard frame.count <= state.frameSize else { return (.tooLong, false) }
      guard state.count < BlueZLimits.queuedFrames else {
        state.isBlocked = true
        return (.full, false)
      }
      state.queue.append(frame)
      return (.sent, state.count == 1)
    }
    if isFirst { wake(self) }
    return answer
  }

  func close() {
    let isFirst = state.withLock { state in
      guard state.end == nil else { return false }
      state.end = .closedHere
      return true
    }
    if isFirst { wake(self) }
  }

  // MARK: For the host

  func takeFrame() -> [UInt8]? {
    let (frame, isWritable) = state.withLock { state -> ([UInt8]?, Bool) in
      guard state.count > 0 else { return (nil, false) }
      let frame = state.queue[state.head]
      state.head += 1
      if state.head == state.queue.count {
        state.queue.removeAll(keepingCapacity: true)
        state.head = 0
      }
      guard state.isBlocked, state.count <= BlueZLimits.queuedFrames / 2 else { return (frame, false) }
      state.isBlocked = false
      return (frame, true)
    }
    if isWritable { inputs.offer(.writable) }
    return frame
  }

  var isWaiting: Bool { state.withLock { $0.count > 0 } }

  /// Whether whoever reads the frames keeps up.
  var hasRoom: Bool { inputs.count < TransportsLimits.inputsPerLink / 2 }

  /// - Returns: false when nobody has read for so long that the frame was dropped.
  func deliver(_ frame: [UInt8]) -> Bool {
    guard inputs.offer(.frame(frame), leaving: TransportsLimits.newsPerLink) == .full else { return true }
    state.withLock { $0.dropped += 1 }
    return false
  }

  func setFrameSize(_ size: Int) {
    let isNew = state.withLock { state in
      defer { state.frameSize = size }
      return state.frameSize != size
    }
    if isNew { inputs.offer(.frameSize(size)) }
  }

  func finish(_ end: LinkEnd) {
    state.withLock { state in
      state.end = state.end ?? end
      state.queue = []
      state.head = 0
    }
    inputs.finish()
  }
}
