import Routing
import Streams
import Testing
import WireFormat

@testable import Links

/// Frames of the trees on their way to one neighbour.
@Suite struct ControlFrameTests {
  let now = MonotonicTime(nanoseconds: 1_000_000_000)

  @Test func theyGoAheadOfPackets() {
    var transfer = LinkTransfer(bytesPerSecond: 100_000)
    transfer.enqueue(
      OutgoingPacket(
        key: 1, bytes: [UInt8](repeating: 0, count: 40), trafficClass: .control, since: now,
        expiry: now.advanced(by: .seconds(10))))
    let frame = LinkFrame.announcement((0..<30).map { $0 })
    for content in frame.encoded(payloadByteCount: 100) { transfer.enqueue(content: content) }
    for _ in 0..<3 {
      let content = transfer.nextContent(limit: 100, now: now)
      #expect(content?.first == 65 && (content?.count ?? 0) <= 100)
    }
    #expect(transfer.nextContent(limit: 100, now: now)?.first == 1)
  }

  @Test func thoseThatAreTooManyPushOutTheOldestAndAreCounted() {
    var transfer = LinkTransfer(bytesPerSecond: 100_000)
    for key in UInt64(0)..<70 { transfer.enqueue(content: LinkFrame.graft([key]).encoded) }
    #expect(transfer.takeDrops() == [.controlFull: 6])
    #expect(transfer.nextContent(limit: 100, now: now) == LinkFrame.graft([6]).encoded)
  }
}
