import Database
import Identities
import Primitives
import Sessions
import Testing

@testable import Archive

/// Archives as builds of every earlier schema version left them (`Tests/Fixtures/archives/make`).
@Suite struct SchemaVersionTests {
  let directory = TemporaryDirectory()
  let ada = PeerID(high: 0, low: 1)
  let bob = PeerID(high: 0, low: 2)

  private func place(_ version: Int) -> String {
    let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    directory.copy("/\(tests)/Fixtures/archives/version-\(version).db", as: "archive.db")
    return directory.path + "/archive.db"
  }

  private func expected(_ version: Int) -> [StoredMessage] {
    (UInt64(1)...40).map { number in
      let isMine = number % 3 == 0
      return StoredMessage(
        id: MessageID(high: 0, low: number), conversation: number % 2 == 1 ? .peer(bob) : .everyone,
        author: isMine ? ada : bob, authorName: isMine ? "ada" : "bob", isFromBot: number % 4 & 1 != 0,
        isEcho: number % 4 & 2 != 0, text: "message \(number) of version \(version), zoë",
        sentMilliseconds: 1_800_000_000_000 + number, storedMilliseconds: 1_800_000_100_000 + number,
        hops: UInt8(number % 8), path: [UInt32](repeating: 1, count: Int(number % 3)),
        state: isMine ? [.accepted, .sent, .waiting, .delivered][Int(number % 4)] : .received,
        packet: isMine ? [UInt8](repeating: UInt8(number), count: 20) : nil)
    }
  }

  private func check(_ archive: MessageArchive, _ version: Int) async throws {
    #expect(try await archive.messages(limit: 100) == expected(version))
    #expect(try await archive.cards(limit: 10).map(\.card.name.text) == ["bob"])
    let contacts = try await archive.contacts(limit: 10)
    #expect(contacts.count == (version >= 2 ? 2 : 0))
    if version >= 2 {
      let eve = try #require(contacts.first { $0.name.text == "eve" })
      #expect(
        eve.isBlocked && eve.state == .changed && eve.rivals == [bob, ada] && eve.peer == PeerID(high: 0, low: 3))
      #expect(contacts.contains { $0.peer == bob && $0.state == .verified })
    }
    #expect(try await archive.seenRows(below: nil, limit: 10) == [])
    #expect(try await archive.waitingMessages(author: ada, limit: 10).map(\.id.low) == [6, 18, 30])
    #expect(try await archive.ownMessages(since: 0, author: ada, limit: 100).map(\.id.low) == [9, 12, 21, 24, 33, 36])
  }

  @Test(arguments: 1...4) func everyRowOfAnEarlierVersionIsThere(_ version: Int) async throws {
    try await check(try MessageArchive(path: place(version)), version)
  }

  @Test(arguments: 1...4) func everyRowOfAnEarlierVersionIsThereWhenSealedAndWhenUnsealed(_ version: Int) async throws {
    let path = place(version)
    do {
      let archive = try MessageArchive(path: path, key: TestKey.make())
      try await check(archive, version)
      #expect(try await archive.sealAll().phase == .sealed)
      try await check(archive, version)
    }
    do {
      let archive = try MessageArchive(path: path, key: TestKey.make(), mayBePlain: false)
      try await check(archive, version)
      #expect(try await archive.unsealAll().phase == .plain)
      try await check(archive, version)
    }
    try await check(try MessageArchive(path: path), version)
  }

  @Test func everyVersionBeforeTheLastHasAnArchive() {
    #expect(MessageArchive.migrations.count == 5, "a new version needs a fixture of the one before")
  }
}
