internal import Bytes
internal import Glibc
internal import Primitives
internal import Verifying

/// Fetches key-encryption keys from where a provider has them.
struct KeySources: Sendable {
  static let credentialVariable = "CREDENTIALS_DIRECTORY"

  /// The state directory: what a key file should not lie in.
  let directory: String
  let surroundings: KeyingSurroundings

  private var fileSystem: any FileSystem { surroundings.fileSystem }

  /// The key of a credential or a key file, 32 bytes.
  func key(of source: KeyProvider.Source) throws(KeyingError) -> Secret {
    switch source {
    case .credential(let name):
      guard let folder = surroundings.environment.value(of: Self.credentialVariable), !folder.isEmpty else {
        throw .providerMissing(.credential, place: "$" + Self.credentialVariable)
      }
      guard KeyProvider.isCredentialName(name) else { throw .providerMissing(.credential, place: name) }
      // The service manager makes these files, in memory and for this service alone; its modes are its own.
      return try read(folder + "/" + name, kind: .credential) { _, _ in nil }
    case .keyFile(let path, let isInsecureAllowed):
      let isBeside = isBesideData(path)
      return try read(path, kind: .keyFile) { facts, user in
        guard facts.mode & 0o077 == 0 || KeyFileMode.isSkipped else { return .openToOthers(mode: facts.mode) }
        guard facts.owner == user || facts.owner == 0 || KeyFileOwner.isSkipped else {
          return .notOurs(owner: facts.owner)
        }
        guard !isBeside || isInsecureAllowed || KeyFilePlace.isSkipped else { return .besideData }
        return nil
      }
    case .passphrase: throw .providerLocked(.passphrase, place: "passphrase", code: 0)
    }
  }

  /// The key that a passphrase makes with the salt and the cost of a slot.
  func key(
    ofPassphrase passphrase: borrowing Secret, salt: [UInt8], cost: PassphraseCost
  ) throws(KeyingError) -> Secret {
    guard passphrase.count > 0 else { throw .providerLocked(.passphrase, place: "passphrase", code: 0) }
    guard passphrase.count <= KeyingLimits.passphraseBytes else { throw .passphraseLength(passphrase.count) }
    do throws(PrimitiveError) {
      return try surroundings.stretcher.stretch(passphrase.bytes, salt.rawSpan, cost)
    } catch {
      throw .primitive(error)
    }
  }

  /// Whether a path lies inside the state directory, links followed.
  func isBesideData(_ path: String) -> Bool {
    guard let inside = fileSystem.resolved(path), let directory = fileSystem.resolved(directory) else { return false }
    return inside.hasPrefix(directory.hasSuffix("/") ? directory : directory + "/")
  }

  private func read(
    _ path: String, kind: KeySlot.Kind, check: (FileFacts, UInt32) -> KeyFileFault?
  ) throws(KeyingError) -> Secret {
    let file: OpenFile
    do throws(FileSystemError) { file = try fileSystem.open(path, for: .read) } catch {
      let isMissing = error.code == ENOENT || error.code == ENOTDIR
      throw isMissing
        ? .providerMissing(kind, place: path) : .providerLocked(kind, place: path, code: error.code)
    }
    defer { fileSystem.close(file) }
    var filled = 0
    let content: Secret
    let facts: FileFacts
    do throws(FileSystemError) { facts = try fileSystem.facts(of: file) } catch {
      throw .providerLocked(kind, place: path, code: error.code)
    }
    if let fault = facts.kind == .file ? check(facts, fileSystem.user) : .noFile {
      throw .providerUnfit(kind, place: path, fault)
    }
    do throws(FileSystemError) {
      content = try Secret(count: KeyingLimits.keyFileBytes) { (span) throws(FileSystemError) in
        while filled < span.byteCount {
          var rest = span._mutatingExtracting(droppingFirst: filled)
          let count = try fileSystem.read(file, into: &rest)
          if count == 0 { break }
          filled += count
        }
      }
    } catch {
      throw .providerLocked(kind, place: path, code: error.code)
    }
    guard let key = Self.key(in: content, count: filled) else {
      throw .providerUnfit(kind, place: path, .malformed)
    }
    return key
  }

  /// 32 bytes as they are, or 64 hexadecimal digits with at most one line end.
  private static func key(in content: borrowing Secret, count: Int) -> Secret? {
    let bytes = content.bytes
    let size = AEADKey.keyByteCount
    let isText = count == 2 * size || (count == 2 * size + 1 && bytes.byte(at: 2 * size) == 0x0A)
    guard isText || count == size else { return nil }
    var isHex = true
    var first: UInt8?
    // 32 bytes of one value are a placeholder that was never filled in, and everybody's guess.
    var isVaried = false
    let key = Secret(count: size) { span in
      for index in 0..<size {
        let value: UInt8
        if isText {
          guard let high = digit(bytes.byte(at: 2 * index)), let low = digit(bytes.byte(at: 2 * index + 1)) else {
            isHex = false
            return
          }
          value = high << 4 | low
        } else {
          value = bytes.byte(at: index) ?? 0
        }
        if value != first ?? value { isVaried = true }
        first = first ?? value
        span.storeBytes(of: value, toByteOffset: index, as: UInt8.self)
      }
    }
    guard isHex, isVaried else { return nil }
    return key
  }

  private static func digit(_ character: UInt8?) -> UInt8? {
    switch character {
    case .some(let digit) where (0x30...0x39).contains(digit): digit - 0x30
    case .some(let digit) where (0x41...0x46).contains(digit): digit - 0x41 + 10
    case .some(let digit) where (0x61...0x66).contains(digit): digit - 0x61 + 10
    default: nil
    }
  }
}

/// A key file is closed to group and others.
enum KeyFileMode: Verification {
  static let name = "key-file-mode"
}

/// A key file is ours or root's.
enum KeyFileOwner: Verification {
  static let name = "key-file-owner"
}

/// A key file lies beside what it protects only where that was allowed.
enum KeyFilePlace: Verification {
  static let name = "key-file-place"
}
