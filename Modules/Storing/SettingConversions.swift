internal import Bytes

/// What a store holds as it is: no conversion, and no way in which reading it back can fail.
package protocol StoredAsItIs: Sendable {
  init(stored bytes: [UInt8])
  var stored: [UInt8] { get }
}

/// What is converted to bytes to be stored, and back.
package protocol StoredAsBytes: Sendable {
  /// Nothing when the bytes are not exactly a value.
  init?(decoding bytes: [UInt8])
  var encoded: [UInt8] { get }
}

/// What earlier versions stored plainly in a type of its own: the stores hold that type, this one is what the program
/// works with. For values whose bytes must stay those of a deployed plain store.
package protocol StoredThroughAnother: StoredAsBytes {
  associatedtype Plain: StoredAsItIs
  /// Nothing when the stored value is none of this type.
  init?(plain: Plain)
  var plain: Plain { get }
}

extension StoredThroughAnother {
  package init?(decoding bytes: [UInt8]) { self.init(plain: Plain(stored: bytes)) }
  package var encoded: [UInt8] { plain.stored }
}

extension [UInt8]: StoredAsItIs {
  package init(stored bytes: [UInt8]) { self = bytes }
  package var stored: [UInt8] { self }
}

/// One byte, 0 or 1.
extension Bool: StoredAsBytes {
  package init?(decoding bytes: [UInt8]) {
    guard bytes == [0] || bytes == [1] else { return nil }
    self = bytes == [1]
  }

  package var encoded: [UInt8] { [self ? 1 : 0] }
}

/// UTF-8.
extension String: StoredAsBytes {
  package init?(decoding bytes: [UInt8]) {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    self = text
  }

  package var encoded: [UInt8] { Array(utf8) }
}

/// Eight bytes, the high one first.
extension UInt64: StoredAsBytes {
  package init?(decoding bytes: [UInt8]) {
    guard bytes.count == 8 else { return nil }
    self = bytes.rawSpan.number(UInt64.self, at: 0)
  }

  package var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: self)
    return bytes
  }
}

/// Eight bytes, the high one first, in two's complement.
extension Int: StoredAsBytes {
  package init?(decoding bytes: [UInt8]) {
    guard let number = UInt64(decoding: bytes) else { return nil }
    self.init(truncatingIfNeeded: number)
  }

  package var encoded: [UInt8] { UInt64(bitPattern: Int64(self)).encoded }
}

/// As the raw value; a raw value that is none of the type is no value.
extension StoredAsBytes where Self: RawRepresentable, RawValue: StoredAsBytes {
  package init?(decoding bytes: [UInt8]) {
    guard let raw = RawValue(decoding: bytes), let value = Self(rawValue: raw) else { return nil }
    self = value
  }

  package var encoded: [UInt8] { rawValue.encoded }
}
