internal import Bytes

/// What is looked for: every word has to stand in the text, as a part of it, whatever the case of its letters.
///
/// Letters are compared in normalisation form C and by Unicode's default mapping of upper case to lower case, and ß is
/// ss: an é is one whether it was written as one scalar or as two. An e is not an é.
package struct SearchWords: Sendable, Equatable {
  private let words: [[UInt8]]

  /// - Parameter text: words between spaces. Nil when there is none, or more than `ArchiveLimits` allows.
  package init?(_ text: String) {
    guard text.utf8.count <= ArchiveLimits.searchBytes else { return nil }
    words = text.split(whereSeparator: \.isWhitespace).map { word in
      var folded: [UInt8] = []
      Self.fold(String(word), into: &folded)
      return folded
    }
    guard !words.isEmpty, words.count <= ArchiveLimits.searchWords else { return nil }
  }

  /// - Parameter lowered: room that is used again.
  func match(_ bytes: [UInt8], _ range: Range<Int>, _ lowered: inout [UInt8]) -> Bool {
    lowered.removeAll(keepingCapacity: true)
    var union: UInt8 = 0
    let span = bytes.span.extracting(range)
    for index in span.indices {
      let byte = span[index]
      union |= byte
      lowered.append(byte &- 0x41 < 26 ? byte | 0x20 : byte)
    }
    if union & 0x80 != 0 {
      guard let text = String(validating: bytes[range], as: UTF8.self) else { return false }
      lowered.removeAll(keepingCapacity: true)
      Self.fold(text, into: &lowered)
    }
    let text = lowered.span
    return words.allSatisfy { Self.stands($0.span, in: text) }
  }

  private static func fold(_ text: String, into folded: inout [UInt8]) {
    for byte in text.lowercased()._nfcCodeUnits {
      switch (folded.last, byte) {
      // ß is ss, and a σ at the end of a word is one within it.
      case (0xC3, 0x9F):
        folded.removeLast()
        folded.append(contentsOf: [0x73, 0x73])
      case (0xCF, 0x82): folded.append(0x83)
      default: folded.append(byte)
      }
    }
  }

  private static func stands(_ word: Span<UInt8>, in text: Span<UInt8>) -> Bool {
    guard word.count <= text.count else { return false }
    let first = word[0]
    var start = 0
    let last = text.count - word.count
    while start <= last {
      if text[start] == first {
        var length = 1
        while length < word.count, text[start + length] == word[length] { length += 1 }
        if length == word.count { return true }
      }
      start += 1
    }
    return false
  }
}
