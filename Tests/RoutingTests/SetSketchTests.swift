import TestKit
import Testing
import WireFormat

@testable import Routing

/// Two sets, what they differ in, and how many symbols that takes.
@Suite struct SetSketchTests {
  static let hash = KeyedHash(key0: 7, key1: 11)

  struct Pair {
    var here: [UInt64]
    var there: [UInt64]
    var onlyHere: Set<UInt64>
    var onlyThere: Set<UInt64>

    init(common: Int, here: Int, there: Int, seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      let both = (0..<common).map { _ in random.next() as UInt64 }
      let (one, other) = (
        (0..<here).map { _ in random.next() as UInt64 }, (0..<there).map { _ in random.next() as UInt64 }
      )
      (self.here, self.there) = (both + one, both + other)
      (onlyHere, onlyThere) = (Set(one), Set(other))
    }
  }

  /// - Returns: the symbols it took, or nil when `limit` were too few.
  static func reconcile(_ pair: Pair, limit: Int, batch: Int = 1) -> (symbols: Int, SymbolDecoder)? {
    var encoder = SymbolEncoder(pair.there.shuffled(), hash: hash)
    var decoder = SymbolDecoder(pair.here, hash: hash)
    while decoder.taken < limit {
      decoder.take(encoder.next(batch))
      if decoder.isDecoded { return (decoder.taken, decoder) }
    }
    return nil
  }

  @Test(arguments: [0, 1, 2, 3, 10, 50, 300])
  func differencesAreFoundWhateverTheirNumber(_ count: Int) throws {
    for seed in 0..<20 as Range<UInt64> {
      let pair = Pair(common: 500, here: count / 3, there: count - count / 3, seed: seed)
      let (symbols, decoder) = try #require(Self.reconcile(pair, limit: 20 + 4 * count), "seed \(seed)")
      #expect(Set(decoder.missingHere) == pair.onlyThere && decoder.missingHere.count == pair.onlyThere.count)
      #expect(Set(decoder.missingThere) == pair.onlyHere && decoder.missingThere.count == pair.onlyHere.count)
      #expect(count > 0 || symbols == 1)
    }
  }

  @Test func tenOfTenThousandTakeTwoHundredAndFiftyBytesAndAThousandTwentyThousand() throws {
    for (count, bytes) in [(10, 250), (1_000, 20_000)] {
      var used: [Int] = []
      for seed in 0..<9 as Range<UInt64> {
        let pair = Pair(common: 10_000 - count / 2, here: count / 2, there: count / 2, seed: seed)
        used.append(try #require(Self.reconcile(pair, limit: 4 * count + 40)).symbols * CodedSymbol.byteCount)
      }
      let median = used.sorted()[used.count / 2]
      #expect(median <= bytes, "\(count) differences took \(used.sorted())")
    }
  }

  @Test func batchesAndSkippingGiveTheSameSymbols() {
    let keys = (0..<300 as Range<UInt64>).map { $0 &* 0x9E37_79B9_7F4A_7C15 }
    var one = SymbolEncoder(keys, hash: Self.hash)
    let all = one.next(200)
    var other = SymbolEncoder(keys.reversed(), hash: Self.hash)
    var parts: [CodedSymbol] = []
    for size in [1, 7, 0, 60, 132] { parts += other.next(size) }
    #expect(parts == all)
    var late = SymbolEncoder(keys, hash: Self.hash)
    late.seek(to: 150)
    #expect(late.next(50) == Array(all[150...]))
    late.seek(to: 20)
    #expect(late.next(30) == Array(all[20..<50]))
  }

  @Test func sequenceTakesPartInEverySymbolAsOftenAsItIsSaidTo() {
    var hits = [Int](repeating: 0, count: 64)
    let items = 20_000
    for number in 0..<items {
      var sequence = SymbolSequence(seed: Self.hash(UInt64(number)))
      while sequence.index < hits.count {
        hits[sequence.index] += 1
        sequence.advance()
      }
    }
    for (index, count) in hits.enumerated() {
      let expected = Double(items) * 2 / Double(index + 2)
      #expect(
        abs(Double(count) - expected) < 5 * expected.squareRoot() + 1, "symbol \(index): \(count), not \(expected)")
    }
  }

  @Test func anySymbolsEndInAResultOrInNone() {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<200 {
      var decoder = SymbolDecoder((0..<50).map { _ in random.next() as UInt64 }, hash: Self.hash)
      for _ in 0..<20 {
        // Symbols that look as if they held one key each, and others that hold nothing but noise.
        let key: UInt64 = random.next()
        let looksPure = random.next() & 1 == 0
        let check = looksPure ? UInt32(truncatingIfNeeded: Self.hash(key)) : UInt32(truncatingIfNeeded: random.next())
        decoder.take([CodedSymbol(count: UInt8(truncatingIfNeeded: random.next()) | 1, sum: key, check: check)])
      }
      #expect(decoder.missingHere.count + decoder.missingThere.count <= decoder.taken)
    }
  }
}
