internal import Bytes

/// Why the content of a message was refused.
package enum MessageContentError: Error, Sendable, Equatable {
  case truncated
  case unknownType(UInt8)
  case notUTF8
  case empty
  case tooLong(byteCount: Int)
  case trailingBytes
}

/// What a person, a bot or a node says to others, inside the signed body of a packet.
///
///     message ID 16 ‖ type 1 ‖ flags 1 ‖ …
///     type 1 text   UTF-8, 1…4,096 bytes
///     type 2 ping   token 8
///     type 3 pong   token 8 ‖ links the ping had crossed 1 ‖ route of the ping 4 × n, n ≤ 15
///     type 4 delivered   message IDs 16 × n, n from 1 to 32
///     type 5 read        message IDs 16 × n, n from 1 to 32
///
/// Flags: bit 0 the author is a bot, bit 1 this is an echo; the others are ignored by readers.
package struct MessageContent: Sendable, Equatable {
  package enum Substance: Sendable, Equatable {
    case text(String)
    case ping(token: UInt64)
    case pong(token: UInt64, hops: UInt8, route: [UInt32])
    /// These messages of yours are on my disk.
    case delivered([MessageID])
    /// A person has seen these messages of yours.
    case read([MessageID])
  }

  package struct Flags: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let bot = Flags(rawValue: 1)
    package static let echo = Flags(rawValue: 2)
  }

  package var id: MessageID
  package var flags: Flags
  package var substance: Substance

  package init(id: MessageID, flags: Flags = [], substance: Substance) {
    self.id = id
    self.flags = flags
    self.substance = substance
  }

  package var encoded: [UInt8] {
    var writer = ByteWriter(capacity: 64)
    writer.u64(id.high)
    writer.u64(id.low)
    switch substance {
    case .text(let text):
      writer.u8(1)
      writer.u8(flags.rawValue)
      writer.bytes(text.utf8)
    case .ping(let token):
      writer.u8(2)
      writer.u8(flags.rawValue)
      writer.u64(token)
    case .pong(let token, let hops, let route):
      writer.u8(3)
      writer.u8(flags.rawValue)
      writer.u64(token)
      writer.u8(hops)
      for entry in route.prefix(15) { writer.u32(entry) }
    case .delivered(let ids): Self.write(ids, type: 4, flags: flags, into: &writer)
    case .read(let ids): Self.write(ids, type: 5, flags: flags, into: &writer)
    }
    return writer.bytes
  }

  package init(decoding bytes: [UInt8]) throws(MessageContentError) {
    do {
      var reader = ByteReader(bytes.rawSpan)
      id = MessageID(high: try reader.u64(), low: try reader.u64())
      let type = try reader.u8()
      flags = Flags(rawValue: try reader.u8())
      switch type {
      case 1: substance = .text(try Self.text(bytes[reader.position...]))
      case 2:
        substance = .ping(token: try reader.u64())
        try reader.finish()
      case 3:
        let token = try reader.u64()
        let hops = try reader.u8()
        var route: [UInt32] = []
        while reader.remaining >= 4, route.count < 15 { route.append(try reader.u32()) }
        substance = .pong(token: token, hops: hops, route: route)
        try reader.finish()
      case 4: substance = .delivered(try Self.messageIDs(from: &reader))
      case 5: substance = .read(try Self.messageIDs(from: &reader))
      default: throw MessageContentError.unknownType(type)
      }
    } catch let error as MessageContentError {
      throw error
    } catch let error as ByteError {
      throw error.needed < error.available ? .trailingBytes : .truncated
    } catch {
      throw .truncated
    }
  }

  private static func write(
    _ ids: [MessageID], type: UInt8, flags: Flags, into writer: inout ByteWriter
  ) {
    writer.u8(type)
    writer.u8(flags.rawValue)
    for id in ids.prefix(SessionsLimits.receiptMessages) {
      writer.u64(id.high)
      writer.u64(id.low)
    }
  }

  private static func messageIDs(from reader: inout ByteReader) throws(ByteError) -> [MessageID] {
    var ids = [MessageID(high: try reader.u64(), low: try reader.u64())]
    while !reader.isAtEnd, ids.count < SessionsLimits.receiptMessages {
      ids.append(MessageID(high: try reader.u64(), low: try reader.u64()))
    }
    try reader.finish()
    return ids
  }

  private static func text(_ bytes: ArraySlice<UInt8>) throws(MessageContentError) -> String {
    guard !bytes.isEmpty else { throw .empty }
    guard bytes.count <= SessionsLimits.textBytes else { throw .tooLong(byteCount: bytes.count) }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
    return text
  }
}
