internal import Bytes
package import Identities
internal import WireFormat

/// Where a message was said.
package enum Conversation: Sendable, Hashable {
  /// `#public`: signed, readable by every member of the mesh.
  case everyone
  /// With one peer, whoever wrote.
  case peer(PeerID)
}

/// How far a message of our own has come. Each step includes the ones before.
package enum MessageState: String, Sendable, CaseIterable {
  /// On disk, and waiting for a card of the recipient that may still be sealed to.
  case waiting
  /// On disk.
  case accepted
  /// A neighbour has taken it over.
  case sent
  /// The recipient has it on disk and said so, under seal.
  case delivered
  /// The recipient has seen it and said so, under seal.
  case read
  /// Its lifetime ended.
  case expired
  /// It came from another.
  case received
}

/// A message as it is kept and shown.
package struct StoredMessage: Sendable, Equatable {
  package var id: MessageID
  package var conversation: Conversation
  package var author: PeerID
  /// The author's name when the message came.
  package var authorName: String
  package var isFromBot: Bool
  package var isEcho: Bool
  package var text: String
  /// The author's clock, milliseconds since 1970; shown, and used for order beside the arrival.
  package var sentMilliseconds: UInt64
  /// Our clock when it came or was written.
  package var storedMilliseconds: UInt64
  /// Links it has crossed; 0 for our own.
  package var hops: UInt8
  /// The relays that wrote themselves into its route, first to last.
  package var path: [UInt32]
  package var state: MessageState
  /// It was under way for so long that it says nothing about now (`SessionsLimits.lateMilliseconds`): it was said before
  /// this node was in reach. By the age that the relays have counted, and not by anybody's clock.
  package var isLate: Bool
  /// The encoded packet of a message of our own, so that it can be sent again after a restart. Its age is what is
  /// missing from the lifetime of its kind.
  package var packet: [UInt8]?

  package init(
    id: MessageID, conversation: Conversation, author: PeerID, authorName: String, isFromBot: Bool, isEcho: Bool,
    text: String, sentMilliseconds: UInt64, storedMilliseconds: UInt64, hops: UInt8, path: [UInt32],
    state: MessageState, isLate: Bool = false, packet: [UInt8]? = nil
  ) {
    self.id = id
    self.conversation = conversation
    self.author = author
    self.authorName = authorName
    self.isFromBot = isFromBot
    self.isEcho = isEcho
    self.text = text
    self.sentMilliseconds = sentMilliseconds
    self.storedMilliseconds = storedMilliseconds
    self.hops = hops
    self.path = path
    self.state = state
    self.isLate = isLate
    self.packet = packet
  }
}

extension StoredMessage {
  /// How long the mesh carries it, in milliseconds since it was written: what its kind allows, less the age that its
  /// packet is kept with, because nobody can open it after the erasure of the key it is sealed to.
  package var lifetimeMilliseconds: UInt64 {
    let kind: PacketKind =
      switch conversation {
      case .everyone: .public
      case .peer: .personal
      }
    guard let packet, let header = try? PacketHeader(decoding: packet.rawSpan) else { return kind.lifetime }
    return kind.lifetime - min(kind.lifetime, UInt64(header.age))
  }
}
