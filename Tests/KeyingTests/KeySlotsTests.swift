import Bytes
import Primitives
import TestKit
import Testing

@testable import Keying

@Suite struct KeySlotsTests {
  private let storeID = [UInt8](repeating: 7, count: 16)

  private func slot(
    _ dataKey: borrowing Secret, _ key: borrowing Secret, _ kind: KeySlot.Kind = .credential, salt: UInt8 = 1
  ) throws -> KeySlot {
    try KeySlot(
      wrapping: dataKey, under: key, kind: kind, cost: kind == .passphrase ? .interactive : nil,
      salt: [UInt8](repeating: salt, count: 32), label: .keySlot, owner: storeID)
  }

  private func file(_ dataKey: borrowing Secret, count: Int = 2) throws -> KeySlots {
    var slots: [KeySlot] = []
    for index in 0..<count {
      slots.append(
        try slot(
          dataKey, keySecret(otherKey), KeySlot.Kind.allCases[index % 3], salt: UInt8(index)))
    }
    return try KeySlots(storeID: storeID, stateCounter: 5, slots: slots, dataKey: dataKey)
  }

  @Test(arguments: 1...8) func whatWasWrittenIsRead(count: Int) throws {
    let dataKey = keySecret(fileKey)
    let file = try file(dataKey, count: count)
    let bytes = file.encoded
    #expect(bytes.count == 34 + 100 * count + 40)
    #expect(try KeySlots(decoding: bytes.rawSpan) == file)
    try file.verify(with: dataKey)
    let key = keySecret(otherKey)
    for slot in file.slots {
      #expect(hex(try slot.unwrap(with: key, label: .keySlot, owner: storeID)) == Hex.encode(fileKey))
    }
  }

  @Test func everyFlippedBitAndEveryCutIsNoticed() throws {
    let dataKey = keySecret(fileKey)
    let bytes = try file(dataKey).encoded
    for index in bytes.indices {
      for bit in 0..<8 {
        var flipped = bytes
        flipped[index] ^= 1 << UInt8(bit)
        guard let file = try? KeySlots(decoding: flipped.rawSpan) else { continue }
        #expect(index >= bytes.count - 32, "only the code is not under the checksum")
        #expect(throws: PrimitiveError.authenticationFailed) { try file.verify(with: dataKey) }
      }
      #expect(throws: KeySlots.Fault.self) { try KeySlots(decoding: bytes.rawSpan.extracting(first: index)) }
    }
    #expect(throws: KeySlots.Fault.length) { try KeySlots(decoding: (bytes + [0]).rawSpan) }
  }

  @Test func fileOfAnotherDataKeyIsRefused() throws {
    let file = try file(keySecret(fileKey))
    #expect(throws: PrimitiveError.authenticationFailed) { try file.verify(with: keySecret(otherKey)) }
  }

  @Test func slotOpensUnderTheKeyItCommitsToAlone() throws {
    let dataKey = keySecret(fileKey)
    let mine = keySecret(otherKey)
    let yours = keySecret(credentialKey)
    let made = try slot(dataKey, mine)
    #expect(throws: KeySlotRefusal.wrongKey) { _ = try made.unwrap(with: yours, label: .keySlot, owner: storeID) }
    // What opens under the key is refused all the same when the slot was made to commit to another.
    let committed = try slot(dataKey, yours)
    let crossed = KeySlot(
      kind: made.kind, cost: nil, salt: made.salt, wrapped: made.wrapped, commitment: committed.commitment)
    #expect(throws: KeySlotRefusal.wrongKey) { _ = try crossed.unwrap(with: mine, label: .keySlot, owner: storeID) }
  }

  @Test func slotMeansNothingElsewhere() throws {
    let dataKey = keySecret(fileKey)
    let key = keySecret(otherKey)
    let made = try slot(dataKey, key)
    #expect(throws: KeySlotRefusal.wrongKey) {
      _ = try made.unwrap(with: key, label: .keySlot, owner: [UInt8](repeating: 8, count: 16))
    }
    #expect(throws: KeySlotRefusal.wrongKey) { _ = try made.unwrap(with: key, label: .backupSlot, owner: storeID) }
    let damaged = KeySlot(
      kind: made.kind, cost: nil, salt: made.salt, wrapped: made.wrapped.reversed(), commitment: made.commitment)
    #expect(throws: KeySlotRefusal.damaged) { _ = try damaged.unwrap(with: key, label: .keySlot, owner: storeID) }
  }

  @Test func costHasAFloorAndACeiling() throws {
    #expect(PassphraseCost(logCost: 17, blockSize: 8, parallelism: 1) == .interactive)
    for (cost, size, runs) in [
      (16, 8, 1), (0, 8, 1), (21, 8, 1), (255, 8, 1), (17, 7, 1), (17, 9, 1), (17, 8, 0), (17, 8, 5),
    ] {
      #expect(PassphraseCost(logCost: UInt8(cost), blockSize: UInt8(size), parallelism: UInt8(runs)) == nil)
    }
    var bytes = try file(keySecret(fileKey)).encoded
    bytes[34 + 100 + 1] = 10
    #expect(throws: KeySlots.Fault.cost) { try KeySlots(parsing: bytes.rawSpan) }
    bytes[34 + 100 + 1] = 17
    bytes[34 + 1] = 17
    #expect(throws: KeySlots.Fault.cost) { try KeySlots(parsing: bytes.rawSpan) }
  }

  @Test func randomBytesAreNoTrap() {
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<2_000 {
      var bytes = Array("RCkeys.1".utf8) + [1, UInt8.random(in: 0...9, using: &generator)]
      for _ in 0..<Int.random(in: 0..<300, using: &generator) {
        bytes.append(UInt8.random(in: 0...255, using: &generator))
      }
      guard let file = try? KeySlots(parsing: bytes.rawSpan) else { continue }
      #expect(file.encoded == bytes)
    }
  }
}
