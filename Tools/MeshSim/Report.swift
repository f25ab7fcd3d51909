internal import Routing

/// What a run has come to. Times in milliseconds, sizes in bytes.
package struct Report: Sendable {
  package var scenario = ""
  package var rules = ""
  package var seed: UInt64 = 0
  package var nodes = 0
  package var links = 0
  package var messages = 0
  /// Pairs of a message and a node that was to get it, and those that did.
  package var pairs = 0
  package var delivered = 0
  package var latency = Distribution()
  /// The latency over that of the oracle.
  package var stretch = Distribution()
  /// The oracle's own latency.
  package var oracle = Distribution()
  /// Seconds after the parts were joined until the last delivery.
  package var afterJoin = 0.0
  /// Payload sends over links for each node that a measured message reached.
  package var sendsPerDelivery = 0.0
  /// Bytes in the air for each delivery of any message, by what they are for.
  package var payloadBytes = 0.0
  package var acknowledgmentBytes = 0.0
  package var controlBytes = 0.0
  /// Duplicates that came for each delivery.
  package var redundancy = 0.0
  /// Radio time of a node for each message said: the mean node and the busiest.
  package var radioMean = 0.0
  package var radioMost = 0.0
  package var shownAgain = 0
  package var queueFull = 0
  package var overBudget = 0
  package var missedEvents = 0
  /// What the relays counted of their own, by reason.
  package var relayCounts: [(reason: String, number: UInt64)] = []
  package var lostFrames = 0
  package var givenUp = 0
  /// Of the messages for one node; nil when there are none.
  package var personal: Personal?
  package var events: UInt64 = 0
  package var virtualSeconds = 0.0
  package var logHash: UInt64 = 0
  /// Deliveries by latency, for a picture.
  package var latencies: [Int] = []
  package var picture = Picture()

  /// The mesh, and how the first measured message went through it.
  package struct Picture: Sendable {
    package var points: [Topology.Point] = []
    package var edges: [Topology.Edge] = []
    package var source = 0
    /// Milliseconds; nil where it did not come.
    package var arrivals: [Double?] = []
  }

  package struct Personal: Sendable {
    package var messages = 0
    /// Those whose destination could be reached, and was.
    package var pairs = 0
    package var delivered = 0
    package var latency = Distribution()
    /// Until the first receipt is back.
    package var answer = Distribution()
    package var answered = 0
    /// Times a message, and all receipts for it, went over a link.
    package var sends = 0.0
    package var receiptSends = 0.0
    /// The same of those that arrived without anything having gone wrong: by one lane.
    package var calmSends = 0.0
    package var calmShare = 0.0
    /// Links of the shortest way; 0 where links come and go.
    package var shortest = 0.0
    /// The same of those that arrived by one lane.
    package var calmShortest = 0.0
  }

  package var ratio: Double { pairs == 0 ? 1 : Double(delivered) / Double(pairs) }

  package struct Distribution: Sendable, Equatable {
    package var p50 = 0.0
    package var p90 = 0.0
    package var p99 = 0.0
    package var most = 0.0

    package init() {}

    /// - Parameter scale: how many of the values make one of the unit.
    init(_ sorted: [Int], scale: Double) {
      guard let last = sorted.last else { return }
      func at(_ percent: Int) -> Double { Double(sorted[min(sorted.count - 1, sorted.count * percent / 100)]) / scale }
      (p50, p90, p99, most) = (at(50), at(90), at(99), Double(last) / scale)
    }
  }
}

extension Simulation {
  /// The numbers of a run that is over.
  ///
  /// - Parameter oracleMessages: of so many measured messages at most the oracle is asked.
  package func report(rules: String, oracleMessages: Int = 200) -> Report {
    var report = Report()
    report.scenario = scenario.name
    report.rules = rules
    report.seed = seed
    report.nodes = nodes.count
    report.links = links.count
    let measured = messages.indices.filter { messages[$0].isMeasured }
    report.messages = measured.count
    // Where not everybody can be reached, each message is held against what was possible.
    let isChanging =
      scenario.churn != nil || scenario.walk != nil || scenario.hostility != nil || !scenario.switches.isEmpty
    let step = isChanging ? 1 : max(1, measured.count / max(1, oracleMessages))
    let oracle = oracle
    var (latencies, stretches, best): ([Int], [Int], [Int]) = ([], [], [])
    var (sends, reached) = (0, 0)
    for (place, number) in measured.enumerated() {
      let message = messages[number]
      sends += message.sends
      reached += message.reached
      let isAsked = place % step == 0
      let arrivals =
        isAsked ? oracle.arrivals(from: message.source, at: message.at, exchange: exchange(of: message)) : []
      for node in nodes.indices where node != message.source && isExpected(message, at: node) {
        let latency = deliveries.latency(row: message.row, node: node)
        let earliest = isAsked ? arrivals[node] : 0
        guard earliest <= scenario.end else { continue }
        report.pairs += 1
        if isAsked, earliest < .max { best.append(Int((earliest - message.at) / 1_000)) }
        guard let latency else { continue }
        report.delivered += 1
        latencies.append(latency)
        if let joinsAt = scenario.joinsAt {
          report.afterJoin = max(
            report.afterJoin, Double(message.at) / 1e9 + Double(latency) / 1e6 - Double(joinsAt) / 1e9)
        }
        if isAsked, earliest > message.at {
          stretches.append(latency * 1_000 / max(1, Int((earliest - message.at) / 1_000)))
        }
      }
    }
    latencies.sort()
    stretches.sort()
    best.sort()
    report.latency = Report.Distribution(latencies, scale: 1_000)
    report.stretch = Report.Distribution(stretches, scale: 1_000)
    report.oracle = Report.Distribution(best, scale: 1_000)
    report.sendsPerDelivery = Double(sends) / Double(max(1, reached))
    report.latencies = latencies
    report.picture = picture(of: measured.first)
    report.personal = personal(among: measured, oracle)
    countAll(&report)
    return report
  }

  private func picture(of number: Int?) -> Report.Picture {
    var picture = Report.Picture()
    picture.points = walkers.isEmpty ? scenario.topology.points : walkers.map(\.place)
    picture.edges = links.map { Topology.Edge(central: $0.central, peripheral: $0.peripheral) }
    picture.arrivals = [Double?](repeating: nil, count: nodes.count)
    guard let number else { return picture }
    picture.source = messages[number].source
    for node in nodes.indices {
      picture.arrivals[node] = deliveries.latency(row: messages[number].row, node: node).map { Double($0) / 1_000 }
    }
    picture.arrivals[picture.source] = 0
    return picture
  }

  private func isExpected(_ message: Message, at node: Int) -> Bool {
    if nodes[node].isHostile { return false }
    if let destination = message.destination, destination != node { return false }
    return scenario.churn == nil || wasThere(node, at: message.at)
  }

  private func countAll(_ report: inout Report) {
    let said = messages.count
    let all = max(1, said * (nodes.count - 1))
    report.payloadBytes = Double(tally.payloadBytes) / Double(all)
    report.acknowledgmentBytes = Double(tally.acknowledgmentBytes) / Double(all)
    report.controlBytes = Double(tally.controlBytes) / Double(all)
    report.redundancy = Double(tally.duplicates + tally.repetitions) / Double(all)
    let times = radios.map { Double($0.time) / 1_000_000 / Double(max(1, said)) }
    report.radioMean = times.reduce(0, +) / Double(max(1, times.count))
    report.radioMost = times.max() ?? 0
    report.shownAgain = tally.shownAgain
    report.queueFull = tally.queueFull
    report.overBudget = tally.overBudget
    report.missedEvents = tally.missedEvents
    report.relayCounts = zip(RelayCount.allCases, tally.counts).filter { $0.1 > 0 }.map { ($0.0.rawValue, $0.1) }
    report.lostFrames = tally.lostFrames
    report.givenUp = tally.givenUp
    report.events = log.count
    report.virtualSeconds = Double(scenario.end) / 1e9
    report.logHash = log.hash
  }
}
