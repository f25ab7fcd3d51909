/// What a peer says about itself. Unknown bits are kept, because they are signed.
package struct Capabilities: OptionSet, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// A program answers here, not a person.
  package static let bot = Capabilities(rawValue: 1 << 0)
  /// Mains powered and meant to stay: a good neighbour to keep a link to.
  package static let alwaysOn = Capabilities(rawValue: 1 << 1)
}
