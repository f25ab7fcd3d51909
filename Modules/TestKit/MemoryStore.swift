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
    state.withLock { Array($0.messages.suffix(limit)) }
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
    state.withLock { $0.contacts[contact.peer] = contact }
  }

  package func contacts(limit: Int) async throws(SessionStoreError) -> [Contact] {
    state.withLock { Array($0.contacts.values.sorted { $0.peer < $1.peer }.prefix(limit)) }
  }

  package func cards(limit: Int) async throws(SessionStoreError) -> [VerifiedCard] {
    state.withLock { Array($0.cards.values.sorted { $0.id < $1.id }.prefix(limit)) }
  }
}
