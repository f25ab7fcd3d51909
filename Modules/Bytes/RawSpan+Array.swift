extension [UInt8] {
  /// The bytes of this array, borrowed: what every decoder takes.
  @inlinable package var rawSpan: RawSpan {
    @_lifetime(borrow self)
    get {
      // `Span.bytes` is unsafe for elements with padding; a byte has none.
      unsafe span.bytes
    }
  }

  /// A copy of borrowed bytes.
  @inlinable
  package init(copying span: RawSpan) {
    self = unsafe span.withUnsafeBytes { unsafe [UInt8]($0) }
  }

  /// Appends a number, its high byte first.
  @inlinable
  package mutating func append(bigEndian value: some FixedWidthInteger & BitwiseCopyable) {
    unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe self.append(contentsOf: $0) }
  }

  /// Appends a copy of borrowed bytes.
  @inlinable
  package mutating func append(copying span: RawSpan) {
    unsafe span.withUnsafeBytes { unsafe self.append(contentsOf: $0) }
  }
}

extension RawSpan {
  /// Whether both hold the same bytes. Stops at the first difference, so it is not for secrets.
  @inlinable
  package func hasSameBytes(as other: RawSpan) -> Bool {
    guard byteCount == other.byteCount else { return false }
    return unsafe withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { theirs in unsafe mine.elementsEqual(theirs) }
    }
  }

  /// The byte at `index`, or nothing outside the span.
  @inlinable
  @inline(always)
  package func byte(at index: Int) -> UInt8? {
    guard index >= 0, index < byteCount else { return nil }
    return unsafe unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self)
  }

  /// The big-endian number at `offset`, or 0 where it does not lie inside the span whole: for decoders that have
  /// checked the size of a fixed layout once and for all.
  @inlinable
  @inline(always)
  package func number<Value: FixedWidthInteger & BitwiseCopyable>(_ type: Value.Type, at offset: Int) -> Value {
    guard offset >= 0, offset <= byteCount &- MemoryLayout<Value>.size else { return 0 }
    return Value(bigEndian: unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: Value.self))
  }
}
