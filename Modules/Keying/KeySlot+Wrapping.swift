internal import Bytes
package import Primitives
internal import Verifying

/// Why a slot does not give its data key.
package enum KeySlotRefusal: Error, Equatable {
  /// The key is not the one that the slot commits to.
  case wrongKey
  /// The key is, and what it wraps is not what was wrapped.
  case damaged
  case primitive(PrimitiveError)
}

/// From the key-encryption key and the salt come, by HKDF-SHA256, 32 bytes that wrap and 16 that commit: AES-GCM alone
/// can be made to open under two keys. The wrapping key is of one slot, so its nonce is zero.
extension KeySlot {
  /// - Parameters:
  ///   - label: what is wrapped here.
  ///   - owner: the identifier of the file that the slot stands in, so that it means nothing in another.
  package init(
    wrapping dataKey: borrowing Secret, under key: borrowing Secret, kind: Kind, cost: PassphraseCost?, salt: [UInt8],
    label: DomainLabel, owner: [UInt8]
  ) throws(PrimitiveError) {
    let head = [kind.rawValue] + (cost?.bytes ?? [0, 0, 0])
    let derived = try Self.derive(from: key, salt: salt, head: head, label: label, owner: owner)
    var cipher = try AEADKey(.aes256GCM, key: derived.bytes.extracting(first: AEADKey.keyByteCount))
    var wrapped: [UInt8] = []
    try cipher.seal(
      dataKey.bytes, nonce: AEADNonce(bigEndian: 0), authenticating: (owner + head + salt).rawSpan,
      appendingTo: &wrapped)
    self.init(
      kind: kind, cost: cost, salt: salt, wrapped: wrapped,
      commitment: [UInt8](copying: derived.bytes.extracting(droppingFirst: AEADKey.keyByteCount)))
  }

  /// The data key.
  package func unwrap(
    with key: borrowing Secret, label: DomainLabel, owner: [UInt8]
  ) throws(KeySlotRefusal) -> Secret {
    do throws(PrimitiveError) {
      let derived = try Self.derive(from: key, salt: salt, head: head, label: label, owner: owner)
      let expected = derived.bytes.extracting(droppingFirst: AEADKey.keyByteCount)
      guard ConstantTime.areEqual(expected, commitment.rawSpan) || KeySlotCommitment.isSkipped else {
        throw PrimitiveError.parametersOutOfRange
      }
      var cipher = try AEADKey(.aes256GCM, key: derived.bytes.extracting(first: AEADKey.keyByteCount))
      var opened = Secret(copying: wrapped.rawSpan)
      var span = opened.mutableBytes
      try cipher.openInPlace(
        &span, nonce: AEADNonce(bigEndian: 0), authenticating: (owner + head + salt).rawSpan)
      return Secret(copying: opened.bytes.extracting(first: AEADKey.keyByteCount))
    } catch {
      switch error {
      case .parametersOutOfRange: throw .wrongKey
      case .authenticationFailed: throw .damaged
      default: throw .primitive(error)
      }
    }
  }

  private static func derive(
    from key: borrowing Secret, salt: [UInt8], head: [UInt8], label: DomainLabel, owner: [UInt8]
  ) throws(PrimitiveError) -> Secret {
    let information = Array(label.text.description.utf8) + owner + head
    return try HKDFSHA256.derive(
      AEADKey.keyByteCount + commitmentByteCount, from: key.bytes, salt: salt.rawSpan, info: information.rawSpan)
  }
}

/// A slot opens under the one key that it commits to.
enum KeySlotCommitment: Verification {
  static let name = "key-slot-commitment"
}
