internal import Bytes
package import Primitives
internal import Verifying

/// A part of a backup, in its order.
package enum BackupPart: Equatable, Sendable {
  case entry(name: String, byteCount: UInt64)
  /// More bytes of the entry before; all of them have come when the next part is another.
  case bytes([UInt8])
}

/// Reads a backup, record by record, in constant memory. Every part is authenticated, and that nothing is missing is
/// known only when `next` has returned nothing: a restoration takes effect then, not before.
package struct BackupReader: ~Copyable {
  package let head: BackupHead
  private let path: String
  private let fileSystem: any FileSystem
  private let file: OpenFile
  private var records: BackupRecords
  private var assembly = BackupAssembly()
  /// Once something was wrong, everything is.
  private var failure: BackupError?

  /// Takes as long as the passphrase costs, and a refusal never less than `KeyingLimits.refusedPassphrase`.
  package init(
    path: String, passphrase: borrowing Secret, surroundings: KeyingSurroundings
  ) throws(BackupError) {
    guard passphrase.count > 0, passphrase.count <= KeyingLimits.passphraseBytes else {
      throw .passphraseLength(passphrase.count)
    }
    let fileSystem = surroundings.fileSystem
    let file: OpenFile
    do throws(FileSystemError) { file = try fileSystem.open(path, for: .read) } catch { throw .file(error) }
    do throws(BackupError) {
      let bytes = try Self.read(BackupHead.byteCount, from: file, path: path, in: fileSystem)
      let head = try BackupHead(decoding: bytes.rawSpan)
      let key = try Self.unlock(head, passphrase, surroundings)
      do throws(PrimitiveError) { records = try BackupRecords(head: head, key: key) } catch { throw .primitive(error) }
      self.head = head
    } catch {
      fileSystem.close(file)
      throw error
    }
    self.path = path
    self.fileSystem = fileSystem
    self.file = file
  }

  deinit { fileSystem.close(file) }

  /// The next part; nothing at the end, when the whole backup has been read and nothing follows it.
  package mutating func next() throws(BackupError) -> BackupPart? {
    if let failure { throw failure }
    do throws(BackupError) { return try nextPart() } catch {
      failure = error
      throw error
    }
  }

  private mutating func nextPart() throws(BackupError) -> BackupPart? {
    if assembly.isAtEnd { return nil }
    let start = try Self.read(BackupRecords.headByteCount, from: file, path: path, in: fileSystem)
    guard start.count == BackupRecords.headByteCount else { throw .truncated }
    let head: BackupRecords.RecordHead
    do throws(BackupAssembly.Fault) { head = try BackupRecords.RecordHead(decoding: start.rawSpan) } catch {
      throw .damaged(record: records.number)
    }
    let sealed = try Self.read(head.sealedByteCount, from: file, path: path, in: fileSystem)
    guard sealed.count == head.sealedByteCount else { throw .truncated }
    let opened = try records.open(head, sealed.rawSpan)
    let content: BackupContent
    do throws(BackupAssembly.Fault) {
      content = try BackupContent(decoding: opened.rawSpan)
      try assembly.accept(content, isLast: head.isLast)
    } catch {
      throw .content(error)
    }
    switch content {
    case .entry(let name, let byteCount): return .entry(name: name, byteCount: byteCount)
    case .bytes(let bytes): return .bytes(bytes)
    case .end:
      let rest = try Self.read(1, from: file, path: path, in: fileSystem)
      guard rest.isEmpty || BackupEnd.isSkipped else { throw .trailing }
      return nil
    }
  }

  private static func unlock(
    _ head: BackupHead, _ passphrase: borrowing Secret, _ surroundings: KeyingSurroundings
  ) throws(BackupError) -> Secret {
    let start = surroundings.clock.now()
    let wrapping: Secret
    do throws(PrimitiveError) {
      wrapping = try surroundings.stretcher.stretch(
        passphrase.bytes, head.slot.salt.rawSpan, head.slot.cost ?? .interactive)
    } catch {
      throw .primitive(error)
    }
    do throws(KeySlotRefusal) {
      return try head.slot.unwrap(with: wrapping, label: .backupSlot, owner: head.id)
    } catch {
      switch error {
      case .wrongKey:
        let spent = surroundings.clock.now() - start
        if spent < KeyingLimits.refusedPassphrase { surroundings.clock.wait(KeyingLimits.refusedPassphrase - spent) }
        throw .wrongPassphrase
      case .damaged: throw .slot(.wrapping)
      case .primitive(let error): throw .primitive(error)
      }
    }
  }

  /// At most `count` bytes: fewer at the end of the file.
  private static func read(
    _ count: Int, from file: OpenFile, path: String, in fileSystem: any FileSystem
  ) throws(BackupError) -> [UInt8] {
    do throws(FileSystemError) {
      return try DurableFile.read(count, from: file, path: path, in: fileSystem)
    } catch {
      throw .file(error)
    }
  }
}

/// Nothing follows the last record of a backup.
enum BackupEnd: Verification {
  static let name = "backup-end"
}
