import Bytes
import Database
import Glibc
import Identities
import Lifecycle
import Primitives
import Sessions
import Storing
import Testing

@testable import Archive

/// A directory of its own for one test, removed with what is in it.
final class TemporaryDirectory: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/relaychat-archive-XXXXXX".utf8CString)
    _ = unsafe mkdtemp(&template)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    for name in names { unsafe unlink("\(path)/\(name)") }
    unsafe rmdir(path)
  }

  var names: [String] { DirectoryNames.all(in: path).sorted() }

  /// Copies a file as it is on disk now.
  func copy(_ source: String, as name: String) {
    let (from, to) = (
      unsafe open(source, O_RDONLY), unsafe open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    )
    defer {
      close(from)
      close(to)
    }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = unsafe read(from, &buffer, buffer.count), count > 0 { _ = unsafe write(to, buffer, count) }
  }

  func mode(_ name: String = ".") -> UInt32 {
    var facts = stat()
    return unsafe stat("\(path)/\(name)", &facts) == 0 ? facts.st_mode & 0o7777 : 0
  }
}

@Suite struct ErasureTests {
  let directory = TemporaryDirectory()

  /// Whether the bytes stand in any file of the directory, as they are on disk now.
  private func isOnDisk(_ needle: [UInt8]) -> Bool {
    directory.names.contains { name in
      let file = unsafe open("\(directory.path)/\(name)", O_RDONLY)
      defer { close(file) }
      var facts = stat()
      guard file >= 0, unsafe fstat(file, &facts) == 0 else { return false }
      var bytes = [UInt8](repeating: 0, count: Int(facts.st_size))
      guard unsafe read(file, &bytes, bytes.count) == bytes.count, bytes.count >= needle.count else { return false }
      return (0...bytes.count - needle.count).contains { bytes[$0..<$0 + needle.count].elementsEqual(needle) }
    }
  }

  @Test func threat05_prekeyThatIsErasedIsInNoFileOfARunningNode() async throws {
    let (old, new) = ([UInt8](repeating: 0xA7, count: 96), [UInt8](repeating: 0x5B, count: 96))
    let store = try PlainStore(path: directory.path + "/plain.db")
    try await store.put([("identity.keys", old)], isErasing: true)
    #expect(isOnDisk(old))
    try await store.put([("identity.keys", new)])
    #expect(isOnDisk(old), "the log keeps what was replaced: the test can see")
    try await store.put([("identity.keys", new)], isErasing: true)
    #expect(isOnDisk(new) && !isOnDisk(old))
  }

  @Test func exposed_whoeverReadsTheDiskReadsKeysAndMessages() async throws {
    let archive = try MessageArchive(path: directory.path + "/archive.db")
    let store = try PlainStore(path: directory.path + "/plain.db")
    try await store.put([("identity.keys", [UInt8](repeating: 0x9E, count: 64))])
    try await archive.save(Contact(peer: PeerID(high: 1, low: 2), name: try PeerName("adelaide")))
    #expect(isOnDisk([UInt8](repeating: 0x9E, count: 64)) && isOnDisk(Array("adelaide".utf8)))
  }

  @Test func whatADeadProcessHadReplacedIsErasedAtTheNextStart() async throws {
    let old = [UInt8](repeating: 0xC3, count: 64)
    let first = try PlainStore(path: directory.path + "/plain.db")
    try await first.put([("k", old)], isErasing: true)
    try await first.put([("k", [1])])
    #expect(isOnDisk(old))
    let second = try PlainStore(path: directory.path + "/plain.db")
    #expect(try await second.get("k") == [1] && !isOnDisk(old))
    withExtendedLifetime(first) {}
  }

  /// Overwrites everything behind the first page.
  private func spoil(_ name: String, byteCount: Int) {
    let file = unsafe open("\(directory.path)/\(name)", O_RDWR)
    defer { close(file) }
    let noise = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 149 &+ 17) }
    _ = unsafe pwrite(file, noise, noise.count, 4_100)
  }

  @Test func damagedPagesAreRefusedAndLeftAlone() async throws {
    for name in ["plain.db", "archive.db"] {
      let path = directory.path + "/" + name
      do {
        let database = try SQLiteDatabase(
          path: path, migrations: name == "plain.db" ? PlainStore.migrations : MessageArchive.migrations)
        for number in 0..<200 {
          if name == "plain.db" {
            try database.execute(
              "INSERT INTO plain (name, value) VALUES (?, ?)",
              [.text("n\(number)"), .blob([UInt8](repeating: 7, count: 200))])
          } else {
            try database.execute(
              "INSERT INTO contacts (peer, card, saved) VALUES (?, ?, 1)",
              [.blob([UInt8(number), 1]), .blob([UInt8](repeating: 7, count: 200))])
          }
        }
        try database.checkpoint()
      }
      spoil(name, byteCount: name == "plain.db" ? 20_000 : 90_000)
      #expect(throws: DatabaseError.corrupt(path: path, code: 11), "\(name)") {
        if name == "plain.db" { _ = try PlainStore(path: path) } else { _ = try MessageArchive(path: path) }
      }
    }
  }

  @Test func archiveTellsWhetherItWasEverUsed() async throws {
    let archive = try MessageArchive(path: directory.path + "/archive.db")
    #expect(try await archive.isEmpty())
    try await archive.save(Contact(peer: PeerID(high: 1, low: 2), name: try PeerName("ada")))
    #expect(try await archive.isEmpty() == false)
  }
}

@Suite struct MessageArchiveTests {
  let directory = TemporaryDirectory()
  let ada = PeerID(high: 1, low: 1)
  let bob = PeerID(high: 2, low: 2)

  func open() throws -> MessageArchive { try MessageArchive(path: directory.path + "/archive.db") }

  func message(
    _ number: UInt64, author: PeerID? = nil, to: Conversation = .everyone, text: String = "hello",
    state: MessageState = .received, stored: UInt64 = 1_000
  ) -> StoredMessage {
    StoredMessage(
      id: MessageID(high: 7, low: number), conversation: to, author: author ?? ada, authorName: "Ada", isFromBot: true,
      isEcho: false, text: text, sentMilliseconds: .max, storedMilliseconds: stored, hops: 255, path: [1, .max],
      state: state,
      packet: state == .received ? nil : [0, 255])
  }

  @Test func messagesComeBackAsTheyWereInTheOrderTheyWereKept() async throws {
    let archive = try open()
    let kept = [
      message(1, text: "zoë \0 東京"), message(2, author: bob, to: .peer(ada), state: .accepted),
      message(3, to: .peer(bob)),
    ]
    for message in kept { #expect(try await archive.insert(message)) }
    #expect(try await archive.messages(limit: 10) == kept)
    #expect(try await archive.messages(limit: 2) == Array(kept[1...]))
    #expect(try await archive.message(kept[1].id) == kept[1])
    #expect(try await archive.message(MessageID(high: 0, low: 0)) == nil)
  }

  @Test func aDuplicateByAuthorAndIDChangesNothing() async throws {
    let archive = try open()
    #expect(try await archive.insert(message(1)))
    #expect(try await archive.insert(message(1, text: "another text")) == false)
    #expect(try await archive.insert(message(1, author: bob, text: "another author")))
    #expect(try await archive.messages(limit: 10).map(\.text) == ["hello", "another author"])
  }

  @Test func ownMessagesAreThoseThatAreStillToArrive() async throws {
    let archive = try open()
    for (number, state, stored) in [
      (1, MessageState.accepted, 999), (2, .accepted, 1_000), (3, .sent, 1_001), (4, .expired, 1_002),
      (5, .received, 1_003),
    ] as [(UInt64, MessageState, UInt64)] {
      _ = try await archive.insert(message(number, state: state, stored: stored))
    }
    _ = try await archive.insert(message(6, author: bob, state: .accepted))
    #expect(try await archive.ownMessages(since: 1_000, author: ada, limit: 10).map(\.id.low) == [2, 3])
    #expect(try await archive.ownMessages(since: 0, author: ada, limit: 2).map(\.id.low) == [2, 3])
    try await archive.setState(.expired, of: MessageID(high: 7, low: 2), author: ada)
    #expect(try await archive.ownMessages(since: 0, author: ada, limit: 10).map(\.id.low) == [1, 3])
  }

  @Test func whatWasPromisedIsThereAfterAKill() async throws {
    let archive = try open()
    for number: UInt64 in 1...20 {
      #expect(try await archive.insert(message(number, state: .accepted)))
      // What a process that is killed now leaves behind.
      let left = TemporaryDirectory()
      for name in directory.names { left.copy("\(directory.path)/\(name)", as: name) }
      unsafe unlink(left.path + "/archive.db-shm")
      let reopened = try MessageArchive(path: left.path + "/archive.db")
      #expect(try await reopened.messages(limit: 100).count == Int(number))
    }
  }

  @Test func cardsAreKeptNewestFirstAndBounded() async throws {
    let archive = try open()
    var cards: [VerifiedCard] = []
    for number in 0...ArchiveLimits.strangers {
      let keys = try IdentityKeys(generatedFrom: .system, now: 1_800_000_000_000)
      cards.append(
        try keys.makeCard(
          name: PeerName("n\(number)"), icon: .none, capabilities: [], sequence: 1, now: 1_800_000_000_000))
    }
    for card in cards.dropLast() { try await archive.save(card) }
    try await archive.save(cards[0])
    #expect(try await archive.cards(limit: 2) == [cards[0], cards[ArchiveLimits.strangers - 1]])
    #expect(try await archive.cards(limit: 10_000).count == ArchiveLimits.strangers)
    try await archive.save(cards[ArchiveLimits.strangers])
    let kept = try await archive.cards(limit: 10_000)
    #expect(kept.count == ArchiveLimits.strangers && !kept.contains(cards[1]) && kept.contains(cards[0]))
  }

  @Test func theCardOfAContactIsNeverGivenUpForAStrangers() async throws {
    let archive = try open()
    func card(_ name: String) throws -> VerifiedCard {
      let keys = try IdentityKeys(generatedFrom: .system, now: 1_800_000_000_000)
      return try keys.makeCard(
        name: PeerName(name), icon: .none, capabilities: [], sequence: 1, now: 1_800_000_000_000)
    }
    let friend = try card("friend")
    try await archive.save(friend)
    try await archive.save(Contact(peer: friend.id, name: friend.card.name))
    for number in 0..<ArchiveLimits.strangers + 2 { try await archive.save(try card("n\(number)")) }
    #expect(try await archive.cards(limit: 10_000).count == ArchiveLimits.strangers + 1)
    #expect(try await archive.cards(limit: 1) == [friend], "contacts come first")
  }

  @Test func contactsComeBackAsTheyWereUsedLongestAgoFirst() async throws {
    let archive = try open()
    var contacts: [Contact] = []
    for number: UInt64 in 1...4 {
      contacts.append(
        Contact(
          peer: PeerID(high: number, low: 0), name: try PeerName("n\(number)"), state: number == 4 ? .changed : .seen,
          isBlocked: number == 1, rivals: number == 4 ? [ada, bob] : [], isMeant: number == 2, isAddressed: number == 3)
      )
    }
    contacts.append(Contact(peer: PeerID(high: 5, low: 0), name: try PeerName("n5")))
    contacts.append(Contact(peer: PeerID(high: 6, low: 0), name: try PeerName("n6")))
    for contact in contacts { try await archive.save(contact) }
    try await archive.removeContact(PeerID(high: 6, low: 0))
    let kept = try await archive.contacts(limit: 10)
    #expect(
      kept == [contacts[4], contacts[0], contacts[1], contacts[2], contacts[3]], "decided ones are never cut off")
    #expect(try await archive.contacts(limit: 4) == Array(kept[1...]))
  }

  @Test func whatABlockedContactWroteIsHiddenAndKept() async throws {
    let archive = try open()
    _ = try await archive.insert(message(1))
    _ = try await archive.insert(message(2, author: bob))
    var contact = Contact(peer: ada, name: try PeerName("ada"), isBlocked: true)
    try await archive.save(contact)
    #expect(try await archive.messages(limit: 1).map(\.id.low) == [2])
    #expect(try await archive.messages(limit: 10).map(\.id.low) == [2])
    contact.isBlocked = false
    try await archive.save(contact)
    #expect(try await archive.messages(limit: 10).map(\.id.low) == [1, 2])
  }
}

@Suite struct StateDirectoryTests {
  let parent = TemporaryDirectory()

  @Test func everythingIsForItsOwnerAlone() async throws {
    let path = parent.path + "/state"
    let state = try StateDirectory(path: path)
    let plain = try PlainStore(path: state.plainPath)
    try await plain.put([("a", [1])])
    _ = try await MessageArchive(path: state.archivePath).messages(limit: 1)
    #expect(parent.mode("state") == 0o700)
    for name in ["lock", "plain.db", "archive.db", "plain.db-wal", "archive.db-wal"] {
      let mode = parent.mode("state/\(name)")
      #expect(mode == 0o600 || mode == 0, "\(name) has \(String(mode, radix: 8))")
    }
    #expect(parent.mode("state/plain.db") == 0o600)
    withExtendedLifetime(state) {}
    for name in ["lock", "plain.db", "archive.db", "plain.db-wal", "archive.db-wal", "plain.db-shm", "archive.db-shm"] {
      unsafe unlink("\(path)/\(name)")
    }
    unsafe rmdir(path)
  }

  @Test func aSecondOneOnTheSamePathIsRefusedWithTheProcessNumber() throws {
    let path = parent.path
    do {
      let first = try StateDirectory(path: path)
      #expect(throws: StateDirectoryError.inUse(path: path, process: getpid())) { try StateDirectory(path: path) }
      withExtendedLifetime(first) {}
    }
    _ = try StateDirectory(path: path)
  }

  @Test func aDirectoryOpenToOthersIsRefusedAndLeftAsItIs() {
    unsafe chmod(parent.path, 0o755)
    #expect(throws: StateDirectoryError.directory(.openToOthers(path: parent.path, mode: 0o755))) {
      try StateDirectory(path: parent.path)
    }
    #expect(parent.mode() == 0o755)
  }

  @Test func plainValuesAreReplacedTogetherAndListed() async throws {
    let store = try PlainStore(path: parent.path + "/plain.db")
    try await store.put([("b", [1]), ("a", [])])
    try await store.put([("b", [2, 3])])
    #expect(try await store.get("b") == [2, 3])
    #expect(try await store.get("a") == [])
    #expect(try await store.get("c") == nil)
    #expect(try await store.names() == ["a", "b"])
  }
}
