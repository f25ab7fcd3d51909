/// Reads big-endian fields from bytes that it does not own. Total: any bytes give a value or a `ByteError`.
///
/// A failed read moves nothing, so the caller can still ask what is left. Nothing is allocated but by `array`.
///
/// The type is public and its members are not: across modules the compiler inlines the members of a public type only,
/// and a read that stays a call costs ten times as much.
public struct ByteReader: ~Escapable {
  @usableFromInline let span: RawSpan

  /// Offset of the next unread byte from the start of the span.
  @inlinable package var position: Int { offset }

  @usableFromInline var offset: Int

  /// Starts at the first byte of `span`.
  @inlinable
  @inline(always)
  @_lifetime(copy span)
  package init(_ span: RawSpan) {
    self.span = span
    self.offset = 0
  }

  /// Bytes not yet read.
  @inlinable package var remaining: Int {
    @inline(always) get { span.byteCount &- offset }
  }

  @inlinable package var isAtEnd: Bool { remaining == 0 }

  @inlinable
  @inline(always)
  @_lifetime(self: copy self)
  mutating func load<Value: FixedWidthInteger & BitwiseCopyable>(_ type: Value.Type) throws(ByteError) -> Value {
    let size = MemoryLayout<Value>.size
    guard remaining >= size else { throw ByteError(needed: size, available: remaining) }
    // The guard above is the bounds check; every bit pattern of a fixed-width integer is a value.
    let value = unsafe span.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: Value.self)
    offset &+= size
    return Value(bigEndian: value)
  }

  @inlinable
  @inline(always)
  @_lifetime(self: copy self)
  package mutating func u8() throws(ByteError) -> UInt8 { try load(UInt8.self) }

  @inlinable
  @inline(always)
  @_lifetime(self: copy self)
  package mutating func u16() throws(ByteError) -> UInt16 { try load(UInt16.self) }

  @inlinable
  @inline(always)
  @_lifetime(self: copy self)
  package mutating func u32() throws(ByteError) -> UInt32 { try load(UInt32.self) }

  @inlinable
  @inline(always)
  @_lifetime(self: copy self)
  package mutating func u64() throws(ByteError) -> UInt64 { try load(UInt64.self) }

  /// Six bytes, the size of a time in milliseconds since 1970.
  @inlinable
  @inline(always)
  @_lifetime(self: copy self)
  package mutating func u48() throws(ByteError) -> UInt64 {
    guard remaining >= 6 else { throw ByteError(needed: 6, available: remaining) }
    let high = UInt64(try load(UInt16.self))
    let low = UInt64(try load(UInt32.self))
    return high &<< 32 | low
  }

  /// The next `count` bytes, borrowed. A negative count is an error like any other that cannot be met.
  @inlinable
  @_lifetime(copy self)
  package mutating func bytes(_ count: Int) throws(ByteError) -> RawSpan {
    guard count >= 0, remaining >= count else { throw ByteError(needed: count, available: remaining) }
    let run = span.extracting(offset..<offset &+ count)
    offset &+= count
    return run
  }

  /// The next `count` bytes, copied.
  @inlinable
  @_lifetime(self: copy self)
  package mutating func array(_ count: Int) throws(ByteError) -> [UInt8] {
    guard count >= 0, remaining >= count else { throw ByteError(needed: count, available: remaining) }
    let run = [UInt8](copying: span.extracting(offset..<offset &+ count))
    offset &+= count
    return run
  }

  /// Everything not yet read, borrowed; the reader is at its end afterwards.
  @inlinable
  @_lifetime(copy self)
  package mutating func rest() -> RawSpan {
    let run = span.extracting(offset..<span.byteCount)
    offset = span.byteCount
    return run
  }

  @inlinable
  @inline(always)
  @_lifetime(self: copy self)
  package mutating func skip(_ count: Int) throws(ByteError) {
    guard count >= 0, remaining >= count else { throw ByteError(needed: count, available: remaining) }
    offset &+= count
  }

  /// Throws unless every byte was read: what a canonical decoder calls last.
  @inlinable
  package func finish() throws(ByteError) {
    guard isAtEnd else { throw ByteError(needed: 0, available: remaining) }
  }
}
