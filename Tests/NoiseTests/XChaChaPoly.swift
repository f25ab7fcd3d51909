import Noise
import Primitives

/// ChaChaPoly with nonces of 24 bytes (draft-irtf-cfrg-xchacha), for the one foreign set of vectors over P-256. In Noise
/// the first 16 bytes of such a nonce are zero, so that the inner key depends on the key alone.
enum XChaChaPoly: NoiseCipher {
  static let name = "XChaChaPoly"
  static let algorithm = AEADAlgorithm.chaCha20Poly1305
  static func nonce(_ counter: UInt64) -> AEADNonce { AEADNonce(littleEndian: counter) }

  /// HChaCha20 of the key and 16 zero bytes.
  static func innerKey(_ key: RawSpan) throws(PrimitiveError) -> Secret? {
    var state: [UInt32] = [0x6170_7865, 0x3320_646E, 0x7962_2D32, 0x6B20_6574]
    for index in 0..<8 {
      state.append(UInt32(littleEndian: unsafe key.unsafeLoadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)))
    }
    state += [0, 0, 0, 0]
    func quarter(_ a: Int, _ b: Int, _ c: Int, _ d: Int) {
      func turn(_ x: Int, _ y: Int, _ z: Int, by bits: UInt32) {
        state[x] &+= state[y]
        let mixed = state[z] ^ state[x]
        state[z] = mixed &<< bits | mixed &>> (32 - bits)
      }
      turn(a, b, d, by: 16)
      turn(c, d, b, by: 12)
      turn(a, b, d, by: 8)
      turn(c, d, b, by: 7)
    }
    for _ in 0..<10 {
      for column in 0..<4 { quarter(column, column + 4, column + 8, column + 12) }
      for column in 0..<4 { quarter(column, 4 + (column + 1) % 4, 8 + (column + 2) % 4, 12 + (column + 3) % 4) }
    }
    let words = state[0..<4] + state[12..<16]
    return Secret(count: 32) { span in
      for (index, word) in words.enumerated() {
        span.storeBytes(of: word.littleEndian, toByteOffset: 4 * index, as: UInt32.self)
      }
    }
  }
}
