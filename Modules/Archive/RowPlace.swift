internal import Bytes

/// Where a sealed row stands. It is authenticated with what is sealed, so that a row means nothing in another place:
/// rows cannot be exchanged, renumbered, given another time or another state.
///
/// Layout: table (1 byte), then for a message its number (8), both tokens (16 each), the time it was stored (8) and its
/// state; for a card or a contact its token (16) and place in the order (8); for the proof of a phase its name; for packets seen the number of
/// their group (8). The store
/// is in the key. A row that was deleted, and a whole file that was put back, is not noticed by this; for the latter
/// there is `MessageArchive.remember(number:)`.
enum RowPlace {
  case message(number: Int64, author: [UInt8], message: [UInt8], stored: UInt64, state: String)
  case card(peer: [UInt8], saved: Int64)
  case contact(peer: [UInt8], used: Int64)
  /// The proof of a phase, and what else there is one of.
  case phase(String)
  case seen(number: Int64)

  func write(to bytes: inout [UInt8]) {
    bytes.removeAll(keepingCapacity: true)
    switch self {
    case .message(let number, let author, let message, let stored, let state):
      bytes.append(1)
      bytes.append(bigEndian: number)
      bytes.append(contentsOf: author)
      bytes.append(contentsOf: message)
      bytes.append(bigEndian: stored)
      bytes.append(contentsOf: state.utf8)
    case .card(let peer, let saved):
      bytes.append(2)
      bytes.append(contentsOf: peer)
      bytes.append(bigEndian: saved)
    case .contact(let peer, let used):
      bytes.append(3)
      bytes.append(contentsOf: peer)
      bytes.append(bigEndian: used)
    case .phase(let name):
      bytes.append(4)
      bytes.append(contentsOf: name.utf8)
    case .seen(let number):
      bytes.append(5)
      bytes.append(bigEndian: number)
    }
  }
}
