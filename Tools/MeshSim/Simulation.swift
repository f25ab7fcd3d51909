internal import Links
internal import Primitives
internal import Routing
internal import Streams
internal import TestKit
internal import WireFormat

/// One run of a scenario: nodes with their rules, links with the shipped transfer, the radio, and virtual time.
///
/// Everything is decided by the scenario and the seed. Nothing reads a clock, and no set or dictionary is walked in its own order.
package struct Simulation<Rules: NodeRules>: ~Copyable {
  struct Node {
    let seed: NodeSeed
    var rules: Rules
    var reassembly = Reassembly()
    /// The link end in each slot, −1 for none.
    var slots: [Int32] = []
    var rulesDueAt = UInt64.max
    var reassemblyDueAt = UInt64.max
    var linkCount = 0
    var isPresent = true
    var presentSince: UInt64 = 0
    var absentSince = UInt64.max
    var isHostile = false
    /// What a hostile node keeps of what it hears.
    var heard: [(packet: [UInt8], key: UInt64)] = []
  }

  /// One side of a link: what the link layer of that node holds for the neighbour.
  struct End {
    var transfer: LinkTransfer
    var budget: LinkBudget
    /// What the transport had no room for.
    var refused: [UInt8]?
    var dueAt = UInt64.max
    var slot = -1
    var node: Int
  }

  struct Radio {
    var busyUntil: UInt64 = 0
    /// How long it was busy.
    var time: UInt64 = 0
  }

  struct Link {
    var central: Int
    var peripheral: Int
    var clock: LinkClock
    var isUp = false
    var isComing = false
    /// Counts the times it came up: what was in the air when it broke is lost.
    var epoch: UInt32 = 0
    var eventAt = UInt64.max
    var busyUntil: UInt64 = 0
    /// Of bursts of loss: when the next one begins and ends.
    var burst: (from: UInt64, to: UInt64) = (0, 0)
    /// Its present stay, among the windows.
    var window = 0
  }

  package let scenario: Scenario
  let seed: UInt64
  var queue = EventQueue()
  var log: EventLog
  var nodes: [Node] = []
  var links: [Link] = []
  var ends: [End] = []
  /// Of each node and of each link end what every connection event looks at, apart from all else so that it stays in the
  /// caches of the processor.
  var radios: [Radio] = []
  var queues: [FrameQueue] = []
  /// The link of a pair of nodes, by (lower << 32 | higher).
  var pairs: [UInt64: Int] = [:]
  var frames = FramePool()
  var messages: [Message] = []
  var tally = Tally()
  var deliveries: Deliveries
  /// When which link was up: what the oracle needs.
  var windows: [LinkWindow] = []
  var actions = RuleActions()
  var identifier: PacketIdentifier
  var radioRandom: SeededGenerator
  var worldRandom: SeededGenerator
  var hostileRandom: SeededGenerator
  var walkers: [Walker] = []
  var now: UInt64 = 0

  /// - Parameter sink: gets the bytes of the event log.
  package static func make(
    _ scenario: Scenario, seed: UInt64, sink: (@Sendable ([UInt8]) -> Void)? = nil
  ) throws -> Simulation {
    let identifier = try PacketIdentifier()
    var simulation = Simulation(scenario, seed: seed, sink: sink, identifier: identifier)
    try simulation.prepare()
    return simulation
  }

  private init(
    _ scenario: Scenario, seed: UInt64, sink: (@Sendable ([UInt8]) -> Void)?, identifier: consuming PacketIdentifier
  ) {
    self.scenario = scenario
    self.seed = seed
    log = EventLog(sink: sink)
    self.identifier = identifier
    radioRandom = Scenario.generator(seed, 1)
    worldRandom = Scenario.generator(seed, 2)
    hostileRandom = Scenario.generator(seed, 3)
    deliveries = Deliveries(nodes: scenario.topology.nodeCount)
    var keys = Scenario.generator(seed, 4)
    nodes.reserveCapacity(scenario.topology.nodeCount)
    for node in 0..<scenario.topology.nodeCount {
      let seed = NodeSeed(
        entry: Self.entry(node), tag: Self.tag(node), key: (keys.next(), keys.next()),
        usesTrees: !scenario.isWithoutTrees(node), isNamedInRoutes: scenario.isNamedInRoutes)
      nodes.append(Node(seed: seed, rules: Rules(seed)))
      if !scenario.restarts.isEmpty { nodes[node].rules.keepMemory() }
    }
    radios = Array(repeating: Radio(), count: nodes.count)
    for node in scenario.hostileNodes { nodes[node].isHostile = true }
    for edge in scenario.topology.edges { _ = link(edge.central, edge.peripheral) }
  }

  static func entry(_ node: Int) -> UInt32 { UInt32(truncatingIfNeeded: node &+ 1) &* 0x9E37_79B1 }
  static func tag(_ node: Int) -> Tag { Tag(rawValue: UInt64(node) &+ 1) }

  /// The virtual time of day: it begins on 1 January 2026.
  var wallMilliseconds: UInt64 { Scenario.wallMilliseconds(now) }
  var time: MonotonicTime { MonotonicTime(nanoseconds: now) }

  /// Runs to the end.
  ///
  /// - Parameter progress: called about every 65,536 events with the share of virtual time that is over.
  package mutating func run(progress: (Double) -> Void = { _ in }) {
    let end = scenario.end
    while let event = queue.popFirst(), event.time <= end {
      now = event.time
      handle(event)
      if log.count & 0xffff == 0 { progress(Double(now) / Double(end)) }
    }
    now = end
    for index in windows.indices where windows[index].to > end { windows[index].to = end }
    log.flush()
  }

  @inline(__always)
  private mutating func handle(_ event: Event) {
    let (a, b) = (Int(event.a), Int(event.b))
    // An arrival notes itself, with what has arrived.
    if event.kind != .arrival { log.note(now, event.kind, event.a, event.kind == .linkDown ? UInt64(b) : 0) }
    switch event.kind {
    case .anchor: anchor(a)
    case .arrival: arrived(a, b)
    case .transferDue: transferDue(a)
    case .rulesDue: rulesDue(a)
    case .reassemblyDue: reassemblyDue(a)
    case .message: say(a)
    case .linkUp: comeUp(a)
    case .linkDown: breakDown(a, epoch: UInt32(truncatingIfNeeded: b))
    case .world: world(a)
    case .script: script(a)
    case .hostile: hostile(a)
    case .answered: answered(a)
    }
  }
}
