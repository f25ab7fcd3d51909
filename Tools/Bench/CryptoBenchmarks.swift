import BenchTable
import Bytes
import CAllocations
import CCrypto
import Glibc
import Noise
import Primitives

/// What sealing costs beside the same libcrypto operations alone.
enum CryptoBenchmarks {
  static func run() throws -> [BenchRow] {
    [try frame(), try handshake(), try personal(), try handshakeBesideGo()]
  }

  /// Ours and the rival's rounds take turns, so that both have the same machine.
  private static func compare(
    rounds: Int, operations: Int, ours: () throws -> Void, theirs: () throws -> Void
  ) throws -> (ours: Double, theirs: Double) {
    var best = (ours: UInt64.max, theirs: UInt64.max)
    for _ in 0..<rounds {
      var start = Stopwatch.now()
      for _ in 0..<operations { try ours() }
      best.ours = min(best.ours, Stopwatch.now() - start)
      start = Stopwatch.now()
      for _ in 0..<operations { try theirs() }
      best.theirs = min(best.theirs, Stopwatch.now() - start)
    }
    return (Double(best.ours) / Double(operations), Double(best.theirs) / Double(operations))
  }

  private static func frame() throws -> BenchRow {
    var frames = try Frames()
    try frames.once()
    let allocationsBefore = Allocations.count()
    for _ in 0..<100 { try frames.once() }
    try Allocations.check(since: allocationsBefore, "sealing and opening a frame")

    let evp = try EVPFrame()
    let time = try compare(rounds: 30, operations: 5_000) {
      try frames.once()
    } theirs: {
      try evp.once(byteCount: 256)
    }
    guard frames.isRight else { throw RawPeer.Failure(what: "a frame opens to itself") }
    return BenchRow(
      name: "seal and open a 256-byte frame", value: time.ours, unit: "ns",
      rival: ("EVP AES-256-GCM, reused contexts", time.theirs), goal: .ratioAtMost(1.3))
  }

  private static func handshake() throws -> BenchRow {
    let pair = XXPair<P256AgreementKey, AESGCM>(
      try P256AgreementKey(generatedFrom: .system), try P256AgreementKey(generatedFrom: .system)
    ) { $0.shared() }
    let evp = try EVPAgreement()
    let time = try compare(rounds: 12, operations: 40, ours: pair.once) {
      try evp.once(generations: 2, agreements: 6, imports: 4)
    }
    return BenchRow(
      name: "Noise XX handshake, both sides", value: time.ours / 1_000, unit: "µs",
      rival: ("2 key generations, 6 agreements, 4 imports", time.theirs / 1_000), goal: .ratioAtMost(1.15))
  }

  /// The same handshake over the curve and cipher that another library has too. Reported: it says where libcrypto and
  /// this engine stand, and holds nobody to it.
  private static func handshakeBesideGo() throws -> BenchRow {
    let pair = XXPair<X25519AgreementKey, ChaChaPoly>(
      try X25519AgreementKey(generatedFrom: .system), try X25519AgreementKey(generatedFrom: .system)
    ) { $0.shared() }
    let (rounds, operations) = (8, 100)
    let go = GoNoise()
    var best = (ours: UInt64.max, theirs: Double.infinity)
    for _ in 0..<rounds {
      let start = Stopwatch.now()
      for _ in 0..<operations { try pair.once() }
      best.ours = min(best.ours, Stopwatch.now() - start)
      if let go { best.theirs = min(best.theirs, try go.handshake(operations: operations)) }
    }
    return BenchRow(
      name: "Noise XX with 25519 and ChaChaPoly, both sides", value: Double(best.ours) / Double(operations) / 1_000,
      unit: "µs", rival: go == nil ? nil : ("Go flynn/noise", best.theirs / 1_000), goal: .reported,
      note: "Go or flynn/noise is not installed")
  }

  private static func personal() throws -> BenchRow {
    let (sender, prekey) = (
      StaticKey(try P256AgreementKey(generatedFrom: .system)), StaticKey(try .init(generatedFrom: .system))
    )
    let content = [UInt8](repeating: 0x5a, count: 224)
    let prologue: [UInt8] = [1]
    let recipient = prekey.key.publicKey
    var message: [UInt8] = []
    var opened: [UInt8] = []
    func once() throws {
      message.removeAll(keepingCapacity: true)
      opened.removeAll(keepingCapacity: true)
      var seal = try HandshakeState<P256AgreementKey, AESGCM>(
        .X, role: .initiator, prologue: prologue.rawSpan, staticKey: sender.key.shared(), remoteStatic: recipient,
        random: .system)
      try seal.writeMessage(content.rawSpan, appendingTo: &message)
      var open = try HandshakeState<P256AgreementKey, AESGCM>(
        .X, role: .responder, prologue: prologue.rawSpan, staticKey: prekey.key.shared(), random: .system)
      try open.readMessage(message.rawSpan, appendingTo: &opened)
    }
    let (evp, frame) = (try EVPAgreement(), try EVPFrame())
    let time = try compare(rounds: 12, operations: 80, ours: once) {
      // One key, two agreements a side, both public keys of the message, and the sealing itself.
      try evp.once(generations: 1, agreements: 4, imports: 2)
      try frame.once(byteCount: content.count)
    }
    guard opened == content else { throw RawPeer.Failure(what: "a message opens to itself") }
    return BenchRow(
      name: "seal and open a personal message (Noise X)", value: time.ours / 1_000, unit: "µs",
      rival: ("1 generation, 4 agreements, 2 imports, AES-GCM", time.theirs / 1_000), goal: .ratioAtMost(1.3))
  }
}

/// Both ends of XX handshakes with one pair of static keys.
private final class XXPair<KeyPair: NoiseKeyPair & ~Copyable, Cipher: NoiseCipher> {
  private let one: KeyPair
  private let other: KeyPair
  private let shared: (borrowing KeyPair) -> KeyPair

  init(_ one: consuming KeyPair, _ other: consuming KeyPair, shared: @escaping (borrowing KeyPair) -> KeyPair) {
    self.one = one
    self.other = other
    self.shared = shared
  }

  func once() throws {
    let prologue: [UInt8] = [1]
    var initiator = try HandshakeState<KeyPair, Cipher>(
      .XX, role: .initiator, prologue: prologue.rawSpan, staticKey: shared(one), random: .system)
    var responder = try HandshakeState<KeyPair, Cipher>(
      .XX, role: .responder, prologue: prologue.rawSpan, staticKey: shared(other), random: .system)
    try Self.pass(from: &initiator, to: &responder)
    try Self.pass(from: &responder, to: &initiator)
    try Self.pass(from: &initiator, to: &responder)
    _ = try initiator.split()
    _ = try responder.split()
  }

  private static func pass(
    from writer: inout HandshakeState<KeyPair, Cipher>, to reader: inout HandshakeState<KeyPair, Cipher>
  ) throws {
    var message: [UInt8] = []
    var payload: [UInt8] = []
    message.reserveCapacity(256)
    try writer.writeMessage(RawSpan(), appendingTo: &message)
    try reader.readMessage(message.rawSpan, appendingTo: &payload)
  }
}

/// Both ends of a link.
private struct Frames: ~Copyable {
  private var sender: TransportState<AESGCM>
  private var receiver: TransportState<AESGCM>
  private let content = [UInt8](repeating: 0x5a, count: 256)
  private var frame: [UInt8] = []
  private var opened: [UInt8] = []

  init() throws {
    let bytes = (0..<64).map { UInt8($0) }
    let keys = Secret(copying: bytes.rawSpan)
    let sender = try TransportState<AESGCM>(
      keys: keys, role: .initiator, isOneWay: false, handshakeHash: [], rekeyInterval: 1 << 16)
    let receiver = try TransportState<AESGCM>(
      keys: keys, role: .responder, isOneWay: false, handshakeHash: [], rekeyInterval: 1 << 16)
    self.sender = sender
    self.receiver = receiver
    frame.reserveCapacity(512)
    opened.reserveCapacity(512)
  }

  var isRight: Bool { opened == content }

  mutating func once() throws { try Self.pass(content, &sender, &frame, &receiver, &opened) }

  private static func pass(
    _ content: [UInt8], _ sender: inout TransportState<AESGCM>, _ frame: inout [UInt8],
    _ receiver: inout TransportState<AESGCM>, _ opened: inout [UInt8]
  ) throws {
    frame.removeAll(keepingCapacity: true)
    opened.removeAll(keepingCapacity: true)
    try sender.seal(content.rawSpan, appendingTo: &frame)
    try receiver.open(frame.rawSpan, appendingTo: &opened)
  }
}

/// A key that closures can share.
private final class StaticKey {
  let key: P256AgreementKey
  init(_ key: consuming P256AgreementKey) { self.key = key }
}

/// AES-256-GCM as libcrypto's own speed test does it: one context a direction, a nonce for each message, and memory that
/// no language looks after.
@safe
private final class EVPFrame {
  private let sealing = unsafe EVP_CIPHER_CTX_new()
  private let opening = unsafe EVP_CIPHER_CTX_new()
  private let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 2_048)
  private var counter: UInt64 = 0

  init() throws {
    let key = [UInt8](repeating: 7, count: 32)
    unsafe memory.initialize(repeating: 0x5a, count: 2_048)
    guard unsafe EVP_EncryptInit_ex(sealing, EVP_aes_256_gcm(), nil, key, nil) == 1,
      unsafe EVP_DecryptInit_ex(opening, EVP_aes_256_gcm(), nil, key, nil) == 1
    else { throw RawPeer.Failure(what: "AES-GCM") }
  }

  deinit {
    unsafe EVP_CIPHER_CTX_free(sealing)
    unsafe EVP_CIPHER_CTX_free(opening)
    unsafe memory.deallocate()
  }

  func once(byteCount: Int) throws {
    counter += 1
    let length = Int32(byteCount)
    let (content, sealed, opened) = unsafe (memory, memory + 512, memory + 1_024)
    let (nonce, tag) = unsafe (memory + 1_536, memory + 1_600)
    unsafe UnsafeMutableRawPointer(nonce + 4).storeBytes(of: counter.bigEndian, as: UInt64.self)
    var count: Int32 = 0
    let isRight =
      unsafe EVP_EncryptInit_ex(sealing, nil, nil, nil, nonce) == 1
      && EVP_EncryptUpdate(sealing, sealed, &count, content, length) == 1
      && EVP_EncryptFinal_ex(sealing, tag, &count) == 1
      && EVP_CIPHER_CTX_ctrl(sealing, EVP_CTRL_AEAD_GET_TAG, 16, tag) == 1
      && EVP_DecryptInit_ex(opening, nil, nil, nil, nonce) == 1
      && EVP_DecryptUpdate(opening, opened, &count, sealed, length) == 1
      && EVP_CIPHER_CTX_ctrl(opening, EVP_CTRL_AEAD_SET_TAG, 16, tag) == 1
      && EVP_DecryptFinal_ex(opening, tag, &count) == 1
    guard isRight else { throw RawPeer.Failure(what: "AES-GCM") }
  }
}

/// The operations on P-256 that a handshake cannot do without, each by libcrypto's quickest documented way: keys made
/// from a template, points imported into a copy of one, no second check of a peer that was checked on import.
@safe
private final class EVPAgreement {
  private let template: OpaquePointer?
  private let peer: OpaquePointer?
  private var encoded = [UInt8](repeating: 0, count: 65)
  private var secret = [UInt8](repeating: 0, count: 32)

  init() throws {
    unsafe template = unsafe Self.generate(from: nil)
    unsafe peer = unsafe Self.generate(from: nil)
    var count = 0
    var bytes: UnsafeMutablePointer<UInt8>?
    count = unsafe EVP_PKEY_get1_encoded_public_key(peer, &bytes)
    guard let start = unsafe bytes, count == 65 else { throw RawPeer.Failure(what: "a point") }
    encoded = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    unsafe CRYPTO_free(start, "", 0)
  }

  deinit {
    unsafe EVP_PKEY_free(template)
    unsafe EVP_PKEY_free(peer)
  }

  func once(generations: Int, agreements: Int, imports: Int) throws {
    for _ in 0..<generations {
      guard let key = unsafe Self.generate(from: template) else { throw RawPeer.Failure(what: "a key") }
      unsafe EVP_PKEY_free(key)
    }
    for _ in 0..<imports {
      guard let key = unsafe EVP_PKEY_new() else { throw RawPeer.Failure(what: "a key") }
      defer { unsafe EVP_PKEY_free(key) }
      guard unsafe EVP_PKEY_copy_parameters(key, template) == 1,
        unsafe EVP_PKEY_set1_encoded_public_key(key, encoded, encoded.count) == 1
      else { throw RawPeer.Failure(what: "an import") }
    }
    for _ in 0..<agreements {
      guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, template, nil) else {
        throw RawPeer.Failure(what: "a context")
      }
      defer { unsafe EVP_PKEY_CTX_free(context) }
      var count = secret.count
      guard unsafe EVP_PKEY_derive_init(context) == 1, unsafe EVP_PKEY_derive_set_peer_ex(context, peer, 0) == 1,
        unsafe EVP_PKEY_derive(context, &secret, &count) == 1
      else { throw RawPeer.Failure(what: "an agreement") }
    }
  }

  private static func generate(from template: OpaquePointer?) -> OpaquePointer? {
    let context =
      unsafe template == nil
      ? EVP_PKEY_CTX_new_from_name(nil, "EC", nil) : EVP_PKEY_CTX_new_from_pkey(nil, template, nil)
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard unsafe EVP_PKEY_keygen_init(context) == 1 else { return nil }
    if unsafe template == nil {
      guard unsafe EVP_PKEY_CTX_set_group_name(context, "prime256v1") == 1 else { return nil }
    }
    guard unsafe EVP_PKEY_generate(context, &key) == 1 else { return nil }
    return unsafe key
  }
}
