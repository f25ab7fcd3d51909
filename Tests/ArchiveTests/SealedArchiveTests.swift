import Database
import Glibc
import Identities
import Primitives
import Sessions
import Testing

@testable import Archive

@Suite struct SealedArchiveTests {
  let directory = TemporaryDirectory()
  var path: String { directory.path + "/archive.db" }
  let ada = TestMessage.ada
  let bob = TestMessage.bob

  private func open(_ key: UInt8 = 7) throws -> MessageArchive {
    try MessageArchive(path: path, key: TestKey.make(key))
  }

  private func sql(_ statement: String, _ values: [DatabaseValue] = []) throws {
    try SQLiteDatabase(path: path, migrations: MessageArchive.migrations).execute(statement, values)
  }

  @Test func everythingComesBackAsItWas() async throws {
    let kept = [
      TestMessage.make(1, text: "zoë \0 東京"), TestMessage.make(2, author: bob, to: .peer(ada), state: .accepted),
      TestMessage.make(3, to: .peer(bob), text: ""), TestMessage.make(4, author: bob, state: .waiting),
    ]
    let contact = Contact(
      peer: bob, name: try PeerName("bob"), state: .changed, isBlocked: false, rivals: [ada], isMeant: true)
    do {
      let archive = try open()
      #expect(await archive.sealing.phase == .sealed, "an empty one is sealed from the start")
      for message in kept { #expect(try await archive.insert(message)) }
      #expect(try await archive.insert(kept[0]) == false)
      try await archive.save(contact)
    }
    let archive = try open()
    #expect(try await archive.messages(limit: 10) == kept)
    #expect(try await archive.message(kept[1].id) == kept[1])
    #expect(try await archive.ownMessages(since: 1_000, author: bob, limit: 9) == [kept[1]])
    #expect(try await archive.waitingMessages(author: bob, limit: 9) == [kept[3]])
    #expect(try await archive.waitingMessages(author: ada, limit: 9) == [])
    #expect(try await archive.contacts(limit: 9) == [contact])
    try await archive.setState(.sent, of: kept[1].id, author: bob)
    try await archive.setPacket([9], state: .accepted, of: kept[3].id, author: bob)
    #expect(try await archive.message(kept[1].id)?.state == .sent)
    #expect(try await archive.message(kept[3].id)?.packet == [9])
    #expect(await archive.unreadableRows == 0)
    try await archive.removeContact(bob)
    #expect(try await archive.contacts(limit: 9) == [])
  }

  @Test func whatABlockedContactWroteIsHiddenFromASearchAndAReplay() async throws {
    let archive = try open()
    for number: UInt64 in 1...4 {
      _ = try await archive.insert(TestMessage.make(number, author: number > 2 ? ada : bob))
    }
    try await archive.save(Contact(peer: ada, name: try PeerName("ada"), isBlocked: true))
    #expect(try await archive.messages(limit: 10).map(\.id.low) == [1, 2])
    #expect(try await archive.messages(after: nil, limit: 10).messages.map(\.message.id.low) == [1, 2])
    let words = try #require(SearchWords("HELLO"))
    #expect(
      try await archive.searchSlice(words, in: nil, before: nil, limit: 9).messages.map(\.message.id.low) == [2, 1])
  }

  @Test func anotherKeyIsRefusedAndTheFileLeftAlone() async throws {
    do { _ = try await open().insert(TestMessage.make(1)) }
    let before = directory.bytes("archive.db")
    #expect(throws: ArchiveError.wrongKey(path: path)) { try open(8) }
    #expect(throws: ArchiveError.wrongKey(path: path)) {
      try MessageArchive(path: path, key: TestKey.make(7, store: 2))
    }
    #expect(throws: ArchiveError.isSealed(path: path)) { try MessageArchive(path: path, key: nil) }
    #expect(directory.bytes("archive.db") == before)
    #expect(try await open().messages(limit: 9).count == 1)
  }

  @Test func aPlainFileInPlaceOfASealedOneIsRefused() async throws {
    do { _ = try await MessageArchive(path: path).insert(TestMessage.make(1)) }
    #expect(throws: ArchiveError.isPlain(path: path)) {
      try MessageArchive(path: path, key: TestKey.make(), mayBePlain: false)
    }
    #expect(try await MessageArchive(path: path).messages(limit: 9).count == 1)
  }

  @Test func aPlainRowInASealedArchiveIsNoRow() async throws {
    do { _ = try await open().insert(TestMessage.make(1)) }
    try sql(
      """
      INSERT INTO messages (author, message, author_name, flags, text, sent, stored, hops, path, state)
      VALUES (?, ?, 'ada', 0, 'forged', 0, 0, 0, x'', 'received')
      """, [.blob(ada.bytes), .blob(MessageID(high: 7, low: 9).bytes)])
    let archive = try open()
    #expect(try await archive.messages(limit: 9).map(\.text) == ["hello"])
    #expect(await archive.unreadableRows == 1)
  }

  /// Threat 16: rows of the same store mean nothing in another place.
  @Test func rowsCannotBeExchangedRenumberedOrGivenAnotherState() async throws {
    for (change, left) in [
      ("UPDATE messages SET sealed = (SELECT sealed FROM messages WHERE number = 2) WHERE number = 1", 1),
      ("UPDATE messages SET number = number + 10", 0), ("UPDATE messages SET state = 'sent'", 0),
      ("UPDATE messages SET stored = stored + 1", 0),
      ("UPDATE messages SET author = zeroblob(16)", 0), ("UPDATE messages SET message = CAST(number AS BLOB)", 0),
      ("UPDATE messages SET sealed = zeroblob(3)", 0), ("UPDATE messages SET sealed = 'text'", 0),
    ] {
      let directory = TemporaryDirectory()
      let path = directory.path + "/archive.db"
      do {
        let archive = try MessageArchive(path: path, key: TestKey.make())
        for number: UInt64 in 1...2 { _ = try await archive.insert(TestMessage.make(number, state: .accepted)) }
        #expect(try await archive.messages(limit: 9).count == 2)
      }
      try SQLiteDatabase(path: path, migrations: MessageArchive.migrations).execute(change)
      let archive = try MessageArchive(path: path, key: TestKey.make())
      #expect(try await archive.messages(limit: 9).count == left, "\(change)")
      #expect(await archive.unreadableRows == 2 - left)
    }
  }

  @Test func threat19_copiesOfOneArchiveNeverUseANonceTwice() async throws {
    do { _ = try await open().insert(TestMessage.make(1, state: .accepted)) }
    let copy = TemporaryDirectory()
    for name in directory.names where name != "archive.db-shm" { copy.copy(directory.path + "/" + name, as: name) }
    var nonces: Set<[UInt8]> = []
    for path in [path, copy.path + "/archive.db"] {
      let archive = try MessageArchive(path: path, key: TestKey.make())
      for number: UInt64 in 2...50 { _ = try await archive.insert(TestMessage.make(number)) }
      for state in [MessageState.sent, .accepted, .sent] {
        try await archive.setState(state, of: MessageID(high: 7, low: 1), author: ada)
        try await nonces.formUnion(archive.noncesForTests())
      }
    }
    #expect(nonces.count == 2 * (49 + 3), "a row sealed again has another")
  }

  @Test func theNumberIsRememberedUnderSeal() async throws {
    #expect(try await open().rememberedNumber() == nil)
    try await open().remember(number: 5)
    #expect(try await open().rememberedNumber() == 5)
    try sql("UPDATE keeping SET value = zeroblob(36) WHERE name = 'opening'")
    #expect(try await open().rememberedNumber() == 0)
    try await open().remember(number: 7)
    #expect(try await open().rememberedNumber() == 7)
  }

  /// Also what only the log holds yet is seen, and the log is not copied back.
  @Test(arguments: [false, true])
  func whoOnlyLooksChangesNothing(isKilled: Bool) async throws {
    #expect(try ArchiveLook.at(path, key: TestKey.make()) == .missing)
    let copy = TemporaryDirectory()
    do {
      let archive = try open()
      _ = try await archive.insert(TestMessage.make(1))
      try await archive.remember(number: 9)
      if isKilled {
        for name in directory.names where !name.hasSuffix("-shm") { copy.copy(directory.path + "/" + name, as: name) }
      }
    }
    if !isKilled { copy.copy(path, as: "archive.db") }
    let names = copy.names
    let before = names.map { copy.bytes($0) }
    #expect(names.contains("archive.db-wal") == isKilled)
    let place = copy.path + "/archive.db"
    #expect(try ArchiveLook.at(place, key: TestKey.make()) == .sealed(phase: .sealed, number: 9))
    #expect(try ArchiveLook.at(place, key: nil) == .sealed(phase: .sealed, number: nil))
    #expect(throws: ArchiveError.wrongKey(path: place)) { try ArchiveLook.at(place, key: TestKey.make(8)) }
    #expect(copy.names == names && names.map { copy.bytes($0) } == before)
    copy.put([], as: "archive.db")
    if !isKilled { #expect(try ArchiveLook.at(place, key: nil) == .missing) }
  }

  @Test func anyBytesAreAMessageOrNone() throws {
    var random = Xorshift(seed: 41)
    let whole = MessageContent.encode(TestMessage.make(1, to: .peer(bob), text: "zoë", state: .sent))
    let contact = ContactContent.encode(Contact(peer: bob, name: try PeerName("bob"), rivals: [ada]))
    for _ in 0..<5_000 {
      for start in [whole, contact] {
        var bytes = start
        for _ in 0..<1 + random.next() % 4 {
          bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
        }
        if random.next() % 2 == 0 { bytes.removeLast(Int(random.next() % UInt64(bytes.count))) }
        _ = MessageContent.decode(bytes, stored: 1, state: .sent)
        if let text = MessageContent.text(of: bytes) { #expect(text.upperBound <= bytes.count) }
        _ = ContactContent.decode(bytes)
      }
    }
    #expect(MessageContent.decode(whole, stored: 1_000, state: .sent) != nil && ContactContent.decode(contact) != nil)
    var late = TestMessage.make(2, to: .everyone, text: "old news", state: .received)
    late.isLate = true
    #expect(
      MessageContent.decode(MessageContent.encode(late), stored: late.storedMilliseconds, state: .received) == late)
    #expect(MessageContent.text(of: whole).map { String(decoding: whole[$0], as: UTF8.self) } == "zoë")
  }

  @Test func aContactThatDoesNotOpenIsRefused() async throws {
    do {
      let archive = try open()
      for number: UInt64 in 1...2 {
        try await archive.save(Contact(peer: PeerID(high: 0, low: number), name: try PeerName("n\(number)")))
      }
    }
    try sql("UPDATE people SET sealed = (SELECT sealed FROM people ORDER BY peer LIMIT 1)")
    #expect(throws: ArchiveError.contactsUnreadable(path: path)) { try open() }
  }
}

extension MessageArchive {
  func noncesForTests() throws -> [[UInt8]] {
    try database.rows("SELECT sealed FROM messages", limit: 1_000) { (row) throws(DatabaseError) in
      Array(try row.blob(0).prefix(12))
    }
  }
}

/// Marsaglia's xorshift, for inputs that are the same in every run.
struct Xorshift {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}

extension TemporaryDirectory {
  func put(_ bytes: [UInt8], as name: String) {
    let file = unsafe Glibc.open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(file) }
    _ = unsafe Glibc.write(file, bytes, bytes.count)
  }

  func bytes(_ name: String) -> [UInt8] {
    let file = unsafe Glibc.open("\(path)/\(name)", O_RDONLY)
    defer { close(file) }
    var facts = stat()
    guard file >= 0, unsafe fstat(file, &facts) == 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: Int(facts.st_size))
    _ = unsafe read(file, &bytes, bytes.count)
    return bytes
  }
}
