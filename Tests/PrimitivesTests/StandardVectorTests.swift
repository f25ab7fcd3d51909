import Bytes
import FoundationEssentials
import Primitives
import TestKit
import Testing

/// Files of NIST and of RFCs, from Debian's package and from the folder that may be named.
struct StandardVectorTests {
  @Test(
    .enabled(if: PublicVectors.Source.cryptography.isToBeRun, "Tools/setup installs the vectors"),
    arguments: [
      "ciphers/AES/GCM/gcmEncryptExtIV256.rsp", "ciphers/AES/GCM/gcmDecrypt256.rsp",
      "ciphers/ChaCha20Poly1305/openssl.txt", "ciphers/ChaCha20Poly1305/boringssl.txt", "HMAC/rfc-4231-sha256.txt",
      "KDF/rfc-5869-HKDF-SHA256.txt", "KDF/hkdf-generated.txt", "KDF/scrypt.txt", "asymmetric/X25519/rfc7748.txt",
      "asymmetric/Ed25519/sign.input", "asymmetric/ECDSA/FIPS_186-3/SigVer.rsp",
      "asymmetric/ECDSA/FIPS_186-3/PKV.rsp", "hashes/SHA2/SHA256ShortMsg.rsp", "hashes/SHA2/SHA256LongMsg.rsp",
      "asymmetric/ECDH/KASValidityTest_ECCStaticUnified_NOKC_ZZOnly_init.fax",
      "asymmetric/ECDH/KASValidityTest_ECCStaticUnified_NOKC_ZZOnly_resp.fax",
    ])
  func thePublicPackageGivesItsResults(path: String) throws { try Self.run(path, from: .cryptography) }

  @Test(
    .enabled(if: PublicVectors.Source.folder.isToBeRun, "RELAYCHAT_VECTORS names no folder"),
    arguments: (try? PublicVectors.files(in: .folder).filter { $0.hasPrefix("rfc/") || $0.hasPrefix("nist/") }) ?? [])
  func theNamedFolderGivesItsResults(path: String) throws { try Self.run(path, from: .folder) }

  /// So that a file laid beside the others is not taken for one that runs.
  @Test(.enabled(if: PublicVectors.Source.folder.isToBeRun, "RELAYCHAT_VECTORS names no folder"))
  func theNamedFolderHoldsNothingThatNoTestReads() throws {
    let files = try PublicVectors.files(in: .folder)
    #expect(!files.isEmpty, "RELAYCHAT_VECTORS names a folder without files")
    for path in files where path != "README.md" {
      let folder = path.split(separator: "/").first.map(String.init) ?? ""
      #expect(["wycheproof", "rfc", "nist", "noise"].contains(folder), "nothing runs \(path)")
    }
  }

  private static func run(_ path: String, from source: PublicVectors.Source) throws {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    if name.hasPrefix("gcmEncrypt") || name.hasPrefix("gcmDecrypt") {
      try blocks(path, source, first: "Count", spoiling: "Tag", galoisCounter)
    } else if path.contains("ChaCha20Poly1305") {
      let isOpenSSL = name == "openssl.txt"
      try blocks(path, source, first: isOpenSSL ? "COUNT" : "KEY", spoiling: isOpenSSL ? "Tag" : "TAG", chaCha)
    } else if name.contains("4231") {
      try blocks(path, source, first: "Len", spoiling: "MD", authentication)
    } else if name.contains("hkdf") || name.contains("HKDF") {
      try blocks(path, source, first: "COUNT", spoiling: "OKM", derivation)
    } else if name.contains("scrypt") || name.contains("7914") {
      try blocks(path, source, first: "COUNT", spoiling: "DERIVED_KEY", passphrase)
    } else if name.contains("7748") {
      try blocks(path, source, first: "COUNT", spoiling: "OUTPUT_U", agreement)
    } else if name.hasPrefix("SigVer") {
      try blocks(path, source, first: "Msg", spoiling: "R", signature)
    } else if name == "PKV.rsp" {
      try blocks(path, source, first: "Qx", spoiling: "Qy", publicKey)
    } else if name.hasPrefix("SHA256") {
      try blocks(path, source, first: "Len", spoiling: "MD", digest)
    } else if name.hasPrefix("KASValidity") {
      try blocks(path, source, first: "COUNT", spoiling: "Z", staticAgreement)
    } else if name.contains("sign") {
      try signatures(path, source)
    } else {
      Issue.record("nothing runs \(path)")
    }
  }

  private typealias Case = VectorBlocks.Case
  private enum Outcome: Equatable {
    case right
    case wrong(String)
    /// Of a kind that this module does not do: another curve, hash or size.
    case notOurs
  }

  /// Runs every case, and every right one again with a last digit changed.
  private static func blocks(
    _ path: String, _ source: PublicVectors.Source, first: String, spoiling key: String,
    _ check: (Case) throws -> Outcome
  ) throws {
    let data = try PublicVectors.data(path, from: source)
    let file = VectorBlocks(data, first: first)
    var (ran, others, spoiled) = (0, 0, 0)
    for test in file.cases {
      switch try check(test) {
      case .wrong(let fault): Issue.record("\(path) case \(ran + others): \(fault)")
      case .notOurs: others += 1
      case .right:
        ran += 1
        // Some are enough, and of what takes long none.
        guard test.values["N"] != "1048576", spoiled < 20, !test.mustFail,
          test.values["Result"].map({ $0.hasPrefix("P") }) ?? true
        else { continue }
        var bent = test
        bend(&bent.values[key])
        let outcome = try check(bent)
        #expect(outcome != .right, "a wrong vector passes")
        spoiled += 1
      }
    }
    #expect(ran + others == declared(in: data, first: first) && ran > 0, "\(path) declares another number of cases")
    #expect(spoiled > 0, "a wrong vector passes")
    PublicVectors.report(path, ran: ran, note: "\(others) of kinds not used here, \(spoiled) spoiled ones refused")
  }

  /// How many cases a file has, counted in its bytes: what the parser of cases has lost or made up shows.
  private static func declared(in data: Data, first: String) -> Int {
    var count = 0
    for line in data.split(whereSeparator: { $0 == 10 || $0 == 13 }) {
      let key = line.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: " ") }
      if key.elementsEqual(first.utf8) { count += 1 }
    }
    return count
  }

  private static func galoisCounter(_ test: Case) throws -> Outcome {
    guard test.section["Keylen"] == "256", test.section["IVlen"] == "96", test.section["Taglen"] == "128" else {
      return .notOurs
    }
    return try sealAndOpen(
      .aes256GCM, key: test.bytes("Key"), nonce: test.bytes("IV"), associated: test.bytes("AAD"),
      content: test.mustFail ? nil : test.bytes("PT"), sealed: test.bytes("CT") + test.bytes("Tag"))
  }

  private static func chaCha(_ test: Case) throws -> Outcome {
    let isOpenSSL = test.values["Plaintext"] != nil
    let mustFail = test.values["Result"] != nil
    /// Hexadecimal digits, or text in quotes.
    func value(_ key: String) throws -> [UInt8] {
      guard let text = test.values[key], text.hasPrefix("\"") else { return try test.bytes(key) }
      return Array(text.utf8.dropFirst().dropLast())
    }
    let content = try value(isOpenSSL ? "Plaintext" : "IN")
    let tag = try value(isOpenSSL ? "Tag" : "TAG")
    let nonce = try value(isOpenSSL ? "IV" : "NONCE")
    guard tag.count == AEADKey.tagByteCount, nonce.count == AEADNonce.byteCount else { return .notOurs }
    return try sealAndOpen(
      .chaCha20Poly1305, key: value(isOpenSSL ? "Key" : "KEY"), nonce: nonce,
      associated: value(isOpenSSL ? "AAD" : "AD"), content: mustFail ? nil : content,
      sealed: value(isOpenSSL ? "Ciphertext" : "CT") + tag)
  }

  /// `content` is nothing when the bytes must not open.
  private static func sealAndOpen(
    _ algorithm: AEADAlgorithm, key: [UInt8], nonce: [UInt8], associated: [UInt8], content: [UInt8]?, sealed: [UInt8]
  ) throws -> Outcome {
    var key = try AEADKey(algorithm, key: key.rawSpan)
    let nonce = try AEADNonce(nonce.rawSpan)
    var opened: [UInt8] = []
    do {
      try key.open(sealed.rawSpan, nonce: nonce, authenticating: associated.rawSpan, appendingTo: &opened)
    } catch {
      return content == nil && error == .authenticationFailed ? .right : .wrong("\(error)")
    }
    guard let content else { return .wrong("opened") }
    var made: [UInt8] = []
    try key.seal(content.rawSpan, nonce: nonce, authenticating: associated.rawSpan, appendingTo: &made)
    return made == sealed && opened == content ? .right : .wrong("other bytes")
  }

  private static func authentication(_ test: Case) throws -> Outcome {
    let (key, message, code) = (try test.bytes("Key"), try test.bytes("Msg"), try test.bytes("MD"))
    let made = try HMACSHA256.authenticate(message.rawSpan, key: key.rawSpan)
    return Array(made.prefix(code.count)) == code ? .right : .wrong(Hex.encode(made))
  }

  private static func derivation(_ test: Case) throws -> Outcome {
    guard test.values["Hash"] == "SHA-256" else { return .notOurs }
    let (input, salt, info) = (try test.bytes("IKM"), try test.bytes("salt"), try test.bytes("info"))
    let output = try HKDFSHA256.derive(
      test.number("L"), from: input.rawSpan, salt: salt.rawSpan, info: info.rawSpan)
    guard bytes(of: output) == (try test.bytes("OKM")) else { return .wrong("other bytes") }
    guard test.values["PRK"] != nil else { return .right }
    var hkdf = try HKDFSHA256()
    let key = try Secret(count: 32) { (span) throws(PrimitiveError) in
      try hkdf.extract(salt: salt.rawSpan, input: input.rawSpan, into: &span)
    }
    return bytes(of: key) == (try test.bytes("PRK")) ? .right : .wrong("another extracted key")
  }

  private static func digest(_ test: Case) throws -> Outcome {
    let message = try test.bytes("Msg").prefix(test.number("Len") / 8)
    return try SHA256.digest(Array(message)).bytes == test.bytes("MD") ? .right : .wrong("another digest")
  }

  /// A number of a file, as the 32 bytes it stands for. Nil for one that is longer.
  private static func padded(_ test: Case, _ key: String) throws -> [UInt8]? {
    guard let text = test.values[key] else { return nil }
    let digits = String(repeating: "0", count: text.count % 2) + text
    let bytes = try unhex(digits).drop { $0 == 0 }
    return bytes.count > 32 ? nil : [UInt8](repeating: 0, count: 32 - bytes.count) + bytes
  }

  private static func publicKey(_ test: Case) throws -> Outcome {
    guard test.sectionName == "P-256" else { return .notOurs }
    let isValid = test.values["Result"]?.hasPrefix("P") ?? false
    guard let x = try padded(test, "Qx"), let y = try padded(test, "Qy") else {
      return isValid ? .wrong("a coordinate is too long") : .right
    }
    do {
      _ = try P256PublicKey(uncompressed: ([4] + x + y).rawSpan)
      return isValid ? .right : .wrong("accepted")
    } catch {
      return isValid ? .wrong("\(error)") : .right
    }
  }

  /// Agreement of static keys. What the file calls wrong is a key that is none, a key of ours whose halves do not fit, or
  /// another secret.
  private static func staticAgreement(_ test: Case) throws -> Outcome {
    guard test.sectionName == "EC - SHA256" else { return .notOurs }
    let isValid = test.values["Result"]?.hasPrefix("P") ?? false
    guard let scalar = try padded(test, "dsIUT"), let x = try padded(test, "QsCAVSx"),
      let y = try padded(test, "QsCAVSy"), let ownX = try padded(test, "QsIUTx"), let ownY = try padded(test, "QsIUTy"),
      let expected = try padded(test, "Z")
    else { return isValid ? .wrong("a number is too long") : .right }
    do {
      let peer = try P256PublicKey(uncompressed: ([4] + x + y).rawSpan)
      let own = try P256PublicKey(uncompressed: ([4] + ownX + ownY).rawSpan)
      let key = try P256AgreementKey(scalar: scalar.rawSpan)
      let secret = try key.agree(with: peer)
      let isRight = key.publicKey == own && bytes(of: secret) == expected
      return isRight == isValid ? .right : .wrong(isValid ? "another secret" : "accepted")
    } catch {
      return isValid ? .wrong("\(error)") : .right
    }
  }

  /// The case with 2^20 takes the whole allowance of memory, and the limit is set so that it is still taken.
  private static func passphrase(_ test: Case) throws -> Outcome {
    let cost = try test.number("N")
    let (text, salt) = (test.text("PASSWORD"), test.text("SALT"))
    let parameters = Scrypt.Parameters(
      cost: UInt64(cost), blockSize: UInt64(try test.number("r")), parallelism: UInt64(try test.number("p")))
    let key = try Scrypt.derive(
      test.number("LENGTH"), from: text.rawSpan, salt: salt.rawSpan, parameters: parameters)
    return bytes(of: key) == (try test.bytes("DERIVED_KEY")) ? .right : .wrong("another key")
  }

  private static func agreement(_ test: Case) throws -> Outcome {
    let (scalar, point) = (try test.bytes("INPUT_SCALAR"), try test.bytes("INPUT_U"))
    let key = try X25519AgreementKey(scalar: scalar.rawSpan)
    let secret = try key.agree(with: X25519PublicKey(point.rawSpan))
    return bytes(of: secret) == (try test.bytes("OUTPUT_U")) ? .right : .wrong("another secret")
  }

  private static func signature(_ test: Case) throws -> Outcome {
    guard test.sectionName == "P-256,SHA-256" else { return .notOurs }
    let isValid = test.values["Result"]?.hasPrefix("P") ?? false
    guard let x = try padded(test, "Qx"), let y = try padded(test, "Qy"), let r = try padded(test, "R"),
      let s = try padded(test, "S")
    else { return isValid ? .wrong("a number is too long") : .right }
    let message = try test.bytes("Msg")
    func verify(_ s: [UInt8]) -> PrimitiveError? {
      do throws(PrimitiveError) {
        let (point, signature) = ([4] + x + y, r + s)
        let key = try P256PublicKey(uncompressed: point.rawSpan)
        try ECDSA.verify(signature.rawSpan, of: SHA256.digest(message), by: key)
        return nil
      } catch { return error }
    }
    // Of the two halves that are right only the lower is taken; the file has one or the other.
    var result = verify(s)
    if result == .signatureNotLow { result = verify(ECDSATests.twin(of: s)) }
    return (result == nil) == isValid ? .right : .wrong(result.map { "\($0)" } ?? "accepted")
  }

  /// `seed ‖ key : key : message : signature ‖ message :` on each line.
  private static func signatures(_ path: String, _ source: PublicVectors.Source) throws {
    let data = try PublicVectors.data(path, from: source)
    var ran = 0
    for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      let (key, message) = (try unhex(String(fields[1])), try unhex(String(fields[2])))
      var signature = Array(try unhex(String(fields[3])).prefix(64))
      try Ed25519.verify(signature.rawSpan, of: message.rawSpan, by: key.rawSpan)
      signature[ran % 64] ^= 1
      #expect(throws: PrimitiveError.signatureRejected) {
        try Ed25519.verify(signature.rawSpan, of: message.rawSpan, by: key.rawSpan)
      }
      ran += 1
    }
    #expect(ran == data.count { $0 == UInt8(ascii: "\n") } && ran > 0)
    PublicVectors.report(path, ran: ran, note: "each refused with a bit flipped")
  }
}
