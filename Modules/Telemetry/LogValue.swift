/// The value of one field. Never a payload, a key, a passphrase, or the text of a message.
package enum LogValue: Sendable, Equatable {
  case text(String)
  case signed(Int64)
  case unsigned(UInt64)
  case real(Double)
  case flag(Bool)

  /// Any integer; one beyond 64 bits is clamped.
  package static func integer(_ value: some BinaryInteger) -> LogValue {
    if let exact = Int64(exactly: value) { return .signed(exact) }
    return value < 0 ? .signed(.min) : .unsigned(UInt64(clamping: value))
  }

  /// Seconds, as a real number.
  package static func duration(_ value: Duration) -> LogValue {
    .real(Double(value.components.seconds) + Double(value.components.attoseconds) / 1e18)
  }

  /// What `String(describing:)` says; for enums of reasons and states.
  package static func description(_ value: some Any) -> LogValue { .text(String(describing: value)) }
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByFloatLiteral
{
  package init(stringLiteral value: String) { self = .text(value) }
  package init(integerLiteral value: Int64) { self = .signed(value) }
  package init(booleanLiteral value: Bool) { self = .flag(value) }
  package init(floatLiteral value: Double) { self = .real(value) }
}

/// Named values in the order they were written. Names are constants of the program.
package struct LogFields: Sendable, ExpressibleByDictionaryLiteral {
  package private(set) var entries: [(name: String, value: LogValue)] = []

  package init() {}

  /// More than `TelemetryLimits.fieldsPerRecord` are cut.
  package init(dictionaryLiteral elements: (StaticString, LogValue)...) {
    entries = elements.prefix(TelemetryLimits.fieldsPerRecord).map { (name: $0.0.description, value: $0.1) }
  }

  /// The first value with this name.
  package subscript(name: String) -> LogValue? { entries.first { $0.name == name }?.value }
}
