package import Streams
package import Transports

/// The air of a mesh inside one process: who hears whom, and what happens to frames on the way.
///
/// Everything random comes from one seed and every wait from the time source it is made with, so a run under a manual
/// clock repeats itself exactly. Everything can be changed while nodes run.
package final class MemoryMedium: Sendable {
  struct Pair: Hashable, Sendable {
    let low: String
    let high: String

    init(_ one: String, _ other: String) {
      (low, high) = one < other ? (one, other) : (other, one)
    }
  }

  struct State: Sendable {
    var random: UInt64
    var nodes: [String: MemoryRadio] = [:]
    var reach: Set<Pair> = []
    var conditions = MemoryConditions()
    var conditionsOfPair: [Pair: MemoryConditions] = [:]
    var framesSent: UInt64 = 0
    var framesLost: UInt64 = 0

    /// SplitMix64.
    mutating func fraction() -> Double {
      random &+= 0x9E37_79B9_7F4A_7C15
      var mixed = random
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return Double((mixed ^ (mixed >> 31)) >> 11) / Double(1 << 53)
    }
  }

  let state: Protected<State>
  let time: TimeSource
  /// Awaited in every dial after it is under way and before its link exists; lets a test hold dials in flight.
  package let dialGate: @Sendable (_ from: String, _ to: String) async -> Void
  /// Hears every frame that is sent, lost or not.
  let tap: @Sendable ([UInt8]) -> Void

  package init(
    time: TimeSource, seed: UInt64, dialGate: @escaping @Sendable (String, String) async -> Void = { _, _ in },
    tap: @escaping @Sendable ([UInt8]) -> Void = { _ in }
  ) {
    self.time = time
    self.dialGate = dialGate
    self.tap = tap
    state = Protected(State(random: seed))
  }

  /// A transport for a node of this name; names are unique on a medium.
  package func makeTransport(
    name: String, linkLimit: Int = 16, nextLinkID: @escaping @Sendable () -> LinkID
  ) -> MemoryRadio {
    let transport = MemoryRadio(name: name, linkLimit: linkLimit, medium: self, nextLinkID: nextLinkID)
    state.withLock { $0.nodes[name] = transport }
    return transport
  }

  /// Takes a node off the air for good, so that another of its name can come.
  package func remove(_ name: String) { state.withLock { $0.nodes[name] = nil } }

  /// Whether two nodes hear each other. Losing it breaks their links.
  package func setReach(_ one: String, _ other: String, _ isInReach: Bool) {
    let pair = Pair(one, other)
    let nodes = state.withLock { state -> [MemoryRadio] in
      if isInReach { state.reach.insert(pair) } else { state.reach.remove(pair) }
      return [one, other].compactMap { state.nodes[$0] }
    }
    if isInReach { nodes.forEach { $0.lookAround() } } else { breakLinks(one, other) }
  }

  /// Ends every link between two nodes, as when the radio loses them; they may dial again.
  package func breakLinks(_ one: String, _ other: String) {
    let node = state.withLock { $0.nodes[one] }
    node?.closeLinks(to: other, end: .lost)
  }

  /// The conditions everywhere but where a pair has its own.
  package func setConditions(_ conditions: MemoryConditions) {
    let nodes = state.withLock { state in
      state.conditions = conditions
      return Array(state.nodes.values)
    }
    nodes.forEach { $0.conditionsChanged() }
  }

  package func setConditions(_ conditions: MemoryConditions, between one: String, _ other: String) {
    let nodes = state.withLock { state in
      state.conditionsOfPair[Pair(one, other)] = conditions
      return [one, other].compactMap { state.nodes[$0] }
    }
    nodes.forEach { $0.conditionsChanged() }
  }

  /// Frames handed to links, and those the air lost, since the start.
  package var frameCounts: (sent: UInt64, lost: UInt64) { state.withLock { ($0.framesSent, $0.framesLost) } }

  func node(_ name: String) -> MemoryRadio? { state.withLock { $0.nodes[name] } }

  func isInReach(_ one: String, _ other: String) -> Bool { state.withLock { $0.reach.contains(Pair(one, other)) } }

  func neighbours(of name: String) -> [MemoryRadio] {
    state.withLock { state in
      state.reach.filter { $0.low == name || $0.high == name }
        .map { $0.low == name ? $0.high : $0.low }.sorted()
        .compactMap { state.nodes[$0] }
    }
  }

  func conditions(between one: String, _ other: String) -> MemoryConditions {
    state.withLock { $0.conditionsOfPair[Pair(one, other)] ?? $0.conditions }
  }

  /// What the air does to one frame: nil when it is lost, else how long it takes.
  func fate(between one: String, _ other: String) -> Duration? {
    state.withLock { state in
      let conditions = state.conditionsOfPair[Pair(one, other)] ?? state.conditions
      state.framesSent += 1
      if conditions.loss > 0, state.fraction() < conditions.loss {
        state.framesLost += 1
        return nil
      }
      return conditions.jitter == .zero ? conditions.delay : conditions.delay + conditions.jitter * state.fraction()
    }
  }
}
