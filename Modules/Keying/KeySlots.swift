internal import Bytes
package import Primitives
internal import Verifying

/// The slot file `keys.v1`: the ways to the data key, none of which is the data key.
///
/// Layout, numbers big-endian: magic 8, format 1, number of slots 1, store ID 16, state counter 8, slots of 100 bytes
/// each, checksum 8 (of SHA-256, tells damage from a wrong key), code 32 (HMAC-SHA256 under a key expanded from the data
/// key, over everything before it). Lengths, structure and checksum are checked before any key is tried, the code after.
package struct KeySlots: Equatable, Sendable {
  /// Why bytes are no slot file.
  package enum Fault: Error, Equatable, Sendable {
    case magic
    case format(UInt8)
    case length
    case slotCount(UInt8)
    case kind(UInt8)
    /// The cost of a passphrase lies outside its bounds, or something else has a cost.
    case cost
    case checksum
    /// A slot's wrapped key is damaged though its commitment holds.
    case wrapping
    /// The file is not what the holder of the data key wrote.
    case code
  }

  package static let magic = Array("RCkeys.1".utf8)
  static let format: UInt8 = 1
  package static let storeIDByteCount = 16
  static let checksumByteCount = 8
  static let headByteCount = 8 + 1 + 1 + storeIDByteCount + 8
  /// Of the largest file.
  package static let largestByteCount =
    headByteCount + KeyingLimits.slotCount * KeySlot.byteCount + checksumByteCount + HMACSHA256.byteCount

  /// Random, made once: what binds all other files of this store to this one.
  package let storeID: [UInt8]
  /// Raised with every record of how far the files are: a file that remembers another number was put back from a copy, or
  /// this one was.
  package let stateCounter: UInt64
  package let slots: [KeySlot]
  private let checksum: [UInt8]
  private let code: [UInt8]

  /// Everything but the checksum, which no fuzzer guesses. Total: any bytes are a value or a fault, and a value has
  /// these bytes alone.
  package init(parsing bytes: RawSpan) throws(Fault) {
    var reader = ByteReader(bytes)
    do {
      guard try reader.array(Self.magic.count) == Self.magic else { throw Fault.magic }
      let format = try reader.u8()
      guard format == Self.format else { throw Fault.format(format) }
      let count = try reader.u8()
      guard count >= 1, count <= KeyingLimits.slotCount else { throw Fault.slotCount(count) }
      storeID = try reader.array(Self.storeIDByteCount)
      stateCounter = try reader.u64()
      var slots: [KeySlot] = []
      for _ in 0..<count { slots.append(try KeySlot(reading: &reader)) }
      self.slots = slots
      checksum = try reader.array(Self.checksumByteCount)
      code = try reader.array(HMACSHA256.byteCount)
      try reader.finish()
    } catch let fault as Fault {
      throw fault
    } catch {
      throw .length
    }
  }

  /// A file that is whole.
  package init(decoding bytes: RawSpan) throws(Fault) {
    try self.init(parsing: bytes)
    guard let sum = try? Self.sum(body), sum == checksum else { throw .checksum }
  }

  /// Seals `slots`, 1 to `KeyingLimits.slotCount`, under the data key that all of them wrap.
  package init(
    storeID: [UInt8], stateCounter: UInt64, slots: [KeySlot], dataKey: borrowing Secret
  ) throws(PrimitiveError) {
    self.storeID = storeID
    self.stateCounter = stateCounter
    self.slots = slots
    let body = Self.body(storeID: storeID, stateCounter: stateCounter, slots: slots)
    checksum = try Self.sum(body)
    code = try Self.code(of: body + checksum, dataKey: dataKey, storeID: storeID)
  }

  package var encoded: [UInt8] { body + checksum + code }

  /// Throws unless whoever wrote the file had the data key.
  package func verify(with dataKey: borrowing Secret) throws(PrimitiveError) {
    let expected = try Self.code(of: body + checksum, dataKey: dataKey, storeID: storeID)
    guard ConstantTime.areEqual(expected.rawSpan, code.rawSpan) || KeySlotsCode.isSkipped else {
      throw .authenticationFailed
    }
  }

  /// Kinds of the slots, each once, in the order of their numbers.
  package var kinds: [KeySlot.Kind] { KeySlot.Kind.allCases.filter { kind in slots.contains { $0.kind == kind } } }

  private var body: [UInt8] { Self.body(storeID: storeID, stateCounter: stateCounter, slots: slots) }

  private static func body(storeID: [UInt8], stateCounter: UInt64, slots: [KeySlot]) -> [UInt8] {
    var writer = ByteWriter(capacity: largestByteCount)
    writer.bytes(magic)
    writer.u8(format)
    writer.u8(UInt8(truncatingIfNeeded: slots.count))
    writer.bytes(storeID)
    writer.u64(stateCounter)
    for slot in slots { writer.bytes(slot.encoded) }
    return writer.bytes
  }

  private static func sum(_ body: [UInt8]) throws(PrimitiveError) -> [UInt8] {
    Array(try SHA256.digest(label: .keySlots, body.rawSpan).bytes.prefix(checksumByteCount))
  }

  private static func code(
    of bytes: [UInt8], dataKey: borrowing Secret, storeID: [UInt8]
  ) throws(PrimitiveError) -> [UInt8] {
    let information = Array(DomainLabel.keySlots.text.description.utf8) + storeID
    var hkdf = try HKDFSHA256()
    let key = try Secret(count: HMACSHA256.byteCount) { (span) throws(PrimitiveError) in
      try hkdf.expand(dataKey.bytes, info: information.rawSpan, into: &span)
    }
    return try HMACSHA256.authenticate(bytes.rawSpan, key: key.bytes)
  }
}

/// The slot file was written by a holder of the data key.
enum KeySlotsCode: Verification {
  static let name = "key-slots-code"
}
