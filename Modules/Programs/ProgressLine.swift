import Glibc

/// A bar on standard error that takes the place of the one before: on a terminal only, so that logs and scripts see nothing.
package struct ProgressLine: Sendable {
  package static let width = 30
  private let isShown: Bool

  package init(environment: [String: String]) {
    isShown = environment["TERM"] != "dumb" && isatty(2) == 1
  }

  /// Whether anybody sees it.
  package var isVisible: Bool { isShown }

  package func show(_ what: String, done: Int, total: Int) {
    guard isShown else { return }
    Output.write(Array("\r\(Self.text(what, done: done, total: total))\u{1b}[K".utf8), to: 2)
  }

  /// Makes the line empty again.
  package func end() { if isShown { Output.write(Array("\r\u{1b}[K".utf8), to: 2) } }

  /// For instance `comparing ███████████████░░░░░░░░░░░░░░░ 20/40`.
  package static func text(_ what: String, done: Int, total: Int) -> String {
    let whole = max(1, total)
    let part = min(max(0, done), whole)
    let filled = Int(Double(part) / Double(whole) * Double(width))
    return "\(what) " + String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
      + " \(part)/\(max(0, total))"
  }
}
