import Bytes
import Glibc
import Primitives
import TestKit
import Testing

@testable import Keying

@Suite struct BackupTests {
  private let path = "/backup/file"

  private func write(
    _ disk: MemoryFileSystem, _ entries: [(String, [UInt8])], _ words: String = "words", seed: UInt64 = 3
  ) throws(BackupError) {
    var writer = try BackupWriter(
      path: path, passphrase: secret(words), wallMilliseconds: 1_800_000_000_000,
      surroundings: surroundings(disk, seed: seed))
    for (name, bytes) in entries { try writer.entry(name, bytes.rawSpan) }
    try writer.finish()
  }

  private func read(
    _ disk: MemoryFileSystem, _ words: String = "words", clock: StandingClock = StandingClock()
  ) throws(BackupError) -> [(String, [UInt8])] {
    var reader = try BackupReader(
      path: path, passphrase: secret(words), surroundings: surroundings(disk, clock: clock))
    var entries: [(String, [UInt8])] = []
    while let part = try reader.next() {
      switch part {
      case .entry(let name, _): entries.append((name, []))
      case .bytes(let bytes): entries[entries.count - 1].1 += bytes
      }
    }
    #expect(try reader.next() == nil)
    return entries
  }

  /// The records of a file, without its head.
  private func records(_ bytes: [UInt8]) throws -> [[UInt8]] {
    var records: [[UInt8]] = []
    var offset = BackupHead.byteCount
    while offset < bytes.count {
      let head = try BackupRecords.RecordHead(decoding: bytes.rawSpan.extracting(offset..<offset + 5))
      records.append(Array(bytes[offset..<offset + 5 + head.sealedByteCount]))
      offset += 5 + head.sealedByteCount
    }
    return records
  }

  private let sizes = [0, 1, 65_534, 65_535, 65_536, 131_070, 200_000]

  @Test func everySizeComesBack() throws {
    let disk = emptyDisk()
    let entries = sizes.map { size in ("size-\(size)", (0..<size).map { UInt8(truncatingIfNeeded: $0) }) }
    try write(disk, entries)
    let read = try read(disk)
    #expect(read.map(\.0) == entries.map(\.0))
    #expect(read.map(\.1) == entries.map(\.1))
    #expect(disk.contents[path + ".part"] == nil)
  }

  @Test func nothingAtAllIsABackupToo() throws {
    let disk = emptyDisk()
    try write(disk, [])
    #expect(try read(disk).isEmpty)
  }

  @Test func headSaysWhenAndWhich() throws {
    let disk = emptyDisk()
    try write(disk, [("a", [1])])
    let reader = try BackupReader(path: path, passphrase: secret("words"), surroundings: surroundings(disk))
    #expect(reader.head.wallMilliseconds == 1_800_000_000_000 && reader.head.id.count == 16)
    let other = emptyDisk()
    try write(other, [("a", [1])], seed: 4)
    let second = try BackupReader(path: path, passphrase: secret("words"), surroundings: surroundings(other))
    #expect(reader.head.id != second.head.id)
  }

  @Test func everyCutIsNoticed() throws {
    let disk = emptyDisk()
    try write(disk, [("a", [1, 2, 3]), ("b", [UInt8](repeating: 4, count: 200))])
    let whole = disk.contents[path] ?? []
    for count in 0..<whole.count {
      disk.put(path, Array(whole.prefix(count)))
      #expect(throws: BackupError.truncated) { try read(disk) }
    }
  }

  @Test func trailingBytesAreRefused() throws {
    let disk = emptyDisk()
    try write(disk, [("a", [1, 2, 3])])
    disk.put(path, (disk.contents[path] ?? []) + [0])
    #expect(throws: BackupError.trailing) { try read(disk) }
  }

  @Test func everyFlippedBitIsRefused() throws {
    let disk = emptyDisk()
    try write(disk, [("a", [1, 2, 3]), ("b", [5])])
    let whole = disk.contents[path] ?? []
    for index in whole.indices {
      for bit in [0, 3, 7] {
        var flipped = whole
        flipped[index] ^= 1 << UInt8(bit)
        disk.put(path, flipped)
        #expect(throws: BackupError.self, "byte \(index)") { try read(disk) }
      }
    }
  }

  @Test func recordsStayInTheirPlaceAndFile() throws {
    let disk = emptyDisk()
    let entries = [("a", [UInt8](repeating: 1, count: 9)), ("b", [UInt8](repeating: 2, count: 9))]
    try write(disk, entries)
    let whole = disk.contents[path] ?? []
    let head = Array(whole.prefix(BackupHead.byteCount))
    let records = try records(whole)
    #expect(records.count == 5)
    for (one, other) in [(0, 2), (1, 3), (0, 4)] {
      var swapped = records
      swapped.swapAt(one, other)
      disk.put(path, head + swapped.flatMap { $0 })
      #expect(throws: BackupError.damaged(record: UInt64(one))) { try read(disk) }
    }
    disk.put(path, head + (records[..<2] + records[3...]).flatMap { $0 })
    #expect(throws: BackupError.damaged(record: 2)) { try read(disk) }
    disk.put(path, head + (records[..<1] + records).flatMap { $0 })
    #expect(throws: BackupError.damaged(record: 1)) { try read(disk) }
    disk.put(path, head + (records[..<4] + records[4...] + records[4...]).flatMap { $0 })
    #expect(throws: BackupError.trailing) { try read(disk) }
    let other = emptyDisk()
    try write(other, entries, seed: 4)
    let foreign = try self.records(other.contents[path] ?? [])
    disk.put(path, head + ([foreign[0]] + records[1...]).flatMap { $0 })
    #expect(throws: BackupError.damaged(record: 0)) { try read(disk) }
  }

  @Test func wrongPassphraseIsRefusedInItsTime() throws {
    let disk = emptyDisk()
    try write(disk, [("a", [1])])
    let clock = StandingClock()
    #expect(throws: BackupError.wrongPassphrase) { try read(disk, "guess", clock: clock) }
    #expect(clock.waited == [.milliseconds(300)])
    #expect(throws: BackupError.passphraseLength(0)) { try read(disk, "") }
  }

  @Test func fileThatIsThereIsNotReplaced() throws {
    let disk = emptyDisk()
    disk.put(path, [1])
    #expect(throws: BackupError.exists(path: path)) { try write(disk, []) }
    #expect(disk.contents[path] == [1])
  }

  @Test func writerThatIsGivenUpLeavesNothing() throws {
    let disk = emptyDisk()
    do {
      var writer = try BackupWriter(
        path: path, passphrase: secret("words"), wallMilliseconds: 0, surroundings: surroundings(disk))
      try writer.begin("a", byteCount: 10)
      try writer.append([1, 2].rawSpan)
      #expect(throws: BackupError.misuse(.size)) { try writer.append([UInt8](repeating: 0, count: 9).rawSpan) }
      #expect(throws: BackupError.misuse(.size)) { try writer.begin("b", byteCount: 1) }
      var failure: BackupError?
      do throws(BackupError) { try writer.finish() } catch { failure = error }
      #expect(failure == .misuse(.size))
    }
    #expect(!disk.contents.keys.contains { $0.hasPrefix("/backup") })
  }

  @Test func namesCanStandForFiles() {
    for name in ["", ".", "..", "a/b", "/a", "a\0", "a\n", String(repeating: "x", count: 256)] {
      var assembly = BackupAssembly()
      #expect(throws: BackupAssembly.Fault.name) {
        try assembly.accept(.entry(name: name, byteCount: 0), isLast: false)
      }
    }
  }

  @Test func orderIsHeld() throws {
    func refuses(_ fault: BackupAssembly.Fault, _ contents: [(BackupContent, Bool)]) {
      var assembly = BackupAssembly()
      #expect(throws: fault) { for (content, isLast) in contents { try assembly.accept(content, isLast: isLast) } }
    }
    refuses(.size, [(.bytes([1]), false)])
    refuses(.size, [(.entry(name: "a", byteCount: 1), false), (.end(entries: 1), true)])
    refuses(.size, [(.entry(name: "a", byteCount: 1), false), (.bytes([1, 2]), false)])
    refuses(.chunk, [(.entry(name: "a", byteCount: 2), false), (.bytes([1]), false)])
    refuses(.repeatedName, [(.entry(name: "a", byteCount: 0), false), (.entry(name: "a", byteCount: 0), false)])
    refuses(.end, [(.end(entries: 1), true)])
    refuses(.end, [(.end(entries: 0), false)])
    refuses(.end, [(.entry(name: "a", byteCount: 0), true)])
    refuses(.end, [(.end(entries: 0), true), (.end(entries: 0), true)])
    refuses(.size, [(.entry(name: "a", byteCount: .max), false), (.end(entries: 1), true)])
  }

  @Test func contentIsReadAsItWasWritten() throws {
    for content in [BackupContent.entry(name: "имя", byteCount: .max), .bytes([0]), .end(entries: 7)] {
      #expect(try BackupContent(decoding: content.encoded.rawSpan) == content)
    }
    for bytes: [UInt8] in [[], [0], [4, 1], [2], [3, 0, 0, 0], [3, 0, 0, 0, 0, 0], [1, 0, 0]] {
      #expect(throws: BackupAssembly.Fault.malformed) { try BackupContent(decoding: bytes.rawSpan) }
    }
    #expect(throws: BackupAssembly.Fault.name) {
      try BackupContent(decoding: ([1] + [UInt8](repeating: 0, count: 8) + [0xFF]).rawSpan)
    }
  }
}
