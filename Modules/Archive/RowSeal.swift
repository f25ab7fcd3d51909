internal import Bytes
internal import Database
internal import Identities
internal import Primitives
internal import Sessions

/// Seals and opens rows. A sealed value is the nonce (12 bytes), the ciphertext, the tag (16).
///
/// One owner, the archive; its buffers are used again for every row.
final class RowSeal {
  private var key: ArchiveKey
  private var hmac: HMACSHA256
  private var associated: [UInt8] = []

  init(_ key: consuming ArchiveKey) throws(PrimitiveError) {
    self.key = key
    hmac = try HMACSHA256()
  }

  func seal(_ content: [UInt8], at place: RowPlace) throws(DatabaseError) -> [UInt8] {
    place.write(to: &associated)
    let associated = associated
    do throws(PrimitiveError) {
      var sealed = try key.random.bytes(AEADNonce.byteCount)
      let nonce = try AEADNonce(sealed.rawSpan)
      sealed.reserveCapacity(sealed.count + content.count + AEADKey.tagByteCount)
      try key.cipher.seal(content.rawSpan, nonce: nonce, authenticating: associated.rawSpan, appendingTo: &sealed)
      return sealed
    } catch {
      throw .unsealable(error)
    }
  }

  /// Puts what was sealed in place of the content of `buffer`. False, and an empty buffer, when it was not sealed under
  /// this key for this place.
  func open(_ sealed: RawSpan, at place: RowPlace, into buffer: inout [UInt8]) -> Bool {
    buffer.removeAll(keepingCapacity: true)
    guard sealed.byteCount >= AEADNonce.byteCount + AEADKey.tagByteCount else { return false }
    place.write(to: &associated)
    let associated = associated
    do throws(PrimitiveError) {
      try key.cipher.open(
        sealed.extracting(droppingFirst: AEADNonce.byteCount),
        nonce: AEADNonce(sealed.extracting(first: AEADNonce.byteCount)), authenticating: associated.rawSpan,
        appendingTo: &buffer)
      return true
    } catch {
      return false
    }
  }

  // MARK: Tokens

  /// What stands in a sealed row in place of its author: of author and ID together, so that no two rows of one author
  /// have anything in common.
  func token(author: PeerID, id: MessageID) throws(DatabaseError) -> [UInt8] {
    try token(1, author.bytes + id.bytes)
  }

  func token(id: MessageID) throws(DatabaseError) -> [UInt8] { try token(2, id.bytes) }

  func token(peer: PeerID) throws(DatabaseError) -> [UInt8] { try token(3, peer.bytes) }

  /// The first 16 bytes of HMAC-SHA256.
  private func token(_ use: UInt8, _ bytes: [UInt8]) throws(DatabaseError) -> [UInt8] {
    do throws(PrimitiveError) {
      try key.index.withBytes { (bytes) throws(PrimitiveError) in try hmac.start(key: bytes) }
      try hmac.update(([use] + bytes).rawSpan)
      let code = try Secret(count: HMACSHA256.byteCount) { (span) throws(PrimitiveError) in
        try hmac.finish(into: &span)
      }
      return [UInt8](copying: code.bytes.extracting(first: 16))
    } catch {
      throw .unsealable(error)
    }
  }
}
