internal import Routing
internal import Streams
internal import WireFormat

/// The rules a mesh can be run with.
package enum RuleSet: String, Sendable, CaseIterable {
  /// The shipped relay.
  case trees
  /// The shipped relay with its trees switched off.
  case first
  case flood
  case ttl7
  case bitchatIOS = "bitchat-ios"
  case plumtree
  /// What no rules can beat.
  case oracle

  package var summary: String {
    switch self {
    case .trees: "the shipped relay"
    case .first: "the shipped relay, its trees switched off: everything new to every link"
    case .flood: "everything new to every other link, without end"
    case .ttl7: "the same, over at most seven links"
    case .bitchatIOS: "bitchat for iOS 9b84b36: seven hops clamped, subset, jitter, cancel, sync every 15 s"
    case .plumtree: "one shared tree, keys over the other links, graft and prune"
    case .oracle: "earliest possible arrival, no queueing, no loss"
    }
  }

  /// Runs a scenario to its end.
  ///
  /// - Parameter sink: gets the bytes of the event log.
  package func run(
    _ scenario: Scenario, seed: UInt64, sink: (@Sendable ([UInt8]) -> Void)? = nil,
    progress: (Double) -> Void = { _ in }
  ) throws -> Report {
    switch self {
    case .trees: return try run(RelayEngine.self, scenario, seed, sink, progress)
    case .first:
      var without = scenario
      without.percentWithoutTrees = 100
      return try run(RelayEngine.self, without, seed, sink, progress)
    case .flood: return try run(FloodRules.self, scenario, seed, sink, progress)
    case .ttl7: return try run(SevenHopRules.self, scenario, seed, sink, progress)
    case .bitchatIOS: return try run(BitchatRules.self, scenario, seed, sink, progress)
    case .plumtree: return try run(PlumtreeRules.self, scenario, seed, sink, progress)
    case .oracle:
      var report = try run(SilentRules.self, scenario, seed, sink, progress)
      report.latency = report.oracle
      report.delivered = report.pairs
      return report
    }
  }

  private func run<Rules: NodeRules>(
    _ type: Rules.Type, _ scenario: Scenario, _ seed: UInt64, _ sink: (@Sendable ([UInt8]) -> Void)?,
    _ progress: (Double) -> Void
  ) throws -> Report {
    var simulation = try Simulation<Rules>.make(scenario, seed: seed, sink: sink)
    simulation.run(progress: progress)
    return simulation.report(rules: rawValue)
  }
}

/// Says nothing: only the links come and go, which is all the oracle looks at.
struct SilentRules: NodeRules {
  init(_ seed: NodeSeed) {}
  mutating func neighbourUp(
    _ slot: Int, entry: UInt32, tag: Tag, isCentral: Bool, now: MonotonicTime, into actions: inout RuleActions
  ) {}
  mutating func neighbourDown(_ slot: Int, now: MonotonicTime, into actions: inout RuleActions) {}
  mutating func receive(_ received: ReceivedPacket, wallMilliseconds: UInt64, into actions: inout RuleActions) {}
  mutating func originate(_ packet: Packet, id: PacketID, now: MonotonicTime, into actions: inout RuleActions) {}
}
