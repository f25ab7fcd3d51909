import Database
import Glibc
import Identities
import Primitives
import Sessions
import Testing

@testable import Archive

@Suite struct ArchiveSealingTests {
  let directory = TemporaryDirectory()
  var path: String { directory.path + "/archive.db" }

  private static let canary = "canary-9f3b-under-the-mat"

  /// Names and texts that a scan looks for, raw, in hexadecimal digits and in base64 at each of its three alignments.
  private func found(in directory: TemporaryDirectory) -> [String] {
    var needles: [(String, [UInt8])] = []
    for word in [Self.canary, "adelaide-canary", "Ada of the canaries"] {
      let bytes = Array(word.utf8)
      needles.append(("\(word) raw", bytes))
      needles.append(("\(word) hex", bytes.flatMap { Array(Self.hex($0).utf8) }))
      for shift in 0..<3 { needles.append(("\(word) base64 \(shift)", Self.base64(bytes, shift: shift))) }
    }
    needles.append(("id", TestMessage.make(17).author.bytes + []))
    needles.append(("peer", PeerID(high: 0xA1B2_C3D4_E5F6_0718, low: 0x1122_3344_5566_7788).bytes))
    return directory.names.flatMap { name in
      let bytes = directory.bytes(name)
      return needles.filter { Self.contains(bytes, $0.1) }.map { "\($0.0) in \(name)" }
    }
  }

  private static func hex(_ byte: UInt8) -> String {
    let text = String(byte, radix: 16)
    return text.count == 1 ? "0" + text : text
  }

  /// Characters that stand for `bytes` whatever stands before and behind them.
  private static func base64(_ bytes: [UInt8], shift: Int) -> [UInt8] {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    let whole = Array(bytes.dropFirst((3 - shift) % 3))
    return stride(from: 0, to: whole.count - whole.count % 3, by: 3).flatMap { start in
      let word = UInt32(whole[start]) << 16 | UInt32(whole[start + 1]) << 8 | UInt32(whole[start + 2])
      return [18, 12, 6, 0].map { digits[Int(word >> $0 & 63)] }
    }
  }

  private static func contains(_ bytes: [UInt8], _ needle: [UInt8]) -> Bool {
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe needle.withUnsafeBytes { needle in
        guard let base = bytes.baseAddress, let wanted = needle.baseAddress else { return false }
        var start = 0
        while start + needle.count <= bytes.count,
          let found = unsafe memchr(base + start, Int32(needle[0]), bytes.count - start)
        {
          start = unsafe UnsafeRawPointer(found) - base
          if start + needle.count <= bytes.count, unsafe memcmp(found, wanted, needle.count) == 0 { return true }
          start += 1
        }
        return false
      }
    }
  }

  /// A plain archive of messages, contacts and cards in which rows were also changed and deleted.
  private func fill(_ count: UInt64) async throws {
    let archive = try MessageArchive(path: path)
    let hidden = PeerID(high: 0xA1B2_C3D4_E5F6_0718, low: 0x1122_3344_5566_7788)
    // Sizes from short to longer than half a page, so that rows move between pages when they change.
    let sizes = [3, 20, 80, 300, 900, 2_500]
    try await withThrowingTaskGroup { group in
      for lane: UInt64 in 0..<40 {
        group.addTask { () async throws -> Void in
          for number in stride(from: lane + 1, through: count, by: 40) {
            let isOwn = number % 5 == 0
            var message = TestMessage.make(
              number, author: isOwn ? hidden : TestMessage.ada, to: number % 3 == 0 ? .peer(hidden) : .everyone,
              text: "\(Self.canary) \(number) " + String(repeating: "x", count: sizes[Int(number &* 7_919 % 6)]),
              state: isOwn ? .accepted : .received)
            message.authorName = "Ada of the canaries"
            _ = try await archive.insert(message)
            guard isOwn else { continue }
            let packet = Array(Self.canary.utf8) + [UInt8](repeating: 1, count: sizes[Int(number &* 104_729 % 6)])
            try await archive.setPacket(packet, state: .sent, of: message.id, author: hidden)
          }
        }
      }
      try await group.waitForAll()
    }
    try await archive.save(Contact(peer: hidden, name: try PeerName("adelaide-canary"), isBlocked: true))
    try await archive.save(Contact(peer: TestMessage.bob, name: try PeerName("bob")))
  }

  @Test func threat15_scanFindsEverythingBeforeSealingAndNothingAfter() async throws {
    try await fill(4_000)
    do {
      // Rows that are gone, whose pages are free.
      let database = try SQLiteDatabase(path: path, migrations: MessageArchive.migrations)
      try database.execute("DELETE FROM messages WHERE number % 3 = 1 OR number BETWEEN 500 AND 900")
    }
    let before = found(in: directory)
    for word in [Self.canary, "adelaide-canary", "Ada of the canaries", "peer"] {
      #expect(before.contains { $0.contains(word) }, "\(word): the test can see")
    }
    let archive = try MessageArchive(path: path, key: TestKey.make())
    let kept = try await archive.messages(after: nil, limit: 100, withBlocked: true).messages
    var steps = 0
    #expect(try await archive.sealAll { _ in steps += 1 }.phase == .sealed)
    #expect(steps > 3)
    #expect(found(in: directory) == [])
    #expect(try await archive.messages(after: nil, limit: 100, withBlocked: true).messages == kept)
    _ = try await archive.insert(TestMessage.make(9_999, text: Self.canary, state: .accepted))
    try await archive.setState(.sent, of: MessageID(high: 7, low: 9_999), author: TestMessage.ada)
    try await archive.save(Contact(peer: TestMessage.ada, name: try PeerName("adelaide-canary")))
    #expect(found(in: directory) == [], "nor of what came since")
    #expect(try await archive.contacts(limit: 9).count == 3)
  }

  @Test func hexAndBase64AreFoundWhereTheyStand() {
    #expect(Self.base64(Array("abcdef".utf8), shift: 0) == Array("YWJjZGVm".utf8))
    #expect(Self.contains(Array("eGFiY2RlZg==".utf8), Self.base64(Array("abcdef".utf8), shift: 1)))
    #expect(Self.contains(Array("eHhhYmNkZWY=".utf8), Self.base64(Array("abcdef".utf8), shift: 2)))
    #expect(Self.hex(7) == "07" && Self.hex(255) == "ff")
  }

  /// What a process that is killed between two groups leaves: the file and its log as they stand.
  private func killed() throws -> (TemporaryDirectory, MessageArchive) {
    let left = TemporaryDirectory()
    for name in directory.names where !name.hasSuffix("-shm") { left.copy("\(directory.path)/\(name)", as: name) }
    return (left, try MessageArchive(path: left.path + "/archive.db", key: TestKey.make()))
  }

  @Test func aKillBetweenAnyTwoGroupsLosesNothing() async throws {
    try await fill(1_700)
    let archive = try MessageArchive(path: path, key: TestKey.make())
    let contacts = try await archive.contacts(limit: 9)
    func all(_ archive: MessageArchive) async throws -> [ArchivedMessage] {
      var (messages, next): ([ArchivedMessage], ArchiveCursor?) = ([], nil)
      repeat {
        let page = try await archive.messages(after: next, limit: 256, withBlocked: true)
        messages += page.messages
        next = page.next
      } while next != nil
      return messages
    }
    let kept = try await all(archive)
    #expect(kept.count == 1_700)
    var phases: [ArchivePhase] = []
    for isSealing in [true, false, true] {
      for step in 0... {
        let (left, survivor) = try killed()
        phases.append(await survivor.sealing.phase)
        #expect(try await all(survivor) == kept)
        #expect(try await survivor.contacts(limit: 9) == contacts)
        #expect(try await survivor.insert(kept[3].message) == false, "a duplicate of either kind is one")
        #expect(try await survivor.insert(kept[1_690].message) == false)
        try await survivor.setState(.expired, of: kept[4].message.id, author: kept[4].message.author)
        try await survivor.setState(.expired, of: kept[1_689].message.id, author: kept[1_689].message.author)
        #expect(try await survivor.message(kept[4].message.id)?.state == .expired)
        #expect(try await survivor.message(kept[1_689].message.id)?.state == .expired)
        if step == 2 {
          #expect(try await survivor.sealAll().phase == .sealed, "whatever had begun, it goes on")
          #expect(try await all(survivor).count == 1_700)
        }
        withExtendedLifetime(left) {}
        let sealing = isSealing ? try await archive.sealNext() : try await archive.unsealNext()
        if sealing.isDone { break }
      }
    }
    #expect(Set(phases) == [.sealing, .scrubbing, .sealed, .unsealing])
    #expect(try await all(archive) == kept)
    #expect(await archive.unreadableRows == 0)
  }

  /// The power goes while a group is sealed: the log ends anywhere, in a page or between two.
  @Test func aLogThatEndsAnywhereLeavesEveryRowPlainOrSealed() async throws {
    try await fill(240)
    let base = directory.bytes("archive.db")
    #expect(!directory.names.contains("archive.db-wal"), "all of it is in the file")
    let archive = try MessageArchive(path: path, key: TestKey.make())
    let kept = try await archive.messages(after: nil, limit: 256, withBlocked: true).messages
    let contacts = try await archive.contacts(limit: 9)
    while try await archive.sealNext().phase == .sealing {}
    for number: UInt64 in 900..<905 { _ = try await archive.insert(TestMessage.make(number)) }
    let log = directory.bytes("archive.db-wal")
    #expect(directory.bytes("archive.db") == base, "nothing is in the file yet")
    var phases: Set<ArchivePhase> = []
    var last = -1
    for cut in stride(from: 0, through: log.count, by: max(1, log.count / 150)) {
      let left = TemporaryDirectory()
      left.put(base, as: "archive.db")
      left.put(Array(log[..<cut]), as: "archive.db-wal")
      let survivor = try MessageArchive(path: left.path + "/archive.db", key: TestKey.make())
      phases.insert(await survivor.sealing.phase)
      let messages = try await survivor.messages(after: nil, limit: 256, withBlocked: true).messages
      #expect(Array(messages.prefix(240)) == kept, "cut at \(cut) of \(log.count)")
      #expect(messages.count >= last && messages.count <= 245)
      last = messages.count
      #expect(try await survivor.contacts(limit: 9) == contacts)
      #expect(await survivor.unreadableRows == 0)
    }
    #expect(phases == [.sealing, .scrubbing])
  }

  @Test func aRowThatCannotBeReadIsLeftAndTold() async throws {
    try await fill(80)
    try SQLiteDatabase(path: path, migrations: MessageArchive.migrations)
      .execute("UPDATE messages SET state = 'unheard of' WHERE number = 7")
    let archive = try MessageArchive(path: path, key: TestKey.make())
    let sealing = try await archive.sealAll()
    #expect(sealing.phase == .sealed && sealing.leftPlain == 1)
  }

  @Test func writesAndSearchesGoOnWhileItIsSealed() async throws {
    try await fill(1_200)
    let archive = try MessageArchive(path: path, key: TestKey.make())
    let words = try #require(SearchWords("canary"))
    try await withThrowingTaskGroup { group in
      group.addTask { () async throws -> Void in _ = try await archive.sealAll() }
      group.addTask { () async throws -> Void in
        for number: UInt64 in 5_000..<5_060 {
          #expect(try await archive.insert(TestMessage.make(number, text: "canary", state: .accepted)))
          try await archive.setState(.sent, of: MessageID(high: 7, low: number - 4_000), author: TestMessage.ada)
        }
      }
      group.addTask { () async throws -> Void in
        for _ in 0..<5 {
          var count = 0
          // By messages that nobody has blocked.
          for try await _ in archive.search(words, limit: 5_000) { count += 1 }
          #expect(count >= 960 && count <= 1_020)
        }
      }
      try await group.waitForAll()
    }
    #expect(await archive.sealing.phase == .sealed)
    #expect(try await archive.messages(limit: 5_000).count == 1_020)
    #expect(try await archive.message(MessageID(high: 7, low: 1_001))?.state == .sent)
    #expect(await archive.unreadableRows == 0)
  }

  @Test func whatIsUnsealedOpensWithoutAKey() async throws {
    try await fill(600)
    do {
      let archive = try MessageArchive(path: path, key: TestKey.make())
      _ = try await archive.sealAll()
      _ = try await archive.unsealAll()
    }
    let archive = try MessageArchive(path: path)
    #expect(try await archive.messages(after: nil, limit: 256).messages.count > 100)
    #expect(try await archive.contacts(limit: 9).map(\.name.text).sorted() == ["adelaide-canary", "bob"])
  }
}
