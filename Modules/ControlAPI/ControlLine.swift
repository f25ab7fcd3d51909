internal import FoundationEssentials

/// The one place where lines become values and values lines.
enum ControlLine {
  /// One line with its line end. Keys are in order of their names, so that equal values give equal bytes.
  static func encode(_ value: some Encodable, limit: Int) throws(ControlError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { throw ControlError(.internal, "the value has no JSON form") }
    guard data.count < limit else { throw ControlError(.tooLong, "the line is too long", limit: limit) }
    return Array(data) + [0x0A]
  }

  /// A line with or without its line end.
  static func decode<Value: Decodable>(_ type: Value.Type, _ line: [UInt8], limit: Int) throws -> Value {
    guard line.count <= limit else { throw ControlError(.tooLong, "the line is too long", limit: limit) }
    guard String(validating: line, as: UTF8.self) != nil else { throw ControlError(.parse, "the line is not UTF-8") }
    return try JSONDecoder().decode(type, from: Data(line))
  }
}

/// Records as text, the way the protocol writes them: for programs that pass them on or keep them.
public enum ControlJSON {
  /// One line with its line end; keys are in order of their names. nil when it does not fit a line.
  public static func line(_ value: some Encodable) -> [UInt8]? {
    try? ControlLine.encode(value, limit: ControlAPILimits.bytesOfAnswer)
  }
}

/// Any name of a member.
struct MemberName: CodingKey, Hashable {
  let stringValue: String
  var intValue: Int? { nil }
  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}
