internal import Bytes
package import Primitives

/// Seals and opens the records of one backup, one after another.
///
/// On disk: flags 1 (1 in the last record, else 0), size of the content 4, ciphertext, tag 16. AES-256-GCM under the key
/// that the head's slot wraps; the nonce is the number of the record, so none is moved, repeated or left out; label, head
/// and the five bytes before the ciphertext are authenticated with it.
package struct BackupRecords: ~Copyable, Sendable {
  package static let headByteCount = 5

  /// The five bytes before a ciphertext.
  package struct RecordHead: Equatable, Sendable {
    package let isLast: Bool
    package let contentByteCount: Int

    package init(isLast: Bool, contentByteCount: Int) {
      self.isLast = isLast
      self.contentByteCount = contentByteCount
    }

    package init(decoding bytes: RawSpan) throws(BackupAssembly.Fault) {
      var reader = ByteReader(bytes)
      do {
        let flags = try reader.u8()
        let count = Int(try reader.u32())
        try reader.finish()
        guard flags <= 1, count >= 1, count <= KeyingLimits.recordBytes else { throw BackupAssembly.Fault.malformed }
        self.init(isLast: flags == 1, contentByteCount: count)
      } catch {
        throw .malformed
      }
    }

    package var encoded: [UInt8] {
      var writer = ByteWriter(capacity: BackupRecords.headByteCount)
      writer.u8(isLast ? 1 : 0)
      writer.u32(UInt32(truncatingIfNeeded: contentByteCount))
      return writer.bytes
    }

    package var sealedByteCount: Int { contentByteCount + AEADKey.tagByteCount }
  }

  private var cipher: AEADKey
  private let bound: [UInt8]
  /// Of the next record.
  package private(set) var number: UInt64 = 0

  package init(head: BackupHead, key: borrowing Secret) throws(PrimitiveError) {
    cipher = try AEADKey(.aes256GCM, key: key.bytes)
    bound = Array(DomainLabel.backup.text.description.utf8) + head.encoded
  }

  /// The next record, head and all.
  package mutating func seal(_ content: BackupContent, isLast: Bool) throws(PrimitiveError) -> [UInt8] {
    let bytes = content.encoded
    let head = RecordHead(isLast: isLast, contentByteCount: bytes.count).encoded
    var record = head
    try cipher.seal(
      bytes.rawSpan, nonce: AEADNonce(bigEndian: number), authenticating: (bound + head).rawSpan,
      appendingTo: &record)
    number += 1
    return record
  }

  /// The bytes of the next record's content.
  package mutating func open(_ head: RecordHead, _ sealed: RawSpan) throws(BackupError) -> [UInt8] {
    var bytes: [UInt8] = []
    do throws(PrimitiveError) {
      try cipher.open(
        sealed, nonce: AEADNonce(bigEndian: number),
        authenticating: (bound + head.encoded).rawSpan, appendingTo: &bytes)
    } catch {
      throw error == .authenticationFailed ? .damaged(record: number) : .primitive(error)
    }
    number += 1
    return bytes
  }
}
