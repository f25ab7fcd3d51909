internal import Bytes

/// Cuts one packet into the frames of one link. All fragments but the last are of one size. It asks nothing of a clock:
/// when to send what is the link's matter.
package struct Fragmenter: Sendable {
  package let packet: [UInt8]
  package let key: UInt64
  /// Frames the packet takes: 1 when it goes whole.
  package let frameCount: Int
  private let dataByteCount: Int

  /// `payloadByteCount` is what one frame of the link carries after its security, at least 38. Refuses smaller frames
  /// and packets beyond their limit.
  package init(packet: [UInt8], key: UInt64, payloadByteCount: Int) throws(WireError) {
    guard payloadByteCount >= WireLimits.smallestPayloadByteCount else {
      throw .payloadTooSmall(byteCount: payloadByteCount, limit: WireLimits.smallestPayloadByteCount)
    }
    guard packet.count <= WireLimits.packetByteCount else {
      throw .tooLarge(byteCount: packet.count, limit: WireLimits.packetByteCount)
    }
    self.packet = packet
    self.key = key
    if packet.count < payloadByteCount {
      dataByteCount = packet.count
      frameCount = 1
    } else {
      dataByteCount = payloadByteCount - WireLimits.fragmentHeadByteCount
      frameCount = (packet.count + dataByteCount - 1) / dataByteCount
    }
  }

  /// Appends frame `index` (0 to `frameCount` − 1) to `bytes`. An index outside appends nothing: it is what a
  /// neighbour asked for.
  package func appendFrame(_ index: Int, to bytes: inout [UInt8]) {
    guard (0..<frameCount).contains(index) else { return }
    guard frameCount > 1 else {
      LinkFrame.appendPacket(packet.rawSpan, to: &bytes)
      return
    }
    guard let head = try? FragmentHead(key: key, index: index, count: frameCount) else { return }
    let start = index * dataByteCount
    let end = min(start + dataByteCount, packet.count)
    LinkFrame.appendFragment(head, data: packet.rawSpan.extracting(start..<end), to: &bytes)
  }

  /// All frames in order.
  package var frames: [[UInt8]] {
    (0..<frameCount).map { index in
      var frame: [UInt8] = []
      appendFrame(index, to: &frame)
      return frame
    }
  }

  /// The fragments that a neighbour asks for again, those that there are.
  package func indices(in ranges: [FragmentRange]) -> [Int] {
    ranges.flatMap { range in (max(range.first, 0)..<max(min(range.end, frameCount), max(range.first, 0))) }
  }
}
