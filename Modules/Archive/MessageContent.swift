internal import Bytes
internal import Identities
internal import Sessions

/// What is sealed of a message: everything but its number, the time it was stored and its state.
///
/// Layout, numbers big endian: version 1, flags (1 bot, 2 echo, 4 personal, 8 packet, 16 late), author (16), ID (16), peer (16,
/// when personal), sent (8), hops (1), length of the name (2) and name, length of the text (4) and text, number of relays
/// (2) and relays (4 each), and the packet, when there is one, up to the end.
enum MessageContent {
  static let version: UInt8 = 1

  static func encode(_ message: StoredMessage) -> [UInt8] {
    let (name, text) = (Array(message.authorName.utf8.prefix(0xFFFF)), Array(message.text.utf8))
    let peer = message.conversation.peer
    var bytes: [UInt8] = []
    bytes.reserveCapacity(80 + name.count + text.count + message.path.count * 4 + (message.packet?.count ?? 0))
    bytes.append(version)
    bytes.append(
      (message.isFromBot ? 1 : 0) | (message.isEcho ? 2 : 0) | (peer == nil ? 0 : 4) | (message.packet == nil ? 0 : 8)
        | (message.isLate ? 16 : 0))
    bytes.append(contentsOf: message.author.bytes)
    bytes.append(contentsOf: message.id.bytes)
    if let peer { bytes.append(contentsOf: peer.bytes) }
    bytes.append(bigEndian: message.sentMilliseconds)
    bytes.append(message.hops)
    bytes.append(bigEndian: UInt16(name.count))
    bytes.append(contentsOf: name)
    bytes.append(bigEndian: UInt32(truncatingIfNeeded: text.count))
    bytes.append(contentsOf: text)
    let path = message.path.prefix(0xFFFF)
    bytes.append(bigEndian: UInt16(path.count))
    for entry in path { bytes.append(bigEndian: entry) }
    if let packet = message.packet { bytes.append(contentsOf: packet) }
    return bytes
  }

  /// Nil for what no version of ours has sealed.
  static func decode(_ bytes: [UInt8], stored: UInt64, state: MessageState) -> StoredMessage? {
    do {
      var reader = ByteReader(bytes.rawSpan)
      guard try reader.u8() == version else { return nil }
      let flags = try reader.u8()
      let author = PeerID(high: try reader.u64(), low: try reader.u64())
      let id = MessageID(high: try reader.u64(), low: try reader.u64())
      let peer = flags & 4 != 0 ? PeerID(high: try reader.u64(), low: try reader.u64()) : nil
      let sent = try reader.u64()
      let hops = try reader.u8()
      guard let name = String(validating: try reader.array(Int(try reader.u16())), as: UTF8.self),
        let text = String(validating: try reader.array(Int(try reader.u32())), as: UTF8.self)
      else { return nil }
      let path = StoredMessage.path(try reader.array(Int(try reader.u16()) * 4))
      return StoredMessage(
        id: id, conversation: peer.map { .peer($0) } ?? .everyone, author: author, authorName: name,
        isFromBot: flags & 1 != 0, isEcho: flags & 2 != 0, text: text, sentMilliseconds: sent,
        storedMilliseconds: stored, hops: hops, path: path, state: state, isLate: flags & 16 != 0,
        packet: flags & 8 != 0 ? try reader.array(reader.remaining) : nil)
    } catch {
      return nil
    }
  }

  /// Where the text lies in what was sealed.
  static func text(of bytes: [UInt8]) -> Range<Int>? {
    guard bytes.count >= 2 else { return nil }
    let name = 34 + (bytes[1] & 4 != 0 ? 16 : 0) + 9
    let text = name + 2 + Int(bytes.rawSpan.number(UInt16.self, at: name))
    let start = text + 4
    let end = start + Int(bytes.rawSpan.number(UInt32.self, at: text))
    return start <= end && end <= bytes.count ? start..<end : nil
  }
}
