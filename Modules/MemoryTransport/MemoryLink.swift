internal import Streams
internal import Transports

/// One end of a link in memory.
final class MemoryLink: TransportLink {
  private struct State: Sendable {
    var end: LinkEnd?
    var other: MemoryLink?
    var frameSize: Int
    var dropped: UInt64 = 0
  }

  let id: LinkID
  let role: LinkRole
  let address: TransportAddress
  let inputs = Channel<LinkInput>(capacity: TransportsLimits.inputsPerLink)
  private let local: MemoryRadio
  private let remote: MemoryRadio
  private let state: Protected<State>

  init(id: LinkID, role: LinkRole, local: MemoryRadio, remote: MemoryRadio) {
    self.id = id
    self.role = role
    self.local = local
    self.remote = remote
    address = TransportAddress(remote.name)
    let frameSize = local.medium.conditions(between: local.name, remote.name).frameSize
    state = Protected(State(frameSize: frameSize))
  }

  func join(_ other: MemoryLink) {
    state.withLock { $0.other = other }
    other.state.withLock { $0.other = self }
  }

  var other: MemoryLink? { state.withLock { $0.other } }
  var frameSize: Int { state.withLock { $0.frameSize } }
  var end: LinkEnd? { state.withLock { $0.end } }
  var droppedFrames: UInt64 { state.withLock { $0.dropped } }

  func send(_ frame: [UInt8]) -> LinkSend {
    let (other, end, frameSize) = state.withLock { ($0.other, $0.end, $0.frameSize) }
    guard end == nil, let other else { return .closed }
    guard frame.count <= frameSize else { return .tooLong }
    local.medium.tap(frame)
    guard let delay = local.medium.fate(between: local.name, remote.name) else { return .sent }
    if delay == .zero { other.deliver(frame) } else { remote.schedule(frame, to: other, after: delay) }
    return .sent
  }

  func close() {
    let other = self.other
    finish(.closedHere)
    other?.finish(.closedByPeer)
  }

  func finishBoth(_ end: LinkEnd) {
    let other = self.other
    finish(end)
    other?.finish(end)
  }

  func deliver(_ frame: [UInt8]) {
    guard end == nil else { return }
    if inputs.offer(.frame(frame), leaving: TransportsLimits.newsPerLink) == .full {
      state.withLock { $0.dropped += 1 }
    }
  }

  func refreshFrameSize() {
    let new = local.medium.conditions(between: local.name, remote.name).frameSize
    let isChanged = state.withLock { state in
      defer { state.frameSize = new }
      return state.frameSize != new
    }
    if isChanged { inputs.offer(.frameSize(new)) }
  }

  func finish(_ end: LinkEnd) {
    let isFirst = state.withLock { state in
      guard state.end == nil else { return false }
      state.end = end
      state.other = nil
      return true
    }
    guard isFirst else { return }
    local.forget(id)
    inputs.finish()
  }
}
