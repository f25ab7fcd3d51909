internal import Bytes
internal import Identities
internal import Sessions

/// What is sealed of a contact: all of it.
///
/// Layout: version 1, flags (1 blocked, 2 meant, 4 addressed), peer (16), length of the state (1) and state, length of
/// the name (2) and name, then the rivals (16 each).
enum ContactContent {
  static func flags(_ contact: Contact) -> UInt8 {
    (contact.isBlocked ? 1 : 0) | (contact.isMeant ? 2 : 0) | (contact.isAddressed ? 4 : 0)
  }

  static func encode(_ contact: Contact) -> [UInt8] {
    var bytes: [UInt8] = [1, flags(contact)]
    bytes.append(contentsOf: contact.peer.bytes)
    bytes.append(UInt8(truncatingIfNeeded: contact.state.rawValue.utf8.count))
    bytes.append(contentsOf: contact.state.rawValue.utf8)
    bytes.append(bigEndian: UInt16(truncatingIfNeeded: contact.name.text.utf8.count))
    bytes.append(contentsOf: contact.name.text.utf8)
    for rival in contact.rivals { bytes.append(contentsOf: rival.bytes) }
    return bytes
  }

  static func decode(_ bytes: [UInt8]) -> Contact? {
    do {
      var reader = ByteReader(bytes.rawSpan)
      guard try reader.u8() == 1 else { return nil }
      let flags = try reader.u8()
      let peer = PeerID(high: try reader.u64(), low: try reader.u64())
      guard let stateText = String(validating: try reader.array(Int(try reader.u8())), as: UTF8.self),
        let state = ContactState(rawValue: stateText),
        let nameText = String(validating: try reader.array(Int(try reader.u16())), as: UTF8.self)
      else { return nil }
      return contact(
        peer: peer, name: try PeerName(nameText), state: state, flags: Int64(flags),
        rivals: try reader.array(reader.remaining))
    } catch {
      return nil
    }
  }

  static func contact(peer: PeerID, name: PeerName, state: ContactState, flags: Int64, rivals: [UInt8]) -> Contact {
    Contact(
      peer: peer, name: name, state: state, isBlocked: flags & 1 != 0,
      rivals: stride(from: 0, to: rivals.count - rivals.count % PeerID.byteCount, by: PeerID.byteCount).compactMap {
        PeerID(bytes: Array(rivals[$0..<$0 + PeerID.byteCount]))
      }, isMeant: flags & 2 != 0, isAddressed: flags & 4 != 0)
  }
}
