internal import Streams
package import Transports

/// Link identifiers, from one, for the transports of one test.
package final class LinkCounter: Sendable {
  private let number = Protected<UInt64>(0)

  package init() {}

  package func next() -> LinkID {
    LinkID(
      number: number.withLock { number in
        number += 1
        return number
      })
  }
}
