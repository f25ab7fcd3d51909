internal import Bytes
package import Primitives

/// Writes a backup, entry by entry, in constant memory. Until `finish` there is only `FILE.part`, which goes with a writer
/// that was given up.
package struct BackupWriter: ~Copyable {
  private let path: String
  private let fileSystem: any FileSystem
  private let file: OpenFile
  private var records: BackupRecords
  private var assembly = BackupAssembly()
  /// Less than a record of the entry that is being written.
  private var waiting: [UInt8] = []
  private var isFinished = false

  private var partPath: String { path + ".part" }

  /// - Parameters:
  ///   - path: where there is no file yet.
  ///   - wallMilliseconds: since 1970, as the backup will say.
  package init(
    path: String, passphrase: borrowing Secret, wallMilliseconds: UInt64, surroundings: KeyingSurroundings
  ) throws(BackupError) {
    let fileSystem = surroundings.fileSystem
    guard passphrase.count > 0, passphrase.count <= KeyingLimits.passphraseBytes else {
      throw .passphraseLength(passphrase.count)
    }
    let isThere: Bool
    do throws(FileSystemError) { isThere = try fileSystem.facts(of: path) != nil } catch { throw .file(error) }
    guard !isThere else { throw .exists(path: path) }
    let file: OpenFile
    do throws(FileSystemError) { file = try DurableFile.create(path + ".part", in: fileSystem) } catch {
      throw .file(error)
    }
    do throws(BackupError) {
      let prepared: Prepared
      do throws(PrimitiveError) {
        prepared = try Self.prepare(passphrase, wallMilliseconds: wallMilliseconds, surroundings)
      } catch {
        throw BackupError.primitive(error)
      }
      do throws(FileSystemError) {
        try DurableFile.write(file, prepared.head.encoded.rawSpan, path: path + ".part", in: fileSystem)
      } catch {
        throw BackupError.file(error)
      }
      self.init(path: path, fileSystem: fileSystem, file: file, records: prepared.records)
    } catch {
      fileSystem.close(file)
      try? fileSystem.unlink(path + ".part")
      throw error
    }
  }

  private init(path: String, fileSystem: any FileSystem, file: OpenFile, records: consuming BackupRecords) {
    self.path = path
    self.fileSystem = fileSystem
    self.file = file
    self.records = records
  }

  private struct Prepared: ~Copyable {
    let head: BackupHead
    let records: BackupRecords
  }

  private static func prepare(
    _ passphrase: borrowing Secret, wallMilliseconds: UInt64, _ surroundings: KeyingSurroundings
  ) throws(PrimitiveError) -> Prepared {
    let random = surroundings.random
    let (id, salt) = (try random.bytes(BackupHead.idByteCount), try random.bytes(KeySlot.saltByteCount))
    let key = try random.secret(AEADKey.keyByteCount)
    let wrapping = try surroundings.stretcher.stretch(passphrase.bytes, salt.rawSpan, .interactive)
    let head = BackupHead(
      id: id, wallMilliseconds: wallMilliseconds,
      slot: try KeySlot(
        wrapping: key, under: wrapping, kind: .passphrase, cost: .interactive, salt: salt, label: .backupSlot,
        owner: id))
    return Prepared(head: head, records: try BackupRecords(head: head, key: key))
  }

  deinit {
    fileSystem.close(file)
    if !isFinished { try? fileSystem.unlink(path + ".part") }
  }

  /// Begins an entry that `byteCount` bytes follow.
  package mutating func begin(_ name: String, byteCount: UInt64) throws(BackupError) {
    try add(.entry(name: name, byteCount: byteCount), isLast: false)
  }

  /// More bytes of the entry, not more than it said.
  package mutating func append(_ bytes: RawSpan) throws(BackupError) {
    guard UInt64(waiting.count) + UInt64(bytes.byteCount) <= assembly.missingByteCount else { throw .misuse(.size) }
    var offset = 0
    while offset < bytes.byteCount {
      let count = min(bytes.byteCount - offset, BackupAssembly.chunkByteCount - waiting.count)
      waiting.append(copying: bytes.extracting(offset..<offset + count))
      offset += count
      let isEnd = UInt64(waiting.count) == assembly.missingByteCount
      guard waiting.count == BackupAssembly.chunkByteCount || isEnd else { continue }
      try add(.bytes(waiting), isLast: false)
      waiting.removeAll(keepingCapacity: true)
    }
  }

  /// An entry at once.
  package mutating func entry(_ name: String, _ bytes: RawSpan) throws(BackupError) {
    try begin(name, byteCount: UInt64(bytes.byteCount))
    try append(bytes)
  }

  /// Ends the backup and gives it its name. When this returns it is durable.
  package consuming func finish() throws(BackupError) {
    try add(.end(entries: assembly.entryCount), isLast: true)
    do throws(FileSystemError) {
      try fileSystem.sync(file)
      try fileSystem.rename(partPath, to: path)
      isFinished = true
      try fileSystem.syncDirectory(DurableFile.directory(of: path))
    } catch {
      throw .file(error)
    }
  }

  private mutating func add(_ content: BackupContent, isLast: Bool) throws(BackupError) {
    do throws(BackupAssembly.Fault) { try assembly.accept(content, isLast: isLast) } catch { throw .misuse(error) }
    let record: [UInt8]
    do throws(PrimitiveError) { record = try records.seal(content, isLast: isLast) } catch { throw .primitive(error) }
    try write(record)
  }

  private func write(_ bytes: [UInt8]) throws(BackupError) {
    do throws(FileSystemError) {
      try DurableFile.write(file, bytes.rawSpan, path: path + ".part", in: fileSystem)
    } catch {
      throw .file(error)
    }
  }
}
