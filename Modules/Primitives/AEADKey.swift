internal import Bytes
internal import CCrypto
internal import Verifying

/// A key that seals and opens, with one libcrypto context for each direction that is set up at its first use and then
/// only given nonces. One owner at a time. The key is wiped with the object.
///
/// After the first use of a direction nothing is allocated but what the caller's array needs to grow.
@safe
package struct AEADKey: ~Copyable, @unchecked Sendable {
  // Sendable is sound: the contexts have one owner, and `mutating` keeps their use exclusive.
  package static let keyByteCount = 32
  package static let tagByteCount = 16

  package let algorithm: AEADAlgorithm
  private let cipher: OpaquePointer
  private let sealing: OpaquePointer
  private let opening: OpaquePointer
  private var key: Secret
  /// How far each context is set up for the key.
  private var sealingSetup = Setup.none
  private var openingSetup = Setup.none

  private enum Setup { case none, cipher, key }

  /// Refuses a key that is not 32 bytes.
  package init(_ algorithm: AEADAlgorithm, key: RawSpan) throws(PrimitiveError) {
    guard key.byteCount == Self.keyByteCount else {
      throw .wrongLength(expected: Self.keyByteCount, found: key.byteCount)
    }
    let cipher = unsafe try Algorithms.get(.cipher).cipher(algorithm)
    guard let sealing = unsafe EVP_CIPHER_CTX_new() else { throw .taken(from: .cipher) }
    guard let opening = unsafe EVP_CIPHER_CTX_new() else {
      unsafe EVP_CIPHER_CTX_free(sealing)
      throw .taken(from: .cipher)
    }
    self.algorithm = algorithm
    unsafe self.cipher = cipher
    unsafe self.sealing = sealing
    unsafe self.opening = opening
    self.key = Secret(copying: key)
  }

  deinit {
    // Both wipe their key schedules.
    unsafe EVP_CIPHER_CTX_free(sealing)
    unsafe EVP_CIPHER_CTX_free(opening)
  }

  /// Takes another key into the same contexts. The old one is wiped.
  package mutating func setKey(_ bytes: RawSpan) throws(PrimitiveError) {
    guard bytes.byteCount == Self.keyByteCount else {
      throw .wrongLength(expected: Self.keyByteCount, found: bytes.byteCount)
    }
    key.overwrite(with: bytes)
    if sealingSetup == .key { sealingSetup = .cipher }
    if openingSetup == .key { openingSetup = .cipher }
  }

  /// The key, borrowed: for a state that is to be put back where it was.
  package var keyBytes: RawSpan {
    @_lifetime(borrow self)
    borrowing get { key.bytes }
  }

  /// Appends the ciphertext of `content` and its tag. On an error `buffer` is as it was.
  package mutating func seal(
    _ content: RawSpan, nonce: AEADNonce, authenticating associated: RawSpan, appendingTo buffer: inout [UInt8]
  ) throws(PrimitiveError) {
    let start = buffer.count
    // Copied once and sealed where it stands: making room of zeros first would write everything twice.
    unsafe content.withUnsafeBytes { unsafe buffer.append(contentsOf: $0) }
    unsafe withUnsafeBytes(of: (UInt64(0), UInt64(0))) { unsafe buffer.append(contentsOf: $0) }
    let isSealed = unsafe associated.withUnsafeBytes { associated in
      unsafe buffer.withUnsafeMutableBytes { target in
        guard let base = target.baseAddress else { return false }
        let place = unsafe UnsafeRawBufferPointer(start: base + start, count: content.byteCount)
        return unsafe seal(place, to: base + start, nonce, associated)
      }
    }
    guard isSealed else {
      buffer.removeLast(buffer.count - start)
      throw .taken(from: .cipher)
    }
  }

  /// Seals all but the last 16 bytes of `bytes` where they stand and writes the tag into the last 16.
  package mutating func sealInPlace(
    _ bytes: inout MutableRawSpan, nonce: AEADNonce, authenticating associated: RawSpan
  ) throws(PrimitiveError) {
    let count = bytes.byteCount - Self.tagByteCount
    guard count >= 0 else { throw .wrongLength(expected: Self.tagByteCount, found: bytes.byteCount) }
    let isSealed = unsafe associated.withUnsafeBytes { associated in
      unsafe bytes.withUnsafeMutableBytes { target in
        guard let base = target.baseAddress else { return false }
        return unsafe seal(UnsafeRawBufferPointer(start: base, count: count), to: base, nonce, associated)
      }
    }
    guard isSealed else { throw .taken(from: .cipher) }
  }

  /// Appends the content of `sealed`, which is a ciphertext and its tag. On an error `buffer` holds what it held:
  /// nothing that was not authenticated leaves this function.
  package mutating func open(
    _ sealed: RawSpan, nonce: AEADNonce, authenticating associated: RawSpan, appendingTo buffer: inout [UInt8]
  ) throws(PrimitiveError) {
    let count = sealed.byteCount - Self.tagByteCount
    guard count >= 0 else { throw .authenticationFailed }
    let start = buffer.count
    let outcome = unsafe sealed.withUnsafeBytes { source in
      unsafe buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: source[..<count]))
      return unsafe associated.withUnsafeBytes { associated in
        unsafe buffer.withUnsafeMutableBytes { target in
          unsafe open(source, to: target.baseAddress.map { unsafe $0 + start }, nonce, associated)
        }
      }
    }
    guard outcome == .opened else {
      buffer.removeLast(count)
      throw outcome == .refused ? .authenticationFailed : .taken(from: .cipher)
    }
  }

  /// Opens `bytes` where they stand: the content comes to lie in all but the last 16. On an error they are all zero.
  package mutating func openInPlace(
    _ bytes: inout MutableRawSpan, nonce: AEADNonce, authenticating associated: RawSpan
  ) throws(PrimitiveError) {
    guard bytes.byteCount >= Self.tagByteCount else { throw .authenticationFailed }
    let outcome = unsafe associated.withUnsafeBytes { associated in
      unsafe bytes.withUnsafeMutableBytes { target in
        unsafe open(UnsafeRawBufferPointer(target), to: target.baseAddress, nonce, associated)
      }
    }
    guard outcome == .opened else {
      unsafe bytes.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
      throw outcome == .refused ? .authenticationFailed : .taken(from: .cipher)
    }
  }

  private mutating func seal(
    _ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer, _ nonce: AEADNonce,
    _ associated: UnsafeRawBufferPointer
  ) -> Bool {
    guard prepareSealing(), let count = Int32(exactly: source.count),
      let associatedCount = Int32(exactly: associated.count)
    else { return false }
    var words = nonce.words
    let hasNonce = unsafe withUnsafeBytes(of: &words) {
      unsafe EVP_EncryptInit_ex(sealing, nil, nil, nil, Self.octets($0.baseAddress)) == 1
    }
    guard hasNonce else { return false }
    let out = unsafe target.assumingMemoryBound(to: UInt8.self)
    var written: Int32 = 0
    if associatedCount > 0 {
      let isRead = unsafe EVP_EncryptUpdate(
        sealing, nil, &written, Self.octets(associated.baseAddress), associatedCount)
      guard isRead == 1 else { return false }
    }
    if count > 0 {
      let isRead = unsafe EVP_EncryptUpdate(sealing, out, &written, Self.octets(source.baseAddress), count)
      guard isRead == 1, written == count else { return false }
    }
    let tag = unsafe out + Int(count)
    guard unsafe EVP_EncryptFinal_ex(sealing, tag, &written) == 1 else { return false }
    return unsafe EVP_CIPHER_CTX_ctrl(sealing, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount), tag) == 1
  }

  private enum Outcome { case opened, refused, failed }

  private mutating func open(
    _ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer?, _ nonce: AEADNonce,
    _ associated: UnsafeRawBufferPointer
  ) -> Outcome {
    guard prepareOpening(), let count = Int32(exactly: source.count - Self.tagByteCount), count >= 0,
      let associatedCount = Int32(exactly: associated.count), let base = source.baseAddress
    else { return .failed }
    var words = nonce.words
    let hasNonce = unsafe withUnsafeBytes(of: &words) {
      unsafe EVP_DecryptInit_ex(opening, nil, nil, nil, Self.octets($0.baseAddress)) == 1
    }
    guard hasNonce else { return .failed }
    var written: Int32 = 0
    if associatedCount > 0 {
      let isRead = unsafe EVP_DecryptUpdate(
        opening, nil, &written, Self.octets(associated.baseAddress), associatedCount)
      guard isRead == 1 else { return .failed }
    }
    if count > 0 {
      let out = unsafe target?.assumingMemoryBound(to: UInt8.self)
      let isRead = unsafe EVP_DecryptUpdate(opening, out, &written, Self.octets(base), count)
      guard isRead == 1, written == count else { return .failed }
    }
    let tag = unsafe UnsafeMutableRawPointer(mutating: base + Int(count))
    guard unsafe EVP_CIPHER_CTX_ctrl(opening, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagByteCount), tag) == 1 else {
      return .failed
    }
    var nothing: UInt8 = 0
    if unsafe EVP_DecryptFinal_ex(opening, &nothing, &written) == 1 { return .opened }
    ERR_clear_error()
    guard !AEADTag.isSkipped else { return .opened }
    unsafe OPENSSL_cleanse(target, Int(count))
    return .refused
  }

  private mutating func prepareSealing() -> Bool {
    if sealingSetup == .key { return true }
    let cipher = unsafe sealingSetup == .none ? cipher : nil
    let context = unsafe sealing
    guard
      unsafe key.bytes.withBytePointer({ bytes, _ in unsafe EVP_EncryptInit_ex(context, cipher, nil, bytes, nil) }) == 1
    else { return false }
    sealingSetup = .key
    return true
  }

  private mutating func prepareOpening() -> Bool {
    if openingSetup == .key { return true }
    let cipher = unsafe openingSetup == .none ? cipher : nil
    let context = unsafe opening
    guard
      unsafe key.bytes.withBytePointer({ bytes, _ in unsafe EVP_DecryptInit_ex(context, cipher, nil, bytes, nil) }) == 1
    else { return false }
    openingSetup = .key
    return true
  }

  @inline(always)
  private static func octets(_ pointer: UnsafeRawPointer?) -> UnsafePointer<UInt8>? {
    unsafe pointer?.assumingMemoryBound(to: UInt8.self)
  }
}

/// The tag of what is opened is the one that its key makes.
enum AEADTag: Verification {
  static let name = "aead-tag"
}
