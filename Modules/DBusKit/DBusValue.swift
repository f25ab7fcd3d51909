/// A value of the D-Bus type system (D-Bus specification, "Type System").
///
/// An array carries the signature of its elements, because an empty one has a type too. Bytes have a case of their own:
/// a payload of some hundred of them is one copy and not as many boxes.
package indirect enum DBusValue: Sendable, Hashable {
  case byte(UInt8)
  case boolean(Bool)
  case int16(Int16)
  case uint16(UInt16)
  case int32(Int32)
  case uint32(UInt32)
  case int64(Int64)
  case uint64(UInt64)
  case double(Double)
  case string(String)
  /// An absolute path of `[A-Za-z0-9_]` elements; another is refused when it is sent.
  case objectPath(String)
  case signature(String)
  case descriptor(DBusDescriptor)
  /// An array of bytes, `ay`.
  case bytes([UInt8])
  /// `element` is the signature of one element; every element has it.
  case array(element: String, [DBusValue])
  /// `a{…}`: `key` and `value` are signatures. In the order in which it was read or is to be written.
  case dictionary(key: String, value: String, [DBusEntry])
  case structure([DBusValue])
  case variant(DBusValue)
}

/// One entry of a dictionary.
package struct DBusEntry: Sendable, Hashable {
  package var key: DBusValue
  package var value: DBusValue

  package init(_ key: DBusValue, _ value: DBusValue) {
    self.key = key
    self.value = value
  }
}

extension DBusValue {
  /// `a{sv}`: what properties and options are.
  package static func properties(_ values: KeyValuePairs<String, DBusValue>) -> DBusValue {
    .dictionary(key: "s", value: "v", values.map { DBusEntry(.string($0.key), .variant($0.value)) })
  }

  /// `as`.
  package static func strings(_ values: [String]) -> DBusValue {
    .array(element: "s", values.map { .string($0) })
  }

  /// The single complete type of the value.
  package var typeSignature: String {
    switch self {
    case .byte: "y"
    case .boolean: "b"
    case .int16: "n"
    case .uint16: "q"
    case .int32: "i"
    case .uint32: "u"
    case .int64: "x"
    case .uint64: "t"
    case .double: "d"
    case .string: "s"
    case .objectPath: "o"
    case .signature: "g"
    case .descriptor: "h"
    case .bytes: "ay"
    case .array(let element, _): "a\(element)"
    case .dictionary(let key, let value, _): "a{\(key)\(value)}"
    case .structure(let fields): "(\(fields.map(\.typeSignature).joined()))"
    case .variant: "v"
    }
  }

  /// The value inside a variant, however deep; any other value itself.
  package var unwrapped: DBusValue {
    if case .variant(let inner) = self { return inner.unwrapped }
    return self
  }

  package var asString: String? {
    switch unwrapped {
    case .string(let text), .objectPath(let text), .signature(let text): text
    default: nil
    }
  }

  package var asBool: Bool? {
    if case .boolean(let value) = unwrapped { return value }
    return nil
  }

  /// Any integer that fits.
  package var asInt: Int? {
    switch unwrapped {
    case .byte(let value): Int(value)
    case .int16(let value): Int(value)
    case .uint16(let value): Int(value)
    case .int32(let value): Int(value)
    case .uint32(let value): Int(value)
    case .int64(let value): Int(exactly: value)
    case .uint64(let value): Int(exactly: value)
    default: nil
    }
  }

  package var asBytes: [UInt8]? {
    if case .bytes(let value) = unwrapped { return value }
    return nil
  }

  package var asArray: [DBusValue]? {
    if case .array(_, let values) = unwrapped { return values }
    return nil
  }

  /// The strings of an array of them; others are left out.
  package var asStrings: [String]? { asArray?.compactMap(\.asString) }

  package var asEntries: [DBusEntry]? {
    if case .dictionary(_, _, let entries) = unwrapped { return entries }
    return nil
  }

  /// A dictionary with string keys, by key; of a key that comes twice the last counts.
  package var asProperties: [String: DBusValue]? {
    guard let entries = asEntries else { return nil }
    var properties: [String: DBusValue] = [:]
    properties.reserveCapacity(entries.count)
    for entry in entries {
      guard let key = entry.key.asString else { return nil }
      properties[key] = entry.value.unwrapped
    }
    return properties
  }
}
