import Glibc

/// Standard output and standard error of a program, line by line.
package enum Output {
  /// A line of results. False when nobody reads them any more.
  @discardableResult package static func line(_ text: String) -> Bool { write(Array((text + "\n").utf8), to: 1) }

  /// Bytes of results that have their own line ends.
  @discardableResult package static func bytes(_ bytes: [UInt8]) -> Bool { write(bytes, to: 1) }

  /// A sentence for the user, beside the results.
  package static func note(_ text: String) { write(Array((text + "\n").utf8), to: 2) }

  /// Whether results go to a terminal that can place characters.
  package static func isTerminal(_ environment: [String: String]) -> Bool {
    environment["TERM"] != "dumb" && isatty(1) == 1
  }

  /// Whether results may be coloured: on a terminal, unless `NO_COLOR` is set to anything.
  package static func isColoured(_ environment: [String: String]) -> Bool {
    (environment["NO_COLOR"] ?? "").isEmpty && isTerminal(environment)
  }

  /// Writes all of it to a descriptor. False on an error.
  @discardableResult package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let size = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if size < 0, errno == EINTR { continue }
      guard size > 0 else { return false }
      rest = rest.dropFirst(size)
    }
    return true
  }
}
