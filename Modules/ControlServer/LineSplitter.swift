/// Cuts what comes from a socket into lines.
package struct LineSplitter {
  package enum Piece: Equatable {
    case line([UInt8])
    /// A line has grown past the limit: whoever sends it is not worth reading on.
    case tooLong
  }

  private let limit: Int
  private var buffer: [UInt8] = []
  /// Bytes at the start of the buffer that have been handed out.
  private var used = 0
  /// Bytes that are known to hold no line end.
  private var searched = 0

  package init(limit: Int) { self.limit = limit }

  package mutating func append(_ bytes: some Sequence<UInt8>) {
    if used > 0 {
      buffer.removeFirst(used)
      searched -= used
      used = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// The next whole line without its end; nil when there is none yet. Empty lines are skipped.
  package mutating func next() -> Piece? {
    while let end = buffer[searched...].firstIndex(of: 0x0A) {
      guard end - used < limit else { return .tooLong }
      let line = Array(buffer[used..<end])
      used = end + 1
      searched = used
      if !line.isEmpty { return .line(line) }
    }
    searched = buffer.count
    return buffer.count - used >= limit ? .tooLong : nil
  }
}
