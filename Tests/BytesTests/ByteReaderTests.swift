import Bytes
import Testing

struct ByteReaderTests {
  @Test func fieldsAreReadBigEndian() throws {
    let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]
    var reader = ByteReader(bytes.rawSpan)
    #expect(try reader.u8() == 1)
    #expect(try reader.u16() == 0x0203)
    #expect(try reader.u32() == 0x0405_0607)
    #expect(try reader.u48() == 0x0809_0A0B_0C0D)
    #expect(try reader.u64() == 0x0E0F_1011_1213_1415)
    #expect(reader.position == 21)
    #expect(try reader.array(2) == [22, 23])
    let rest = [UInt8](copying: reader.rest())
    #expect(rest == [24])
    try reader.finish()
  }

  @Test func whatIsMissingIsToldAndNothingMoves() throws {
    let bytes: [UInt8] = [1, 2, 3, 4, 5]
    var reader = ByteReader(bytes.rawSpan)
    #expect(throws: ByteError(needed: 8, available: 5)) { try reader.u64() }
    #expect(throws: ByteError(needed: 6, available: 5)) { try reader.u48() }
    #expect(throws: ByteError(needed: 6, available: 5)) { _ = try reader.array(6) }
    #expect(throws: ByteError(needed: -1, available: 5)) { _ = try reader.array(-1) }
    #expect(throws: ByteError(needed: -1, available: 5)) { try reader.skip(-1) }
    #expect(throws: ByteError(needed: .max, available: 5)) { try reader.skip(.max) }
    #expect(throws: ByteError(needed: 0, available: 5)) { try reader.finish() }
    #expect(reader.remaining == 5)
    #expect(try reader.u8() == 1)
  }

  @Test func anyCountOnAnyLengthGivesAValueOrAnError() {
    for length in 0..<12 {
      let bytes = [UInt8](repeating: 7, count: length)
      for count in [-1, 0, 1, length - 1, length, length + 1, Int.max, Int.min] {
        var reader = ByteReader(bytes.rawSpan)
        let fits = (try? reader.array(count)) != nil
        #expect(fits == (count >= 0 && count <= length))
      }
    }
  }

  @Test func writerAndReaderAgree() throws {
    var writer = ByteWriter(capacity: 32)
    writer.u8(9)
    writer.u16(0xABCD)
    writer.u32(0xDEAD_BEEF)
    writer.u48(0x1234_5678_9ABC)
    writer.u64(.max - 1)
    writer.bytes([5, 6])
    let bytes = writer.bytes
    var reader = ByteReader(bytes.rawSpan)
    #expect(try reader.u8() == 9)
    #expect(try reader.u16() == 0xABCD)
    #expect(try reader.u32() == 0xDEAD_BEEF)
    #expect(try reader.u48() == 0x1234_5678_9ABC)
    #expect(try reader.u64() == .max - 1)
    let run = [UInt8](copying: try reader.bytes(2))
    #expect(run == [5, 6])
    try reader.finish()
  }

  @Test func aTimeBeyondSixBytesIsWrittenAsTheLatest() {
    var writer = ByteWriter()
    writer.u48(1 << 48)
    #expect(writer.bytes == [UInt8](repeating: 0xFF, count: 6))
  }

  @Test func spansAreComparedByContent() {
    let one: [UInt8] = [1, 2, 3]
    let two: [UInt8] = [1, 2, 3]
    let three: [UInt8] = [1, 2]
    let same = one.rawSpan.hasSameBytes(as: two.rawSpan)
    let shorter = one.rawSpan.hasSameBytes(as: three.rawSpan)
    #expect(same)
    #expect(!shorter)
    #expect(one.rawSpan.byte(at: 2) == 3)
    #expect(one.rawSpan.byte(at: 3) == nil)
    #expect(one.rawSpan.byte(at: -1) == nil)
  }
}
