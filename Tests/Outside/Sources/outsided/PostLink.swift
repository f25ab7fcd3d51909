import Streams
import Synchronization
import Transports

// snippet: link
/// One end of a link by post.
final class PostLink: TransportLink {
  let id: LinkID
  let role: LinkRole
  let address: TransportAddress
  /// The number that the peer has for this link.
  let peerNumber: UInt64
  let frameSize = 400
  let inputs = Channel<LinkInput>(capacity: TransportsLimits.inputsPerLink)
  private let post: @Sendable ([UInt8]) -> LinkSend
  private let hangUp: @Sendable (PostLink, LinkEnd) -> Void
  private let state = Mutex<(end: LinkEnd?, dropped: UInt64)>((nil, 0))

  init(
    id: LinkID, role: LinkRole, address: TransportAddress, peerNumber: UInt64,
    post: @escaping @Sendable ([UInt8]) -> LinkSend, hangUp: @escaping @Sendable (PostLink, LinkEnd) -> Void
  ) {
    (self.id, self.role, self.address, self.peerNumber) = (id, role, address, peerNumber)
    (self.post, self.hangUp) = (post, hangUp)
  }

  var end: LinkEnd? { state.withLock { $0.end } }
  var droppedFrames: UInt64 { state.withLock { $0.dropped } }

  func send(_ frame: [UInt8]) -> LinkSend {
    guard end == nil else { return .closed }
    guard frame.count <= frameSize else { return .tooLong }
    // A letter that finds no room is lost, as on air: links may lose frames.
    guard post(frame) == .closed else { return .sent }
    hangUp(self, .lost)
    return .closed
  }

  func close() { hangUp(self, .closedHere) }

  func deliver(_ frame: [UInt8]) {
    if inputs.offer(.frame(frame), leaving: TransportsLimits.newsPerLink) == .full {
      state.withLock { $0.dropped += 1 }
    }
  }

  func finish(_ end: LinkEnd) {
    state.withLock { if $0.end == nil { $0.end = end } }
    inputs.finish()
  }
}
// end snippet
