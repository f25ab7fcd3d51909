package import Identities

/// The store could not do what was promised; the caller tells its own caller and promises nothing.
package struct SessionStoreError: Error, Sendable, Equatable {
  package var reason: String

  package init(reason: String) { self.reason = reason }
}

/// Where a session keeps what must survive the process.
///
/// Contract: when a call returns the change is durable, at whatever instruction the process is killed next. Calls may
/// take as long as a disk takes; they never block the thread of the caller.
package protocol SessionStore: Sendable {
  /// Keeps a message.
  ///
  /// - Returns: false when one of this author and ID is there already; nothing is changed then.
  func insert(_ message: StoredMessage) async throws(SessionStoreError) -> Bool

  func setState(_ state: MessageState, of id: MessageID, author: PeerID) async throws(SessionStoreError)

  /// A message that waited for a key was sealed: its packet, and the state that follows.
  func setPacket(_ packet: [UInt8], state: MessageState, of id: MessageID, author: PeerID)
    async throws(SessionStoreError)

  /// Our own messages that wait for a key of their recipient, oldest first.
  func waitingMessages(author: PeerID, limit: Int) async throws(SessionStoreError) -> [StoredMessage]

  func message(_ id: MessageID) async throws(SessionStoreError) -> StoredMessage?

  /// The newest messages in the order they were kept, oldest first; without those that a blocked contact wrote, which
  /// stay.
  func messages(limit: Int) async throws(SessionStoreError) -> [StoredMessage]

  /// Our own messages kept at or after this time whose state is `accepted` or `sent`, oldest first.
  func ownMessages(
    since storedMilliseconds: UInt64, author: PeerID, limit: Int
  ) async throws(SessionStoreError) -> [StoredMessage]

  /// Keeps a peer's card, replacing an older one.
  func save(_ card: VerifiedCard) async throws(SessionStoreError)

  /// Keeps a contact, replacing what was kept of it.
  func save(_ contact: Contact) async throws(SessionStoreError)

  /// Forgets a contact; its card and messages stay.
  func removeContact(_ peer: PeerID) async throws(SessionStoreError)

  /// Every contact kept, saved longest ago first; at most `limit`, of which those go last that a person has decided
  /// about.
  func contacts(limit: Int) async throws(SessionStoreError) -> [Contact]

  /// Every card kept, at most `limit`: those of contacts first, then most recently saved first. What does not verify is
  /// left out. The card of a contact is never given up for one of a stranger.
  func cards(limit: Int) async throws(SessionStoreError) -> [VerifiedCard]
}
