import Bytes
import Foundation
import Primitives
import TestKit
import Testing

/// Random inputs through this module and through Debian's Python package `cryptography`, in one process of Python.
struct DifferentialTests {
  private static let python = "/usr/bin/python3"
  private static let isThere =
    ProcessInfo.processInfo.environment["CI"] == "true"
    || FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/cryptography")

  private static let script = """
    import sys
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes, hmac, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, x25519
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    CURVE, SHA = ec.SECP256R1(), hashes.SHA256()

    def point(data):
        return ec.EllipticCurvePublicKey.from_encoded_point(CURVE, data)

    def verify(key, message, signature):
        number = lambda part: int.from_bytes(part, "big")
        try:
            der = encode_dss_signature(number(signature[:32]), number(signature[32:]))
            point(key).verify(der, message, ec.ECDSA(SHA))
            return b"\\1"
        except InvalidSignature:
            return b"\\0"

    def code(key, message):
        mac = hmac.HMAC(key, SHA)
        mac.update(message)
        return mac.finalize()

    def digest(message):
        sha = hashes.Hash(SHA)
        sha.update(message)
        return sha.finalize()

    def agree(scalar, key):
        return x25519.X25519PrivateKey.from_private_bytes(scalar).exchange(x25519.X25519PublicKey.from_public_bytes(key))

    # A signature that this package makes of the seed, bent by one bit where it is told, and whether it holds it for good.
    def sign(seed, message, bit):
        key = ed25519.Ed25519PrivateKey.from_private_bytes(seed)
        signature = bytearray(key.sign(message))
        if bit:
            signature[bit[0] // 8] ^= 1 << bit[0] % 8
        try:
            key.public_key().verify(bytes(signature), message)
            isGood = 1
        except InvalidSignature:
            isGood = 0
        raw = serialization.Encoding.Raw, serialization.PublicFormat.Raw
        return key.public_key().public_bytes(*raw) + bytes(signature) + bytes([isGood])

    OPERATIONS = {
        "ed25519": sign,
        "sha256": digest,
        "x25519": agree,
        "gcm": lambda key, nonce, data, content: AESGCM(key).encrypt(nonce, content, data),
        "chacha": lambda key, nonce, data, content: ChaCha20Poly1305(key).encrypt(nonce, content, data),
        "hkdf": lambda key, salt, info, count: HKDF(SHA, count[0], salt, info).derive(key),
        "hmac": code,
        "ecdh": lambda scalar, key: ec.derive_private_key(int.from_bytes(scalar, "big"), CURVE).exchange(ec.ECDH(), point(key)),
        "ecdsa": verify,
        "scrypt": lambda text, salt, sizes: Scrypt(salt, sizes[3], 1 << sizes[0], sizes[1], sizes[2]).derive(text),
    }
    for line in sys.stdin.read().splitlines():
        name, *values = line.split(",")
        print(OPERATIONS[name](*map(bytes.fromhex, values)).hex())
    """

  private struct Case {
    var name: String
    var inputs: [[UInt8]]
    var ours: [UInt8]

    var line: String { ([name] + inputs.map { Hex.encode($0) }).joined(separator: ",") }
  }

  @Test(.enabled(if: isThere, "Debian's python3-cryptography is not installed"), arguments: [1, 2] as [UInt64])
  func pythonGivesTheSame(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var cases: [Case] = []
    for round in 0..<60 {
      cases.append(try Self.sealing("gcm", .aes256GCM, &random))
      cases.append(try Self.sealing("chacha", .chaCha20Poly1305, &random))
      cases.append(try Self.derivation(&random))
      cases.append(try Self.code(&random))
      cases.append(try Self.digest(&random))
      cases.append(try Self.agreement25519(&random))
      cases.append(try Self.agreement(&random))
      cases.append(try Self.signature(&random, isBent: round.isMultiple(of: 2)))
      if round < 10 { cases.append(try Self.passphrase(&random)) }
    }
    let answers = try Self.ask(cases.map(\.line))
    #expect(answers.count == cases.count, "seed \(seed)")
    for (test, answer) in zip(cases, answers) {
      #expect(Hex.encode(test.ours) == answer, "seed \(seed): \(test.line)")
    }
  }

  /// The other way round: this module only verifies, so Python signs, and both say whether the signature holds.
  @Test(.enabled(if: isThere, "Debian's python3-cryptography is not installed"), arguments: [3, 4] as [UInt64])
  func ed25519SignaturesHoldForBothOrNeither(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var inputs: [[[UInt8]]] = []
    for round in 0..<200 {
      let bit: [UInt8] = round.isMultiple(of: 2) ? [] : [.random(in: 0...255, using: &random)]
      inputs.append([Self.bytes(32, &random), Self.bytes(Int.random(in: 0...200, using: &random), &random), bit])
    }
    let answers = try Self.ask(inputs.map { (["ed25519"] + $0.map { Hex.encode($0) }).joined(separator: ",") })
    try #require(answers.count == inputs.count, "seed \(seed)")
    for (input, answer) in zip(inputs, answers) {
      let answer = try #require(Hex.decode(answer))
      try #require(answer.count == 97)
      let (key, signature, message) = (Array(answer[..<32]), Array(answer[32..<96]), input[1])
      let isAccepted =
        (try? Ed25519.verify(signature.rawSpan, of: message.rawSpan, by: key.rawSpan)) != nil
      #expect(isAccepted == (answer[96] == 1) && isAccepted == input[2].isEmpty, "seed \(seed)")
    }
  }

  private static func ask(_ lines: [String]) throws -> [String] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = ["-c", script]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    // The script reads to the end before it answers, so neither side can wait for the other with a full pipe.
    try input.fileHandleForWriting.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
    try input.fileHandleForWriting.close()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: true).map(
      String.init)
  }

  private static func bytes(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  private static func sealing(
    _ name: String, _ algorithm: AEADAlgorithm, _ random: inout SeededGenerator
  ) throws -> Case {
    let key = bytes(32, &random)
    let nonce = bytes(12, &random)
    let associated = bytes(Int.random(in: 0...40, using: &random), &random)
    let content = bytes(Int.random(in: 0...200, using: &random), &random)
    var aead = try AEADKey(algorithm, key: key.rawSpan)
    let number = try AEADNonce(nonce.rawSpan)
    var ours: [UInt8] = []
    try aead.seal(content.rawSpan, nonce: number, authenticating: associated.rawSpan, appendingTo: &ours)
    return Case(name: name, inputs: [key, nonce, associated, content], ours: ours)
  }

  private static func derivation(_ random: inout SeededGenerator) throws -> Case {
    let input = bytes(Int.random(in: 1...80, using: &random), &random)
    let salt = bytes(Int.random(in: 1...80, using: &random), &random)
    let info = bytes(Int.random(in: 0...80, using: &random), &random)
    let count = Int.random(in: 1...200, using: &random)
    let secret = try HKDFSHA256.derive(count, from: input.rawSpan, salt: salt.rawSpan, info: info.rawSpan)
    return Case(name: "hkdf", inputs: [input, salt, info, [UInt8(count)]], ours: [UInt8](copying: secret.bytes))
  }

  private static func code(_ random: inout SeededGenerator) throws -> Case {
    let key = bytes(Int.random(in: 0...100, using: &random), &random)
    let message = bytes(Int.random(in: 0...200, using: &random), &random)
    return Case(
      name: "hmac", inputs: [key, message], ours: try HMACSHA256.authenticate(message.rawSpan, key: key.rawSpan))
  }

  private static func digest(_ random: inout SeededGenerator) throws -> Case {
    let message = bytes(Int.random(in: 0...300, using: &random), &random)
    return Case(name: "sha256", inputs: [message], ours: try SHA256.digest(message).bytes)
  }

  private static func agreement25519(_ random: inout SeededGenerator) throws -> Case {
    let (scalar, peerScalar) = (bytes(32, &random), bytes(32, &random))
    let key = try X25519AgreementKey(scalar: scalar.rawSpan)
    let peer = try X25519AgreementKey(scalar: peerScalar.rawSpan)
    let secret = try key.agree(with: peer.publicKey)
    return Case(name: "x25519", inputs: [scalar, peer.publicKey.bytes], ours: [UInt8](copying: secret.bytes))
  }

  private static func agreement(_ random: inout SeededGenerator) throws -> Case {
    let (scalar, peerScalar) = ([1] + bytes(31, &random), [2] + bytes(31, &random))
    let key = try P256AgreementKey(scalar: scalar.rawSpan)
    let peer = try P256AgreementKey(scalar: peerScalar.rawSpan)
    let secret = try key.agree(with: peer.publicKey)
    return Case(
      name: "ecdh", inputs: [scalar, peer.publicKey.uncompressedBytes], ours: [UInt8](copying: secret.bytes))
  }

  private static func signature(_ random: inout SeededGenerator, isBent: Bool) throws -> Case {
    let scalar = [3] + bytes(31, &random)
    let key = try P256SigningKey(scalar: scalar.rawSpan)
    let message = bytes(Int.random(in: 0...100, using: &random), &random)
    let digest = try SHA256.digest(message)
    var signature = try ECDSA.sign(digest, with: key)
    if isBent { signature[Int.random(in: 0..<64, using: &random)] ^= 1 }
    let isAccepted = (try? ECDSA.verify(signature.rawSpan, of: digest, by: key.publicKey)) != nil
    return Case(
      name: "ecdsa", inputs: [key.publicKey.uncompressedBytes, message, signature], ours: [isAccepted ? 1 : 0])
  }

  private static func passphrase(_ random: inout SeededGenerator) throws -> Case {
    let text = bytes(Int.random(in: 1...40, using: &random), &random)
    let salt = bytes(Int.random(in: 0...40, using: &random), &random)
    let sizes = [UInt8.random(in: 1...8, using: &random), .random(in: 1...8, using: &random), 1, 64]
    let parameters = Scrypt.Parameters(cost: 1 << UInt64(sizes[0]), blockSize: UInt64(sizes[1]), parallelism: 1)
    let key = try Scrypt.derive(64, from: text.rawSpan, salt: salt.rawSpan, parameters: parameters)
    return Case(name: "scrypt", inputs: [text, salt, sizes], ours: [UInt8](copying: key.bytes))
  }
}
