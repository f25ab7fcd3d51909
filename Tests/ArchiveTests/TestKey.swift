import Bytes
import Identities
import Primitives
import Sessions

@testable import Archive

/// Keys and messages of archives under test.
enum TestKey {
  static func make(_ byte: UInt8 = 7, store: UInt8 = 1) throws -> ArchiveKey {
    let dataKey = Secret(copying: [UInt8](repeating: byte, count: 32).rawSpan)
    return try ArchiveKey(dataKey: dataKey, storeID: [UInt8](repeating: store, count: 16))
  }
}

enum TestMessage {
  static let (ada, bob) = (PeerID(high: 1, low: 1), PeerID(high: 2, low: 2))

  static func make(
    _ number: UInt64, author: PeerID = ada, to: Conversation = .everyone, text: String = "hello",
    state: MessageState = .received, stored: UInt64 = 1_000
  ) -> StoredMessage {
    StoredMessage(
      id: MessageID(high: 7, low: number), conversation: to, author: author, authorName: "Ada", isFromBot: true,
      isEcho: false, text: text, sentMilliseconds: .max, storedMilliseconds: stored, hops: 255, path: [1, .max],
      state: state, packet: state == .received ? nil : [0, 255])
  }
}
