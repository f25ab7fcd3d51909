internal import Bytes

/// Encoders that append to what the caller reuses. Nothing is checked twice: what they take is already in range.
extension LinkFrame {
  /// Appends a frame that carries a whole packet.
  package static func appendPacket(_ packet: RawSpan, to bytes: inout [UInt8]) {
    bytes.append(FrameType.packet.rawValue)
    bytes.append(copying: packet)
  }

  /// Appends a frame that carries a piece of a packet.
  package static func appendFragment(_ head: FragmentHead, data: RawSpan, to bytes: inout [UInt8]) {
    bytes.append(FrameType.fragment.rawValue)
    bytes.append(bigEndian: head.key)
    bytes.append(bigEndian: UInt16(truncatingIfNeeded: head.index))
    bytes.append(bigEndian: UInt16(truncatingIfNeeded: head.count))
    bytes.append(copying: data)
  }

  /// Appends acknowledgment frames for all of `keys`, as many keys in each as `payloadByteCount` and the limit allow,
  /// as separate frames.
  package static func acknowledgments(of keys: [UInt64], payloadByteCount: Int) -> [[UInt8]] {
    cut(keys, payloadByteCount: payloadByteCount).map { LinkFrame.acknowledgment($0).encoded }
  }

  /// The bytes of a frame that lists keys or origins, as several frames where it does not fit one; one frame of any other
  /// kind as it is.
  package func encoded(payloadByteCount: Int) -> [[UInt8]] {
    switch self {
    case .prune(let origins): Self.cut(origins, payloadByteCount: payloadByteCount).map { LinkFrame.prune($0).encoded }
    case .announcement(let keys):
      Self.cut(keys, payloadByteCount: payloadByteCount).map { LinkFrame.announcement($0).encoded }
    case .graft(let keys): Self.cut(keys, payloadByteCount: payloadByteCount).map { LinkFrame.graft($0).encoded }
    case .reopen(let origins) where !origins.isEmpty:
      Self.cut(origins, payloadByteCount: payloadByteCount).map { LinkFrame.reopen($0).encoded }
    case .reconciliation(let frame): frame.cut(payloadByteCount: payloadByteCount).map(\.encoded)
    case .widen(let scope, let keys):
      Self.cut(keys, payloadByteCount: payloadByteCount - 1).map { LinkFrame.widen(scope, $0).encoded }
    default: [encoded]
    }
  }

  private static func cut<Item>(_ items: [Item], payloadByteCount: Int) -> [[Item]] {
    let perFrame = min(max((payloadByteCount - 1) / 8, 1), WireLimits.acknowledgedKeyCount)
    return stride(from: 0, to: items.count, by: perFrame).map { start in
      Array(items[start..<min(start + perFrame, items.count)])
    }
  }

  /// Appends the frame. `content` is what follows the head of a packet, fragment or ignored frame, and nothing for
  /// the others.
  package func append(to bytes: inout [UInt8], content: RawSpan) {
    switch self {
    case .packet: Self.appendPacket(content, to: &bytes)
    case .fragment(let head): Self.appendFragment(head, data: content, to: &bytes)
    case .ignored(let type):
      bytes.append(type)
      bytes.append(copying: content)
    default: bytes.append(contentsOf: encoded)
    }
  }

  /// The frame's bytes, without content for those that carry one.
  package var encoded: [UInt8] {
    var bytes: [UInt8] = []
    switch self {
    case .packet: bytes.append(FrameType.packet.rawValue)
    case .fragment(let head):
      let nothing: [UInt8] = []
      Self.appendFragment(head, data: nothing.rawSpan, to: &bytes)
    case .acknowledgment(let keys): Self.append(.acknowledgment, keys, to: &bytes)
    case .fragmentRequest(let key, let ranges):
      bytes.append(FrameType.fragmentRequest.rawValue)
      bytes.append(bigEndian: key)
      for range in ranges {
        bytes.append(bigEndian: UInt16(truncatingIfNeeded: range.first))
        bytes.append(bigEndian: UInt16(truncatingIfNeeded: range.count))
      }
    case .ping(let token):
      bytes.append(FrameType.ping.rawValue)
      bytes.append(bigEndian: token)
    case .pong(let token):
      bytes.append(FrameType.pong.rawValue)
      bytes.append(bigEndian: token)
    case .goodbye(let reason):
      bytes.append(FrameType.goodbye.rawValue)
      bytes.append(reason.rawValue)
    case .prune(let origins): Self.append(.prune, origins.lazy.map(\.rawValue), to: &bytes)
    case .announcement(let keys): Self.append(.announcement, keys, to: &bytes)
    case .graft(let keys): Self.append(.graft, keys, to: &bytes)
    case .reopen(let origins): Self.append(.reopen, origins.lazy.map(\.rawValue), to: &bytes)
    case .reconciliation(let frame): bytes.append(contentsOf: frame.encoded)
    case .widen(let scope, let keys):
      bytes.append(FrameType.widen.rawValue)
      bytes.append(scope.rawValue)
      for key in keys { bytes.append(bigEndian: key) }
    case .ignored(let type): bytes.append(type)
    }
    return bytes
  }

  private static func append(_ type: FrameType, _ numbers: some Sequence<UInt64>, to bytes: inout [UInt8]) {
    bytes.append(type.rawValue)
    for number in numbers { bytes.append(bigEndian: number) }
  }

  /// Where the content of a packet, fragment or ignored frame begins; the frame's end for the others.
  package func contentOffset(in byteCount: Int) -> Int {
    switch self {
    case .packet, .ignored: 1
    case .fragment: Self.dataOffset
    default: byteCount
    }
  }
}
