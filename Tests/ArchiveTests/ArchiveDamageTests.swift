import Database
import Glibc
import Identities
import Primitives
import Sessions
import Testing

@testable import Archive

@Suite struct ArchiveDamageTests {
  let directory = TemporaryDirectory()
  var path: String { directory.path + "/archive.db" }

  private func open() throws -> MessageArchive { try MessageArchive(path: path, key: TestKey.make()) }

  private func fill(_ count: UInt64) async throws {
    let archive = try open()
    try await withThrowingTaskGroup { group in
      for lane: UInt64 in 0..<50 {
        group.addTask {
          for number in stride(from: lane + 1, through: count, by: 50) {
            _ = try await archive.insert(TestMessage.make(number, text: "message \(number)"))
          }
        }
      }
      try await group.waitForAll()
    }
    try await archive.save(Contact(peer: TestMessage.bob, name: try PeerName("bob"), isBlocked: true))
  }

  /// Overwrites the pages that the rows with these numbers lie in.
  private func spoil(_ text: (Int) -> Bool) throws {
    var pages: [Int] = []
    do {
      let database = try SQLiteDatabase(path: path, migrations: MessageArchive.migrations)
      try database.checkpoint()
      pages = try database.rows(
        "SELECT pageno FROM dbstat WHERE name = 'messages' AND pagetype = 'leaf' ORDER BY pageno", limit: 1_000
      ) { (row) throws(DatabaseError) in try row.number(0, as: Int.self) }
    }
    let file = unsafe Glibc.open(path, O_RDWR)
    defer { close(file) }
    let noise = (0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 149 &+ 17) }
    for (index, page) in pages.enumerated() where text(index) {
      _ = unsafe pwrite(file, noise, noise.count, (page - 1) * 4_096)
    }
  }

  private func outcome(_ archive: MessageArchive) async throws -> ArchiveCheck {
    while true {
      let check = try await archive.checkNext()
      if check.outcome != .goingOn { return check }
    }
  }

  @Test func aSoundArchiveIsCheckedInSlices() async throws {
    try await fill(600)
    let archive = try open()
    #expect(try await archive.checkNext() == ArchiveCheck(outcome: .goingOn, checked: 256, unreadable: 0))
    #expect(try await archive.checkNext() == ArchiveCheck(outcome: .goingOn, checked: 512, unreadable: 0))
    #expect(try await archive.checkNext() == ArchiveCheck(outcome: .sound, checked: 600, unreadable: 0))
    #expect(try await archive.checkNext().checked == 256, "and then anew")
  }

  @Test func damagedMessagesAreFoundAndWhatCanBeReadIsSalvaged() async throws {
    try await fill(1_000)
    try spoil { $0 % 10 == 4 }
    let damaged = directory.bytes("archive.db")
    do {
      let archive = try open()
      guard case .damaged = try await outcome(archive).outcome else {
        Issue.record("not found")
        return
      }
    }
    let report = try ArchiveSalvage.run(path: path, wall: 1_800_000_000_000)
    #expect(report.contacts == 1 && report.messages > 800 && report.messages < 1_000)
    #expect(report.unreadableNumbers == UInt64(1_000 - report.messages))
    #expect(report.quarantined == directory.path + "/quarantine/archive.db.1800000000000")
    #expect(directory.bytes("quarantine/archive.db.1800000000000") == damaged, "as it was")
    let archive = try open()
    #expect(try await outcome(archive) == ArchiveCheck(outcome: .sound, checked: report.messages, unreadable: 0))
    #expect(try await archive.contacts(limit: 9).first?.isBlocked == true)
    #expect(try await archive.insert(TestMessage.make(5_000)))
    #expect(try await archive.messages(limit: 1).map(\.id.low) == [5_000])
    #expect(try await archive.message(MessageID(high: 7, low: 1))?.text == "message 1")
    clear()
  }

  /// Lines of an export, by number.
  private func export(_ archive: MessageArchive) async throws -> (texts: [String], unreadable: UInt64) {
    var texts: [String] = []
    let end = try await archive.export { line in
      texts.append(line)
      return texts.count < 5_000
    }
    return (texts, end.unreadable)
  }

  @Test func exportAndSearchStepOverDamagedMessagesAndCountThem() async throws {
    try await fill(1_000)
    try spoil { $0 % 10 == 4 }
    let archive = try open()
    let (texts, unreadable) = try await export(archive)
    #expect(unreadable > 0 && texts.count + Int(unreadable) == 1_000 && Set(texts).count == texts.count)
    let numbers = texts.compactMap { Int($0.dropFirst(#"{"number":"#.count).prefix { $0 != "," }) }
    #expect(numbers == numbers.sorted() && numbers.count == texts.count)
    let damage = try #require(await archive.damage)
    #expect(damage.numbers == unreadable && !numbers.contains(Int(damage.first)) && !numbers.contains(Int(damage.last)))
    var (found, passed, cursor) = (0, UInt64(0), ArchiveCursor?.none)
    repeat {
      let page = try await archive.searchSlice(
        #require(SearchWords("message")), in: nil, before: cursor, limit: 5_000)
      found += page.messages.count
      passed += page.unreadable
      cursor = page.next
    } while cursor != nil
    #expect(found == texts.count && passed == unreadable)
    #expect(try await outcome(archive).outcome == .damaged(after: damage.first - 1))
    #expect(try await archive.messages(after: nil, limit: 10).messages.count == 10)
  }

  @Test(arguments: [62_598, 40_000, 30_000, 100_000]) func exportOfAFileThatWasCutOffEnds(_ size: Int) async throws {
    try await fill(1_000)
    do { try SQLiteDatabase(path: path, migrations: [], isMigrating: false).checkpoint() }
    unsafe truncate(path, off_t(size))
    // Where the tables of the contacts are gone the file is refused.
    guard let archive = try? open() else { return }
    let (texts, unreadable) = try await export(archive)
    #expect(Set(texts).count == texts.count && unreadable > 0 && texts.count + Int(unreadable) == 1_000)
  }

  @Test func exportOfPagesThatPointInCirclesEnds() async throws {
    try await fill(1_000)
    try circle()
    let archive = try open()
    let (texts, unreadable) = try await export(archive)
    #expect(Set(texts).count == texts.count && unreadable > 0 && texts.count < 1_000)
    _ = try await outcome(archive)
  }

  @Test func walkThroughAFileThatSaysItIsEndlessEnds() async throws {
    try await fill(1_000)
    try spoil { $0 % 3 == 1 }
    do {
      let database = try SQLiteDatabase(path: path, migrations: [], isMigrating: false)
      try database.execute("UPDATE sqlite_sequence SET seq = \(Int64.max)")
    }
    try spoil { $0 > 10 }
    let archive = try open()
    let (texts, _) = try await export(archive)
    #expect(!texts.isEmpty && Set(texts).count == texts.count)
  }

  /// Puts the first leaf of the messages in the place of every other one.
  private func circle() throws {
    var pages: [Int] = []
    do {
      let database = try SQLiteDatabase(path: path, migrations: [], isMigrating: false)
      try database.checkpoint()
      pages = try database.rows(
        "SELECT pageno FROM dbstat WHERE name = 'messages' AND pagetype = 'leaf' ORDER BY path", limit: 1_000
      ) { (row) throws(DatabaseError) in try row.number(0, as: Int.self) }
    }
    let file = unsafe Glibc.open(path, O_RDWR)
    defer { close(file) }
    var first = [UInt8](repeating: 0, count: 4_096)
    _ = unsafe pread(file, &first, first.count, (pages[0] - 1) * 4_096)
    for page in pages.dropFirst() { _ = unsafe pwrite(file, first, first.count, (page - 1) * 4_096) }
  }

  /// Overwrites the first page of a table.
  private func spoilRoot(of table: String) throws {
    let root = try {
      let database = try SQLiteDatabase(path: path, migrations: MessageArchive.migrations)
      try database.checkpoint()
      return try database.first("SELECT rootpage FROM sqlite_schema WHERE name = ?", [.text(table)]) {
        (row) throws(DatabaseError) in try row.number(0, as: Int.self)
      }
    }()
    let file = unsafe Glibc.open(path, O_RDWR)
    defer { close(file) }
    let noise = [UInt8](repeating: 0xEE, count: 4_096)
    _ = unsafe pwrite(file, noise, noise.count, (try #require(root) - 1) * 4_096)
  }

  @Test func whereNoMessageCanBeReadTheContactsAreSalvaged() async throws {
    try await fill(700)
    try spoilRoot(of: "messages")
    do {
      let archive = try open()
      #expect(try await archive.checkNext().outcome == .damaged(after: 0))
      await #expect(throws: SessionStoreError(reason: "the archive is damaged")) {
        try await archive.insert(TestMessage.make(5_000))
      }
      #expect(try await archive.contacts(limit: 9).count == 1, "what is not damaged goes on")
    }
    let report = try ArchiveSalvage.run(path: path, wall: 1)
    #expect(report.messages == 0 && report.unreadableNumbers == 700 && report.contacts == 1)
    let archive = try open()
    #expect(try await archive.contacts(limit: 9).first?.isBlocked == true)
    #expect(try await archive.insert(TestMessage.make(5_000)))
    #expect(try await archive.messages(after: nil, limit: 9).messages.map(\.cursor.number) == [701], "numbers go on")
    clear()
  }

  @Test func damagedContactsAreRefusedAndStay() async throws {
    try await fill(50)
    try spoilRoot(of: "people")
    let before = directory.bytes("archive.db")
    #expect(throws: ArchiveError.database(.corrupt(path: path, code: 11))) { try open() }
    #expect(throws: ArchiveError.self) { try ArchiveSalvage.run(path: path, wall: 1) }
    #expect(directory.bytes("archive.db") == before)
    clear()
  }

  @Test(arguments: 1...3) func anEarlierVersionIsSalvagedAsItIs(_ version: Int) async throws {
    let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    directory.copy("/\(tests)/Fixtures/archives/version-\(version).db", as: "archive.db")
    let report = try ArchiveSalvage.run(path: path, wall: 7)
    #expect(report.messages == 40 && report.unreadableNumbers == 0 && report.cards == 1)
    #expect(report.contacts == (version >= 2 ? 2 : 0))
    #expect(try await MessageArchive(path: path).messages(limit: 100).count == 40)
    clear()
  }

  @Test func theQuarantineIsBoundedAndNothingInItIsReplaced() async throws {
    try await fill(3)
    for number in 1...ArchiveLimits.quarantined {
      let report = try ArchiveSalvage.run(path: path, wall: 5)
      #expect(report.quarantined.hasSuffix(number == 1 ? "archive.db.5" : "archive.db.5.\(number)"))
    }
    #expect(
      throws: ArchiveError.quarantineFull(path: directory.path + "/quarantine", count: ArchiveLimits.quarantined)
    ) { try ArchiveSalvage.run(path: path, wall: 6) }
    #expect(try await open().messages(limit: 9).count == 3)
    clear()
  }

  @Test func aSalvageThatWasKilledBetweenTwoMovesIsFinishedAtTheNextStart() async throws {
    try await fill(20)
    let (first, second) = (TemporaryDirectory(), TemporaryDirectory())
    // Killed after the draft was whole, and after the damaged file had gone.
    directory.copy(path, as: "archive.db.salvaged")
    for name in directory.names where name != "archive.db-shm" {
      first.copy("\(directory.path)/\(name)", as: name)
      if name != "archive.db" { second.copy("\(directory.path)/\(name)", as: name) }
    }
    #expect(
      try await MessageArchive(path: first.path + "/archive.db", key: TestKey.make()).contacts(limit: 9).count == 1)
    #expect(!first.names.contains("archive.db.salvaged"), "it must not come back when the archive is moved away")
    #expect(
      try await MessageArchive(path: second.path + "/archive.db", key: TestKey.make()).contacts(limit: 9).count == 1)
    #expect(!second.names.contains("archive.db.salvaged"))
    for directory in [first, second] { clear(directory) }
  }

  private func clear(_ directory: TemporaryDirectory? = nil) {
    let quarantine = (directory ?? self.directory).path + "/quarantine"
    guard let listing = unsafe opendir(quarantine) else { return }
    while let entry = unsafe readdir(listing) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
        unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      unsafe unlink(quarantine + "/" + name)
    }
    unsafe closedir(listing)
    unsafe rmdir(quarantine)
  }
}
