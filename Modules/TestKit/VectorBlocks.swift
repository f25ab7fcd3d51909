internal import Bytes
package import FoundationEssentials

/// A file of `KEY = value` lines: a case begins where a key comes again, and `[…]` lines begin a section.
package struct VectorBlocks {
  package struct Case {
    /// The text between the last brackets, and the pairs of the section.
    package var section: [String: String] = [:]
    package var sectionName = ""
    package var values: [String: String] = [:]
    /// A line `FAIL`: the result must be an error.
    package var mustFail = false

    /// A value in hexadecimal digits; no value is no bytes.
    package func bytes(_ key: String) throws -> [UInt8] {
      guard let bytes = Hex.decode(values[key] ?? "") else { throw Malformed(key: key) }
      return bytes
    }

    /// A value in hexadecimal digits or, in quotes, as it is.
    package func text(_ key: String) -> [UInt8] { Array((values[key] ?? "").utf8) }

    package func number(_ key: String) throws -> Int {
      guard let number = Int(values[key] ?? "") else { throw Malformed(key: key) }
      return number
    }
  }

  package struct Malformed: Error { let key: String }

  package var cases: [Case] = []

  /// `first` is the key that begins a case.
  package init(_ data: Data, first: String) {
    var current: Case?
    var section: [String: String] = [:]
    var sectionName = ""
    var wasHeading = false
    for raw in String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline) {
      let line = String(raw).trimmed
      if line.isEmpty || line.hasPrefix("#") { continue }
      if line.hasPrefix("["), line.hasSuffix("]") {
        if !wasHeading { (section, sectionName) = ([:], "") }
        wasHeading = true
        let text = String(line.dropFirst().dropLast())
        sectionName = text
        let pair = text.split(separator: "=", maxSplits: 1).map { String($0).trimmed }
        if pair.count == 2 { section[pair[0]] = pair[1] }
        continue
      }
      wasHeading = false
      if line == "FAIL" {
        current?.mustFail = true
        continue
      }
      let separator = line.firstIndex { $0 == "=" || $0 == ":" } ?? line.endIndex
      let key = String(line[..<separator]).trimmed
      if key == first {
        if let current { cases.append(current) }
        current = Case(section: section, sectionName: sectionName)
      }
      guard separator < line.endIndex else { continue }
      current?.values[key] = String(line[line.index(after: separator)...]).trimmed
    }
    if let current { cases.append(current) }
  }
}

extension String {
  fileprivate var trimmed: String {
    String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }
}
