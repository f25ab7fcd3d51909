internal import Bytes

/// What one link carries at once, after the link's security opened it. The first byte is the type:
///
/// | type | frame | after the type |
/// |---|---|---|
/// | 1 | packet | the packet |
/// | 2 | fragment | key 8 · index 2 · count 2 · data |
/// | 3 | acknowledgment | keys 8 each, at least one |
/// | 4 | fragment request | key 8 · ranges: first 2 · count 2, at least one, in order |
/// | 5 | ping | token 8 |
/// | 6 | pong | token 8 |
/// | 7 | goodbye | reason 1 |
/// | 64 | prune | origin tags 8 each, at least one: push nothing more of these to me |
/// | 65 | announcement | keys 8 each, at least one: I have these |
/// | 66 | graft | keys 8 each, at least one: send me these, and push their origins to me again |
/// | 67 | reopen | origin tags 8 each: push these to me again; none means all |
/// | 68–72 | reconciliation | see `ReconciliationFrame` |
/// | 73 | widen | scope 1, 0 or 2 · keys 8 each, at least one: these are to go so far now |
///
/// Types 64 and above are ignored and counted by nodes that do not know them; others are refused. Types 64 to 73 belong to
/// one link: they are neither acknowledged nor passed on, and one that is lost is made up for by the next.
package enum LinkFrame: Hashable, Sendable {
  /// The bytes from `packetOffset` on are a packet, not yet decoded.
  case packet
  /// The bytes from `dataOffset` on are a piece of a packet.
  case fragment(FragmentHead)
  /// Packets by their keys that arrived whole.
  case acknowledgment([UInt64])
  case fragmentRequest(key: UInt64, ranges: [FragmentRange])
  case ping(token: UInt64)
  case pong(token: UInt64)
  case goodbye(GoodbyeReason)
  /// Origins whose packets the neighbour gets from somebody else.
  case prune([Tag])
  /// Packets by their keys that the sender has and does not push.
  case announcement([UInt64])
  /// Packets by their keys that the sender misses and has seen announced.
  case graft([UInt64])
  /// Origins whose packets are to be pushed again; empty for all of them.
  case reopen([Tag])
  /// What two neighbours lack of each other's packets.
  case reconciliation(ReconciliationFrame)
  /// Packets by their keys, which the neighbour has, that are to go further than they went with it.
  case widen(PacketScope, [UInt64])
  /// For a later version; the bytes from offset 1 on are its own.
  case ignored(type: UInt8)

  package static let packetOffset = 1
  package static let dataOffset = WireLimits.fragmentHeadByteCount

  /// Reads exactly one frame. Total: any bytes give a frame or an error.
  package init(decoding bytes: RawSpan) throws(WireError) {
    var reader = ByteReader(bytes)
    let type = try reader.field8()
    switch FrameType(rawValue: type) {
    case .packet:
      guard !reader.isAtEnd else { throw .bytes(ByteError(needed: 1, available: 0)) }
      self = .packet
      return
    case .fragment:
      self = .fragment(try FragmentHead(from: &reader))
      guard !reader.isAtEnd else { throw .bytes(ByteError(needed: 1, available: 0)) }
      return
    case .acknowledgment: self = .acknowledgment(try Self.keys(from: &reader))
    case .fragmentRequest:
      let key = try reader.field64()
      self = .fragmentRequest(key: key, ranges: try Self.ranges(from: &reader))
    case .ping: self = .ping(token: try reader.field64())
    case .pong: self = .pong(token: try reader.field64())
    case .goodbye: self = .goodbye(GoodbyeReason(rawValue: try reader.field8()))
    case .prune: self = .prune(try Self.keys(from: &reader).map(Tag.init(rawValue:)))
    case .announcement: self = .announcement(try Self.keys(from: &reader))
    case .graft: self = .graft(try Self.keys(from: &reader))
    case .reopen:
      self = .reopen(reader.isAtEnd ? [] : try Self.keys(from: &reader).map(Tag.init(rawValue:)))
    case .widen:
      let scope = try reader.field8()
      // A lane cannot be made of something wider.
      guard let scope = PacketScope(rawValue: scope), scope != .lane else { throw .scope(scope) }
      self = .widen(scope, try Self.keys(from: &reader))
    case nil where ReconciliationFrame.types.contains(type):
      self = .reconciliation(try ReconciliationFrame(decoding: bytes))
      return
    case nil:
      guard type >= FrameType.firstIgnored else { throw .unknownFrameType(type) }
      self = .ignored(type: type)
      return
    }
    guard reader.isAtEnd else { throw .bytes(ByteError(needed: 0, available: reader.remaining)) }
  }

  private static func keys(from reader: inout ByteReader) throws(WireError) -> [UInt64] {
    let count = reader.remaining / 8
    guard (1...WireLimits.acknowledgedKeyCount).contains(count) else {
      throw .listCount(count, limit: WireLimits.acknowledgedKeyCount)
    }
    var keys: [UInt64] = []
    keys.reserveCapacity(count)
    for _ in 0..<count { keys.append(try reader.field64()) }
    return keys
  }

  private static func ranges(from reader: inout ByteReader) throws(WireError) -> [FragmentRange] {
    let count = reader.remaining / 4
    guard (1...WireLimits.requestedRangeCount).contains(count) else {
      throw .listCount(count, limit: WireLimits.requestedRangeCount)
    }
    var ranges: [FragmentRange] = []
    ranges.reserveCapacity(count)
    // One form only: in order, with a gap between two, none empty, all within what a packet can have.
    var free = 0
    for _ in 0..<count {
      let range = FragmentRange(first: Int(try reader.field16()), count: Int(try reader.field16()))
      guard range.count > 0, range.first >= free, range.end <= WireLimits.fragmentCount else { throw .ranges }
      free = range.end + 1
      ranges.append(range)
    }
    return ranges
  }
}

/// The first byte of a frame.
enum FrameType: UInt8 {
  case packet = 1
  case fragment = 2
  case acknowledgment = 3
  case fragmentRequest = 4
  case ping = 5
  case pong = 6
  case goodbye = 7
  case prune = 64
  case announcement = 65
  case graft = 66
  case reopen = 67
  case widen = 73

  /// From here on a type that is not known is ignored instead of refused.
  static let firstIgnored: UInt8 = 64
}
