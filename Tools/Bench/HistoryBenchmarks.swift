import Archive
import BenchTable
import Bytes
import Database
import Glibc
import Identities
import Primitives
import Sessions

/// What a history of 100,000 messages costs: to open, to search, to replay, and to add to.
enum HistoryBenchmarks {
  private static let count: UInt64 = 100_000
  private static let author = PeerID(high: 1, low: 1)

  static func run() async throws -> [BenchRow] {
    var template = Array("/tmp/relaychat-bench-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw RawPeer.Failure(what: "no directory for the history") }
    let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer {
      for file in ["archive.db", "archive.db-wal", "archive.db-shm", "plain.db", "plain.db-wal", "plain.db-shm"] {
        unsafe unlink("\(directory)/\(file)")
      }
      unsafe rmdir(directory)
    }
    let path = directory + "/archive.db"
    try await fill(path)
    return [
      try open(path), try await search(path), try await firstResult(path), try replay(path),
      try await write(path, directory + "/plain.db"),
    ]
  }

  private static func key() throws -> ArchiveKey {
    let dataKey = Secret(copying: [UInt8](repeating: 7, count: 32).rawSpan)
    return try ArchiveKey(dataKey: dataKey, storeID: [UInt8](repeating: 1, count: 16))
  }

  /// About a hundred bytes of text, of which one in ten thousand has the word that is looked for.
  private static func message(_ number: UInt64) -> StoredMessage {
    let text =
      "message \(number) says that the bridge by the old mill is closed until the water has gone down again"
      + (number % 10_000 == 1 ? ", Needle" : ", friends")
    return StoredMessage(
      id: MessageID(high: 7, low: number), conversation: number % 3 == 0 ? .peer(author) : .everyone, author: author,
      authorName: "ada", isFromBot: false, isEcho: false, text: text, sentMilliseconds: number,
      storedMilliseconds: number, hops: 2, path: [1, 2], state: .received)
  }

  private static func fill(_ path: String) async throws {
    let archive = try MessageArchive(path: path, key: key())
    try await withThrowingTaskGroup { group in
      for lane: UInt64 in 0..<200 {
        group.addTask {
          for number in stride(from: lane, to: count, by: 200) { _ = try await archive.insert(message(number)) }
        }
      }
      try await group.waitForAll()
    }
    for number: UInt64 in 1...200 {
      try await archive.save(Contact(peer: PeerID(high: number, low: 0), name: try PeerName("n\(number)")))
    }
  }

  private static func open(_ path: String) throws -> BenchRow {
    var best = UInt64.max
    for _ in 0..<5 {
      let start = Stopwatch.now()
      let archive = try MessageArchive(path: path, key: key())
      best = min(best, Stopwatch.now() - start)
      withExtendedLifetime(archive) {}
    }
    return BenchRow(
      name: "open 100,000 messages and 200 contacts", value: Double(best) / 1_000_000, unit: "ms", goal: .atMost(100))
  }

  private static func search(_ path: String) async throws -> BenchRow {
    let archive = try MessageArchive(path: path, key: key())
    guard let words = SearchWords("needle") else { throw RawPeer.Failure(what: "no words") }
    var best = UInt64.max
    for _ in 0..<3 {
      let start = Stopwatch.now()
      var found = 0
      for try await _ in archive.search(words, limit: 1_000) { found += 1 }
      best = min(best, Stopwatch.now() - start)
      guard found == 10 else { throw RawPeer.Failure(what: "the search found \(found) messages") }
    }
    return BenchRow(
      name: "search 100,000 messages for a word", value: Double(best) / 1_000_000, unit: "ms", goal: .atMost(1_000))
  }

  private static func firstResult(_ path: String) async throws -> BenchRow {
    let archive = try MessageArchive(path: path, key: key())
    guard let words = SearchWords("needle") else { throw RawPeer.Failure(what: "no words") }
    let start = Stopwatch.now()
    var search = archive.search(words, limit: 1_000).makeAsyncIterator()
    guard try await search.next() != nil else { throw RawPeer.Failure(what: "the search found nothing") }
    return BenchRow(
      name: "first result of that search", value: Double(Stopwatch.now() - start) / 1_000_000, unit: "ms",
      goal: .reported)
  }

  /// How much more memory was resident at most while all messages were made lines of JSON, in a process that did nothing
  /// before but open the archive.
  private static func replay(_ path: String) throws -> BenchRow {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { throw RawPeer.Failure(what: "pipe") }
    _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
    let program = DaemonUnderTest.ownDirectory() + "/relaychat-bench"
    let process = try DaemonUnderTest.spawn(program, [program, "--replay", path, "\(ends[1])"])
    close(ends[1])
    var bytes = [UInt8](repeating: 0, count: 32)
    let size = unsafe read(ends[0], &bytes, bytes.count)
    close(ends[0])
    var status: Int32 = 0
    unsafe waitpid(process, &status, 0)
    guard let most = Int(String(decoding: bytes.prefix(max(0, size)), as: UTF8.self)) else {
      throw RawPeer.Failure(what: "the replay said nothing")
    }
    return BenchRow(
      name: "replay 100,000 messages, above idle", value: Double(most) / 1_024, unit: "MB", goal: .atMost(16))
  }

  /// The child's side: writes by how many kilobytes the memory grew.
  static func serveReplay(_ path: String, _ descriptor: Int32) async throws {
    let archive = try MessageArchive(path: path, key: key())
    _ = try await archive.messages(limit: 1)
    let idle = resident("VmRSS:")
    let end = try await archive.export { _ in true }
    let text = Array((end.lines == count && end.unreadable == 0 ? "\(resident("VmHWM:") - idle)" : "no").utf8)
    _ = unsafe Glibc.write(descriptor, text, text.count)
  }

  /// A line of the kernel's account, in kilobytes.
  private static func resident(_ name: String) -> Int {
    let file = unsafe Glibc.open("/proc/self/status", O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 8_192)
    let size = unsafe read(file, &bytes, bytes.count)
    let line = String(decoding: bytes.prefix(max(0, size)), as: UTF8.self).split(separator: "\n").first {
      $0.hasPrefix(name)
    }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
  }

  /// One durable message at a time, sealed beside plain, in turn so that a change of the disk's pace meets both.
  private static func write(_ path: String, _ plainPath: String) async throws -> BenchRow {
    let sealed = try MessageArchive(path: path, key: key())
    let plain = try MessageArchive(path: plainPath)
    var (ours, theirs) = (Sample(), Sample())
    for number in count..<count + 300 {
      var start = Stopwatch.now()
      _ = try await sealed.insert(message(number))
      ours.values.append(Stopwatch.now() - start)
      start = Stopwatch.now()
      _ = try await plain.insert(message(number))
      theirs.values.append(Stopwatch.now() - start)
    }
    return BenchRow(
      name: "durable message, median", value: ours.quantile(0.5), unit: "µs",
      rival: ("the same archive, plain and small", theirs.quantile(0.5)), goal: .ratioAtMost(1.2),
      // A sealed write touches two pages of the log, its row and the header that no former state may replace; a plain one touches one.
      knownRatio: 1.6)
  }
}
