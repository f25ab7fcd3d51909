internal import CCrypto

/// Algorithms that are looked up in libcrypto's providers once: a lookup by name for each use costs more than most uses.
@safe
final class Algorithms: @unchecked Sendable {
  // Sendable is sound: nothing here is written after `init`, and libcrypto only reads a fetched algorithm.
  private let aes: OpaquePointer
  private let chaCha: OpaquePointer
  let hmac: OpaquePointer

  /// Nothing only when libcrypto has no memory or lacks one of them.
  private static let shared: Algorithms? = Algorithms()

  static func get(_ operation: PrimitiveError.Operation) throws(PrimitiveError) -> Algorithms {
    guard let shared else { throw .taken(from: operation) }
    return shared
  }

  func cipher(_ algorithm: AEADAlgorithm) -> OpaquePointer {
    switch algorithm {
    case .aes256GCM: unsafe aes
    case .chaCha20Poly1305: unsafe chaCha
    }
  }

  private init?() {
    guard let aes = unsafe EVP_CIPHER_fetch(nil, "AES-256-GCM", nil),
      let chaCha = unsafe EVP_CIPHER_fetch(nil, "ChaCha20-Poly1305", nil),
      let hmac = unsafe EVP_MAC_fetch(nil, "HMAC", nil)
    else { return nil }
    unsafe self.aes = aes
    unsafe self.chaCha = chaCha
    unsafe self.hmac = hmac
  }

  deinit {
    unsafe EVP_CIPHER_free(aes)
    unsafe EVP_CIPHER_free(chaCha)
    unsafe EVP_MAC_free(hmac)
  }
}

extension RawSpan {
  /// The address of the first byte; of some other readable byte when there is none, because libcrypto takes a null
  /// pointer for "not given".
  func withBytePointer<Result: ~Copyable>(_ body: (UnsafePointer<UInt8>, Int) -> Result) -> Result {
    unsafe withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else {
        var nothing: UInt8 = 0
        return unsafe body(&nothing, 0)
      }
      return unsafe body(base.assumingMemoryBound(to: UInt8.self), bytes.count)
    }
  }
}
