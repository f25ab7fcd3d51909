import Bytes
import Primitives
import Testing

struct RandomTests {
  @Test func drawsDiffer() throws {
    let draws = try (0..<64).map { _ in try SecureRandom.bytes(16) }
    #expect(Set(draws).count == 64)
    #expect(try SecureRandom.bytes(0) == [])
    #expect(try SecureRandom.bytes(-1) == [])
    let secret = try SecureRandom.secret(33)
    #expect(secret.count == 33)
  }

  @Test func aSourceThatFailsMakesNoKey() {
    let broken = RandomSource { _ in false }
    #expect(throws: PrimitiveError.noRandomness) { _ = try P256SigningKey(generatedFrom: broken) }
  }

  @Test func aSourceThatRepeatsAnImpossibleScalarIsCalledBroken() {
    let zeros = RandomSource { _ in true }
    #expect(throws: PrimitiveError.noRandomness) { _ = try P256AgreementKey(generatedFrom: zeros) }
  }

  @Test func secretsJoinAndLendTheirBytes() {
    let one = Secret(copying: [1, 2].rawSpan)
    let two = Secret(copying: [3].rawSpan)
    let joined = Secret(joining: one, two)
    #expect(joined.withBytes { [UInt8](copying: $0) } == [1, 2, 3])
    let empty = Secret(count: -4) { _ in }
    #expect(empty.count == 0)
    #expect(Secret(joining: empty, empty).count == 0)
  }
}
