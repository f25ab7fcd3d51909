/// A value to be bound to a `?` of a statement.
package enum DatabaseValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  /// A number that may use all 64 bits; stored as the signed number with the same bits.
  package static func bits(_ value: UInt64) -> DatabaseValue { .integer(Int64(bitPattern: value)) }

  package static func optional(_ value: [UInt8]?) -> DatabaseValue { value.map { .blob($0) } ?? .null }
  package static func optional(_ value: String?) -> DatabaseValue { value.map { .text($0) } ?? .null }
  package static func optional(_ value: Int64?) -> DatabaseValue { value.map { .integer($0) } ?? .null }
}

extension DatabaseValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(stringLiteral value: String) { self = .text(value) }
  package init(nilLiteral: ()) { self = .null }
}
