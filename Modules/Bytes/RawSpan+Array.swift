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
  package func byte(at index: Int) -> UInt8? {
    guard index >= 0, index < byteCount else { return nil }
    return unsafe unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self)
  }
}
