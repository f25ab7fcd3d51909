import Database
import Identities
import Primitives
import Sessions
import Testing

@testable import Archive

@Suite struct HistoryTests {
  let directory = TemporaryDirectory()
  var path: String { directory.path + "/archive.db" }
  let ada = TestMessage.ada
  let bob = TestMessage.bob

  private func open() throws -> MessageArchive { try MessageArchive(path: path, key: TestKey.make()) }

  private func numbers(
    _ search: HistorySearch
  ) async throws -> [UInt64] {
    var found: [UInt64] = []
    for try await message in search { found.append(message.message.id.low) }
    return found
  }

  private func words(_ text: String) throws -> SearchWords { try #require(SearchWords(text)) }

  // MARK: Search

  @Test(arguments: [true, false]) func everyWordStandsInWhatIsFoundWhateverItsCase(_ isSealed: Bool) async throws {
    let archive = isSealed ? try open() : try MessageArchive(path: path)
    let texts = [
      "The key is under the mat", "KEYS and Mats", "Zoë said ÄRGER", "nothing", "the mat", "keymat", "",
    ]
    for (number, text) in texts.enumerated() {
      let place: Conversation = number < 2 ? .peer(bob) : .everyone
      _ = try await archive.insert(TestMessage.make(UInt64(number), to: place, text: text))
    }
    #expect(try await numbers(archive.search(words("key"), limit: 9)) == [5, 1, 0])
    #expect(try await numbers(archive.search(words("MAT key"), limit: 9)) == [5, 1, 0])
    #expect(try await numbers(archive.search(words("ärger zoË"), limit: 9)) == [2])
    #expect(try await numbers(archive.search(words("key"), in: .peer(bob), limit: 9)) == [1, 0])
    #expect(try await numbers(archive.search(words("key"), in: .everyone, limit: 9)) == [5])
    #expect(try await numbers(archive.search(words("key"), in: .peer(ada), limit: 9)) == [])
    #expect(try await numbers(archive.search(words("key"), limit: 2)) == [5, 1])
    let first = try await archive.searchSlice(words("key"), in: nil, before: nil, limit: 1)
    #expect(try await numbers(archive.search(words("key"), before: first.next, limit: 9)) == [1, 0])
    #expect(try await numbers(archive.search(words("absent"), limit: 9)) == [])
  }

  @Test func aWordIsFoundHoweverItsLettersAreEncoded() async throws {
    let archive = try open()
    let (composed, decomposed) = ("caf\u{E9} Stra\u{DF}e", "cafe\u{301} \u{41}\u{30A}ngstrom")
    _ = try await archive.insert(TestMessage.make(1, text: composed))
    _ = try await archive.insert(TestMessage.make(2, text: decomposed))
    for text in ["caf\u{E9}", "cafe\u{301}", "CAFE\u{301}", "CAF\u{C9}"] {
      #expect(
        try await numbers(archive.search(words(text), limit: 9)) == [2, 1], "\(text.unicodeScalars.map(\.value))")
    }
    #expect(try await numbers(archive.search(words("\u{212B}NGSTROM"), limit: 9)) == [2], "the sign of the unit")
    for text in ["strasse", "STRASSE", "stra\u{DF}e", "STRA\u{1E9E}E"] {
      #expect(try await numbers(archive.search(words(text), limit: 9)) == [1], "\(text)")
    }
    _ = try await archive.insert(TestMessage.make(3, text: "in der Strasse"))
    #expect(try await numbers(archive.search(words("stra\u{DF}e"), limit: 9)) == [3, 1])
  }

  @Test func whatIsNoSearchIsNone() {
    #expect(SearchWords("  ") == nil)
    #expect(SearchWords(String(repeating: "a", count: ArchiveLimits.searchBytes + 1)) == nil)
    #expect(SearchWords(String(repeating: "a ", count: ArchiveLimits.searchWords + 1)) == nil)
  }

  @Test func aSearchGivesItsFirstResultsBeforeItHasReadTheRestAndLetsWritesThrough() async throws {
    let archive = try open()
    try await fill(archive, 2_500) { $0 == 10 || $0 == 2_400 ? "needle" : "hay" }
    var search = archive.search(try words("needle"), limit: 9).makeAsyncIterator()
    #expect(try await search.next()?.message.id.low == 2_400)
    #expect(search.next?.number == 1_501, "one slice was read")
    #expect(try await archive.insert(TestMessage.make(9_999, text: "needle")))
    #expect(try await search.next()?.message.id.low == 10)
    #expect(try await search.next() == nil)
  }

  private func fill(_ archive: MessageArchive, _ count: UInt64, _ text: @Sendable @escaping (UInt64) -> String)
    async throws
  {
    try await withThrowingTaskGroup { group in
      for lane: UInt64 in 0..<50 {
        group.addTask {
          for number in stride(from: lane + 1, through: count, by: 50) {
            _ = try await archive.insert(TestMessage.make(number, text: text(number), stored: number))
          }
        }
      }
      try await group.waitForAll()
    }
  }

  // MARK: Export and replay

  @Test func anExportIsALineOfJSONForEachMessageOldestFirst() async throws {
    let archive = try open()
    var message = TestMessage.make(1, text: "a \"b\" \\ \n\r\t \u{1} zoë\u{2028}", stored: 5)
    message.sentMilliseconds = 6
    _ = try await archive.insert(message)
    _ = try await archive.insert(TestMessage.make(2, author: bob, to: .peer(ada), state: .accepted))
    try await archive.save(Contact(peer: ada, name: try PeerName("ada"), isBlocked: true))
    var lines: [String] = []
    #expect(
      try await archive.export {
        lines.append($0)
        return true
      } == (2, 0))
    #expect(
      lines[0]
        == #"{"number":1,"id":"00000000000000070000000000000001","in":"public","#
        + #""author":"00000000000000010000000000000001","name":"Ada","bot":true,"echo":false,"late":false,"sent":6,"stored":5,"#
        + #""hops":255,"path":[1,4294967295],"state":"received","text":"a \"b\" \\ \n\r\t \u0001 zoë\u2028"}"#)
    #expect(lines[1].contains(#""in":"00000000000000010000000000000001""#) && lines[1].contains(#""state":"accepted""#))
    #expect(try await archive.export { _ in false } == (1, 0), "whoever has enough says so")
  }

  @Test func aReplayHoldsOneSliceAtATimeAndMissesNothing() async throws {
    let archive = try open()
    try await fill(archive, 1_000) { "m\($0)" }
    var (next, count, largest): (ArchiveCursor?, Int, Int) = (nil, 0, 0)
    var last: Int64 = 0
    repeat {
      let page = try await archive.messages(after: next, limit: .max)
      largest = max(largest, page.messages.count)
      for message in page.messages {
        #expect(message.cursor.number > last)
        last = message.cursor.number
      }
      count += page.messages.count
      next = page.next
    } while next != nil
    #expect(count == 1_000 && largest == ArchiveLimits.replaySlice)
  }

  // MARK: Retention

  @Test func theOldestGoInGroupsByAgeNumberAndSize() async throws {
    let archive = try open()
    try await fill(archive, 1_300) { "m\($0)" }
    try await archive.save(Contact(peer: bob, name: try PeerName("bob")))
    var policy = RetentionPolicy(ageMilliseconds: 1_000)
    #expect(try await archive.trim(policy, now: 1_601).byAge == 500)
    #expect(try await archive.trim(policy, now: 1_601).byAge == 100)
    #expect(try await archive.trim(policy, now: 1_601) == ArchiveTrim(isDone: true))
    let page = try await archive.messages(after: nil, limit: 1)
    #expect(page.messages.first?.message.storedMilliseconds == 601, "by its age, whatever its number")
    policy = RetentionPolicy(messages: 600)
    #expect(try await archive.trim(policy, now: 1_601).byNumber == 100)
    policy = RetentionPolicy(bytes: 100_000)
    var removed = 0
    while case let trim = try await archive.trim(policy, now: 1_601), !trim.isDone { removed += trim.bySize }
    #expect(removed > 0)
    #expect(try await archive.contacts(limit: 9).count == 1)
  }

  @Test func whatWaitsToBeSentIsNotTrimmedWhileItLives() async throws {
    let archive = try open()
    let day: UInt64 = 86_400_000
    for (number, state) in MessageState.allCases.enumerated() {
      _ = try await archive.insert(TestMessage.make(UInt64(number), state: state, stored: 10 * day))
    }
    let policy = RetentionPolicy(messages: 0, bytes: 0, ageMilliseconds: 0)
    while try await !archive.trim(policy, now: 11 * day).isDone {}
    #expect(try await Set(archive.messages(limit: 9).map(\.state)) == [.waiting, .accepted])
    while try await !archive.trim(policy, now: 13 * day).isDone {}
    #expect(try await archive.messages(limit: 9) == [])
  }

  @Test func theDefaultFitsAnSDCard() {
    let policy = RetentionPolicy()
    #expect(policy.bytes <= 128 << 20 && policy.messages == 100_000 && policy.ageMilliseconds == 365 * 86_400_000)
  }

  // MARK: Writes

  @Test func writesThatWaitTogetherShareATransaction() async throws {
    let archive = try open()
    var before = await archive.writes(now: 1).bytesToday
    for number: UInt64 in 1...50 { _ = try await archive.insert(TestMessage.make(number)) }
    let alone = await archive.writes(now: 1).bytesToday - before
    before += alone
    try await withThrowingTaskGroup { group in
      for number: UInt64 in 51...100 {
        group.addTask { () async throws -> Void in #expect(try await archive.insert(TestMessage.make(number))) }
      }
      try await group.waitForAll()
    }
    let together = await archive.writes(now: 1).bytesToday - before
    #expect(try await archive.messages(limit: 200).count == 100)
    #expect(together * 3 < alone, "\(together) bytes against \(alone)")
  }

  @Test func everyWriteOfAGroupHasAnAnswerOfItsOwn() async throws {
    let archive = try open()
    let answers = try await withThrowingTaskGroup { group in
      for number: UInt64 in 0..<60 {
        group.addTask { try await archive.insert(TestMessage.make(number / 2)) }
      }
      return try await group.reduce(into: [Bool: Int]()) { $0[$1, default: 0] += 1 }
    }
    #expect(answers == [true: 30, false: 30])
  }

  @Test func bytesWrittenAreCountedByDayAndKept() async throws {
    let day: UInt64 = 86_400_000
    do {
      let archive = try open()
      _ = try await archive.insert(TestMessage.make(1))
      #expect(await archive.writes(now: 3 * day).bytesToday >= 4_096)
      _ = try await archive.insert(TestMessage.make(2))
      let next = await archive.writes(now: 4 * day)
      #expect(next.bytesToday >= 4_096 && next.bytesYesterday >= 4_096 && next.day == 4 && !next.isOverBudget)
      _ = try await archive.trim(RetentionPolicy(), now: 4 * day)
    }
    let kept = try await open().writes(now: 4 * day)
    #expect(kept.day == 4 && kept.bytesToday >= 4_096 && kept.bytesYesterday >= 4_096)
    #expect(try await open().writes(now: 9 * day).bytesYesterday == 0)
    var account = WriteAccount()
    account.note(logged: ArchiveLimits.bytesWrittenPerDay + 1, now: day)
    #expect(account.isOverBudget)
  }

  @Test func errorsOfTheDiskAreSaidInWords() {
    func reason(_ error: DatabaseError) -> String { SessionStoreError(error).reason }
    #expect(reason(.statement(code: 1_034, message: "", sql: "")) == "the disk fails")
    #expect(reason(.statement(code: 8, message: "", sql: "")) == "the archive cannot be written to")
    #expect(reason(.full(path: "")) == "the disk is full" && reason(.corrupt(path: "", code: 11)).contains("damaged"))
  }

  @Test func aFullDiskFailsEachWriteAndTheArchiveGoesOn() async throws {
    let archive = try open()
    _ = try await archive.insert(TestMessage.make(1))
    try await archive.boundForTests(pages: 40)
    var failures = 0
    let long = String(repeating: "x", count: 3_000)
    for number: UInt64 in 2...60 {
      do { _ = try await archive.insert(TestMessage.make(number, text: long)) } catch {
        #expect(error == SessionStoreError(reason: "the disk is full"))
        failures += 1
      }
    }
    #expect(failures > 20)
    let kept = try await archive.messages(limit: 100).count
    #expect(kept == 60 - failures, "what was answered is there, and nothing else")
    await withTaskGroup { group in
      for number: UInt64 in 100..<110 {
        group.addTask {
          let failure = await #expect(throws: SessionStoreError.self) {
            try await archive.insert(TestMessage.make(number, text: long))
          }
          #expect(failure?.reason == "the disk is full")
        }
      }
    }
    try await archive.boundForTests(pages: 10_000)
    #expect(try await archive.insert(TestMessage.make(100, text: long)))
    #expect(try await archive.messages(limit: 100).count == kept + 1)
  }
}

extension MessageArchive {
  func boundForTests(pages: Int) throws { try database.bound(pages: pages) }
}
