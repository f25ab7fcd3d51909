package import Transports

/// What a transport brings to be checked: nodes that meet in one medium, made anew for every clause.
package protocol TransportHarness: Sendable {
  /// A transport that is not running yet; it hears every other one of this harness. Link numbers are unique in it.
  func makeTransport(_ name: String) throws -> any Transport

  /// Where the others reach the node of this name.
  func address(of name: String) -> TransportAddress

  /// An address in the transport's own form at which nobody is.
  var addressOfNobody: TransportAddress { get }

  /// Sets the largest frame between two nodes, in bytes, from 64 to 400.
  func setFrameSize(_ byteCount: Int, between one: String, _ other: String) throws

  /// Moves two nodes out of each other's reach, or back. All are in reach at first.
  func setReach(_ one: String, _ other: String, _ isInReach: Bool) throws

  /// Switches the radio of a node; false when this transport has no switch.
  func setPower(_ name: String, _ isOn: Bool) -> Bool

  /// Whether two nodes that dial each other get two links; a radio holds one for each pair.
  var canHoldTwoLinks: Bool { get }

  /// Whether a sender whose peer does not read is told `.full` in the end.
  var canFill: Bool { get }

  /// Returns when what the node of this name has left behind is gone: a system's service may take its time to hang up for a
  /// program that has ended, and cut what was made over the same connection meanwhile.
  func awaitDeparture(of name: String) async throws

  /// Returns when a clause has taken too long.
  func expire() async throws
}

extension TransportHarness {
  package var canHoldTwoLinks: Bool { true }

  package func awaitDeparture(of name: String) async throws {}
}

/// The contract of `Transport` and `TransportLink`, clause by clause.
///
/// A suite runs each clause as an argument of one test, so that a report names the clause that failed:
///
///     @Test(arguments: TransportContract.clauses)
///     func keepsTheContract(_ clause: TransportContract.Clause) async throws { try await clause.check(MyHarness()) }
package enum TransportContract {
  package struct Clause: Sendable, CustomStringConvertible {
    package let name: String
    package let check: @Sendable (any TransportHarness) async throws -> Void

    package var description: String { name }
  }

  /// A clause that was not kept, in words.
  package struct Broken: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
  }

  package static let clauses: [Clause] = stateClauses + dialClauses + frameClauses + endClauses

  static func require(_ claim: Bool, _ words: @autoclosure () -> String) throws {
    if !claim { throw Broken(words()) }
  }
}
