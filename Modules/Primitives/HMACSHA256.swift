internal import Bytes
internal import CCrypto
internal import Verifying

/// HMAC with SHA-256 (RFC 2104, FIPS 198-1), with one context that is given a key again and again. One owner at a time.
///
/// `start`, `update` any number of times, `finish`.
@safe
package struct HMACSHA256: ~Copyable, @unchecked Sendable {
  // Sendable is sound: the context has one owner, and `mutating` keeps its use exclusive.
  /// Size of an authentication code in bytes.
  package static let byteCount = 32

  private let context: OpaquePointer

  package init() throws(PrimitiveError) {
    let algorithm = unsafe try Algorithms.get(.mac).hmac
    guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { throw .taken(from: .mac) }
    let name: StaticString = "digest"
    let digest: StaticString = "SHA256"
    // libcrypto reads these pointers after the call that takes them, so they point at literals.
    var parameters = unsafe [
      OSSL_PARAM_construct_utf8_string(Self.literal(name), UnsafeMutablePointer(mutating: Self.literal(digest)), 0),
      OSSL_PARAM_construct_end(),
    ]
    guard unsafe EVP_MAC_CTX_set_params(context, &parameters) == 1 else {
      unsafe EVP_MAC_CTX_free(context)
      throw .taken(from: .mac)
    }
    unsafe self.context = context
  }

  deinit { unsafe EVP_MAC_CTX_free(context) }

  /// Begins a code under `key`, which may have any length; what was unfinished is discarded.
  package mutating func start(key: RawSpan) throws(PrimitiveError) {
    guard begin(key) else { throw .taken(from: .mac) }
  }

  package mutating func update(_ bytes: RawSpan) throws(PrimitiveError) {
    guard add(bytes) else { throw .taken(from: .mac) }
  }

  /// Writes the code into `code`, which is 32 bytes.
  package mutating func finish(into code: inout MutableRawSpan) throws(PrimitiveError) {
    guard code.byteCount == Self.byteCount else {
      throw .wrongLength(expected: Self.byteCount, found: code.byteCount)
    }
    guard unsafe code.withUnsafeMutableBytes({ unsafe end($0) }) else { throw .taken(from: .mac) }
  }

  mutating func begin(_ key: RawSpan) -> Bool {
    let context = unsafe context
    return unsafe key.withBytePointer { unsafe EVP_MAC_init(context, $0, $1, nil) } == 1
  }

  mutating func add(_ bytes: RawSpan) -> Bool {
    let context = unsafe context
    return unsafe bytes.withBytePointer { unsafe EVP_MAC_update(context, $0, $1) } == 1
  }

  mutating func end(_ code: UnsafeMutableRawBufferPointer) -> Bool {
    var count = 0
    let out = unsafe code.baseAddress?.assumingMemoryBound(to: UInt8.self)
    return unsafe EVP_MAC_final(context, out, &count, code.count) == 1 && count == Self.byteCount
  }

  /// The code of `message` under `key`, 32 bytes.
  package static func authenticate(_ message: RawSpan, key: RawSpan) throws(PrimitiveError) -> [UInt8] {
    var hmac = try HMACSHA256()
    try hmac.start(key: key)
    try hmac.update(message)
    let code = try Secret(count: byteCount) { (span) throws(PrimitiveError) in try hmac.finish(into: &span) }
    return [UInt8](copying: code.bytes)
  }

  /// Returns when `code` is the whole code of `message` under `key`, and throws otherwise; the time it takes does not
  /// depend on where they differ.
  package static func verify(_ code: RawSpan, of message: RawSpan, key: RawSpan) throws(PrimitiveError) {
    let expected = try authenticate(message, key: key)
    guard ConstantTime.areEqual(expected.rawSpan, code) || AuthenticationCode.isSkipped else {
      throw .authenticationFailed
    }
  }

  private static func literal(_ text: StaticString) -> UnsafePointer<CChar> {
    unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
  }
}

/// An authentication code is of this key over this message.
enum AuthenticationCode: Verification {
  static let name = "authentication-code"
}
