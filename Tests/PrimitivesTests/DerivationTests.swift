import Bytes
import Primitives
import Testing

struct DerivationTests {
  @Test func expansionsOfEverySizeBeginAlike() throws {
    let key = [UInt8](repeating: 3, count: 32)
    var hkdf = try HKDFSHA256()
    let long = try Secret(count: 8_160) { (span) throws(PrimitiveError) in
      try hkdf.expand(key.rawSpan, info: [1].rawSpan, into: &span)
    }
    for count in [0, 1, 31, 32, 33, 63, 64, 65, 100] {
      let short = try Secret(count: count) { (span) throws(PrimitiveError) in
        try hkdf.expand(key.rawSpan, info: [1].rawSpan, into: &span)
      }
      #expect(bytes(of: short) == Array(bytes(of: long).prefix(count)))
    }
    #expect(throws: PrimitiveError.wrongLength(expected: 8_160, found: 8_161)) {
      _ = try HKDFSHA256.derive(8_161, from: [1].rawSpan, salt: RawSpan(), info: RawSpan())
    }
  }

  @Test func theChainIsExtractionThenExpansion() throws {
    var hkdf = try HKDFSHA256()
    let salt = Secret(copying: [UInt8](repeating: 5, count: 32).rawSpan)
    var chained = Secret(count: 96) { _ in }
    try hkdf.derive(&chained, salt: salt, input: [1, 2].rawSpan)
    let whole = try HKDFSHA256.derive(96, from: [1, 2].rawSpan, salt: salt.bytes, info: RawSpan())
    #expect(bytes(of: chained) == bytes(of: whole))
  }

  @Test func scryptRefusesParametersThatAreNone() {
    let good = Scrypt.Parameters(cost: 16, blockSize: 1, parallelism: 1)
    for parameters in [
      Scrypt.Parameters(cost: 0, blockSize: 1, parallelism: 1), .init(cost: 1, blockSize: 1, parallelism: 1),
      .init(cost: 15, blockSize: 1, parallelism: 1), .init(cost: 16, blockSize: 0, parallelism: 1),
      .init(cost: 16, blockSize: 1, parallelism: 0), .init(cost: 1 << 63, blockSize: 8, parallelism: 1),
      .init(cost: 1 << 21, blockSize: 8, parallelism: 1), .init(cost: 16, blockSize: .max, parallelism: .max),
    ] {
      #expect(throws: PrimitiveError.parametersOutOfRange) {
        _ = try Scrypt.derive(32, from: [1].rawSpan, salt: [2].rawSpan, parameters: parameters)
      }
    }
    #expect(throws: PrimitiveError.parametersOutOfRange) {
      _ = try Scrypt.derive(0, from: [1].rawSpan, salt: [2].rawSpan, parameters: good)
    }
  }

  @Test func theParametersOfKeysOnDiskAreWithinTheLimit() throws {
    let key = try Scrypt.derive(32, from: [1].rawSpan, salt: [2].rawSpan, parameters: .interactive)
    #expect(key.count == 32)
  }

  @Test func codesUnderOneKeyAreThoseOfOneCallEach() throws {
    for keyByteCount in [0, 1, 32, 64] {
      let key = (0..<keyByteCount).map { UInt8($0) }
      var keyed = try KeyedHMACSHA256(key: key.rawSpan)
      var code = Secret(count: 32) { _ in }
      for byteCount in 0..<200 {
        let message = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try keyed.authenticate(message.rawSpan, into: &code)
        #expect([UInt8](copying: code.bytes) == (try HMACSHA256.authenticate(message.rawSpan, key: key.rawSpan)))
      }
    }
    #expect(throws: PrimitiveError.wrongLength(expected: 64, found: 65)) {
      _ = try KeyedHMACSHA256(key: [UInt8](repeating: 0, count: 65).rawSpan)
    }
  }

  @Test func codesAreComparedWhole() throws {
    let code = try HMACSHA256.authenticate([1].rawSpan, key: [2].rawSpan)
    try HMACSHA256.verify(code.rawSpan, of: [1].rawSpan, key: [2].rawSpan)
    for bent in [Array(code.dropLast()), code + [0], [], code.map { $0 ^ 1 }] {
      #expect(throws: PrimitiveError.authenticationFailed) {
        try HMACSHA256.verify(bent.rawSpan, of: [1].rawSpan, key: [2].rawSpan)
      }
    }
    let isEmptyEmpty = ConstantTime.areEqual(RawSpan(), RawSpan())
    #expect(isEmptyEmpty)
  }

  @Test func aCodeBegunAnewForgetsWhatWasUnfinished() throws {
    var hmac = try HMACSHA256()
    try hmac.start(key: [1].rawSpan)
    try hmac.update([9, 9].rawSpan)
    try hmac.start(key: [2].rawSpan)
    try hmac.update([1].rawSpan)
    let code = try Secret(count: 32) { (span) throws(PrimitiveError) in try hmac.finish(into: &span) }
    #expect(bytes(of: code) == (try HMACSHA256.authenticate([1].rawSpan, key: [2].rawSpan)))
  }
}
