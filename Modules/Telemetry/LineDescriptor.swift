import Glibc

/// Writes whole lines to a descriptor that it does not own, one `write(2)` each, so that lines of several threads and
/// processes never mix. A line that the descriptor does not take at once is lost.
struct LineDescriptor: Sendable {
  let descriptor: Int32

  func write(_ line: String) {
    var line = line
    line.append("\n")
    line.withUTF8 { bytes in
      guard let start = bytes.baseAddress else { return }
      var result = 0
      repeat { result = unsafe Glibc.write(descriptor, start, bytes.count) } while result < 0 && errno == EINTR
    }
  }
}
