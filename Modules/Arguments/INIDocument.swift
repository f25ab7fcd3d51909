internal import CInih

/// What is wrong with the text of an INI file, by line, the first being 1.
package enum INIError: Error, Equatable {
  case tooLarge(bytes: Int)
  case notText(line: Int)
  case lineTooLong(line: Int)
  /// Neither a section, a comment, nor `key = value`.
  case malformed(line: Int)
}

/// An INI file: sections of `key = value` lines, comments behind `#` or `;`. Leading white space means nothing, and a
/// value ends with its line.
package struct INIDocument: Sendable, Equatable {
  package struct Section: Sendable, Equatable {
    package let name: String
    package let line: Int
  }

  package struct Entry: Sendable, Equatable {
    /// Empty before the first section.
    package let section: String
    package let key: String
    package let value: String
    package let line: Int
  }

  /// In the order of the file, as often as they stand there.
  package let sections: [Section]
  package let entries: [Entry]

  /// The last value of a key.
  package func value(_ section: String, _ key: String) -> String? {
    entries.last { $0.section == section && $0.key == key }?.value
  }

  /// Total: any bytes give a document or an error.
  package static func parse(_ bytes: [UInt8]) throws(INIError) -> INIDocument {
    guard bytes.count <= ArgumentsLimits.bytesOfFile else { throw .tooLarge(bytes: bytes.count) }
    let reader = try LineReader(bytes)
    let context = unsafe Unmanaged.passUnretained(reader).toOpaque()
    let result = withExtendedLifetime(reader) {
      unsafe ini_parse_stream(
        { buffer, size, stream in
          guard let buffer = unsafe buffer, let stream = unsafe stream else { return nil }
          let reader = unsafe Unmanaged<LineReader>.fromOpaque(stream).takeUnretainedValue()
          let target = unsafe UnsafeMutableBufferPointer(start: buffer, count: Int(max(0, size)))
          return unsafe reader.next(into: target) ? buffer : nil
        }, context,
        { user, section, key, value in
          guard let user = unsafe user else { return 0 }
          let reader = unsafe Unmanaged<LineReader>.fromOpaque(user).takeUnretainedValue()
          unsafe reader.add(section: text(section), key: text(key), value: text(value))
          return 1
        }, context)
    }
    if let error = reader.error { throw error }
    guard result == 0 else { throw .malformed(line: Int(clamping: result)) }
    return INIDocument(sections: reader.sections, entries: reader.entries)
  }
}

private func text(_ pointer: UnsafePointer<CChar>?) -> String {
  unsafe pointer.map { unsafe String(cString: $0) } ?? ""
}

/// Hands the parser one line a call, so that its count of calls is the line number.
private final class LineReader {
  private let lines: [[UInt8]]
  private var line = 0
  private(set) var error: INIError?
  private(set) var sections: [INIDocument.Section] = []
  private(set) var entries: [INIDocument.Entry] = []

  init(_ bytes: [UInt8]) throws(INIError) {
    let isMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
    var lines: [[UInt8]] = []
    for (index, line) in bytes.dropFirst(isMark ? 3 : 0).split(separator: 0x0A, omittingEmptySubsequences: false)
      .enumerated()
    {
      guard String(validating: line, as: UTF8.self) != nil, !line.contains(where: { $0 < 0x20 && $0 != 9 && $0 != 13 })
      else { throw .notText(line: index + 1) }
      // An indented line would continue the value before it, which surprises whoever indents sections.
      lines.append(Array(line.drop { $0 == 0x20 || $0 == 9 || $0 == 13 }))
    }
    self.lines = lines
  }

  /// False at the end, and at the first line that does not fit.
  func next(into buffer: UnsafeMutableBufferPointer<CChar>) -> Bool {
    guard error == nil, line < lines.count else { return false }
    let bytes = lines[line]
    line += 1
    let isSection = bytes.first == UInt8(ascii: "[")
    guard bytes.count + 2 <= buffer.count, !isSection || bytes.count <= ArgumentsLimits.bytesOfSection + 2 else {
      // A comment may be as long as it likes.
      if bytes.first == UInt8(ascii: "#") || bytes.first == UInt8(ascii: ";") { return unsafe put([], into: buffer) }
      error = .lineTooLong(line: line)
      return false
    }
    if isSection, let end = bytes.firstIndex(of: UInt8(ascii: "]")) {
      sections.append(.init(name: String(decoding: bytes[1..<end], as: UTF8.self), line: line))
    }
    return unsafe put(bytes, into: buffer)
  }

  private func put(_ bytes: [UInt8], into buffer: UnsafeMutableBufferPointer<CChar>) -> Bool {
    guard bytes.count + 2 <= buffer.count else { return false }
    for (index, byte) in (bytes + [0x0A, 0]).enumerated() { unsafe buffer[index] = CChar(bitPattern: byte) }
    return true
  }

  func add(section: String, key: String, value: String) {
    guard !key.isEmpty else {
      error = error ?? .malformed(line: line)
      return
    }
    entries.append(.init(section: section, key: key, value: value, line: line))
  }
}
