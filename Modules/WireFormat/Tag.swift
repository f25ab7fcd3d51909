internal import Bytes

/// An opaque address on the air: 8 bytes, compared and never interpreted.
package struct Tag: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  package let rawValue: UInt64

  @inlinable
  package init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// The destination of what is for all.
  package static let everyone = Tag(rawValue: 0)

  package var isEveryone: Bool { rawValue == 0 }

  /// 16 hexadecimal digits.
  package var description: String { Hex.encode(rawValue) }
}
