internal import Bytes

/// The reads of this module's decoders, which tell everything as a `WireError`.
extension ByteReader {
  @_lifetime(self: copy self)
  mutating func field8() throws(WireError) -> UInt8 {
    do { return try u8() } catch { throw .bytes(error) }
  }

  @_lifetime(self: copy self)
  mutating func field16() throws(WireError) -> UInt16 {
    do { return try u16() } catch { throw .bytes(error) }
  }

  @_lifetime(self: copy self)
  mutating func field32() throws(WireError) -> UInt32 {
    do { return try u32() } catch { throw .bytes(error) }
  }

  @_lifetime(self: copy self)
  mutating func field64() throws(WireError) -> UInt64 {
    do { return try u64() } catch { throw .bytes(error) }
  }
}
