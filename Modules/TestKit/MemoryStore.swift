package import Identities
package import Sessions
internal import Streams

/// A session's store that forgets with the process: for tests and the simulator.
package final class MemoryStore: SessionStore {
  private struct Key: Hashable, Sendable {
    var author: PeerID
    var id: MessageID
  }

  private struct State: Sendable {
    var messages: [StoredMessage] = []
    var places: [Key: Int] = [:]
    var cards: [PeerID: VerifiedCard] = [:]
    var contacts: [PeerID: Contact] = [:]
    /// Saved longest ago first.
    var savedContacts: [PeerID] = []
  }

  private let state = Protected(State())

  package init() {}

  package func insert(_ message: StoredMessage) async throws(SessionStoreError) -> Bool {
    state.withLock { state in
      let key = Key(author: message.author, id: message.id)
      guard state.places[key] == nil else { return false }
      state.places[key] = state.messages.count
      state.messages.append(message)
      return true
    }
  }

  package func setState(
    _ newState: MessageState, of id: MessageID, author: PeerID
  ) async throws(SessionStoreError) {
    state.withLock { state in
      if let place = state.places[Key(author: author, id: id)] { state.messages[place].state = newState }
    }
  }

  package func setPacket(
    _ packet: [UInt8], state newState: MessageState, of id: MessageID, author: PeerID
  ) async throws(SessionStoreError) {
    state.withLock { state in
      guard let place = state.places[Key(author: author, id: id)] else { return }
      state.messages[place].packet = packet
      state.messages[place].state = newState
    }
  }

  package func waitingMessages(author: PeerID, limit: Int) async throws(SessionStoreError) -> [StoredMessage] {
    state.withLock { state in
      Array(state.messages.filter { $0.author == author && $0.state == .waiting }.prefix(limit))
    }
  }

  package func message(_ id: MessageID) async throws(SessionStoreError) -> StoredMessage? {
    state.withLock { state in state.messages.first { $0.id == id } }
  }

  package func messages(limit: Int) async throws(SessionStoreError) -> [StoredMessage] {
    state.withLock { state in
      Array(state.messages.filter { state.contacts[$0.author]?.isBlocked != true }.suffix(limit))
    }
  }

  package func ownMessages(
    since storedMilliseconds: UInt64, author: PeerID, limit: Int
  ) async throws(SessionStoreError) -> [StoredMessage] {
    state.withLock { state in
      state.messages.filter {
        $0.author == author && $0.storedMilliseconds >= storedMilliseconds
          && ($0.state == .accepted || $0.state == .sent)
      }.suffix(limit)
    }
  }

  package func save(_ card: VerifiedCard) async throws(SessionStoreError) {
    state.withLock { $0.cards[card.id] = card }
  }

  package func save(_ contact: Contact) async throws(SessionStoreError) {
    state.withLock { state in
      state.contacts[contact.peer] = contact
      state.savedContacts.removeAll { $0 == contact.peer }
      state.savedContacts.append(contact.peer)
    }
  }

  package func removeContact(_ peer: PeerID) async throws(SessionStoreError) {
    state.withLock { state in
      state.contacts[peer] = nil
      state.savedContacts.removeAll { $0 == peer }
    }
  }

  package func contacts(limit: Int) async throws(SessionStoreError) -> [Contact] {
    state.withLock { state in Array(state.savedContacts.compactMap { state.contacts[$0] }.suffix(limit)) }
  }

  package func cards(limit: Int) async throws(SessionStoreError) -> [VerifiedCard] {
    state.withLock { state in
      func rank(_ card: VerifiedCard) -> Int { state.contacts[card.id] == nil ? 1 : 0 }
      return Array(state.cards.values.sorted { (rank($0), $0.id) < (rank($1), $1.id) }.prefix(limit))
    }
  }
}
