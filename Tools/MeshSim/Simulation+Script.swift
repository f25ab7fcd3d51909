internal import Bytes
internal import Routing
internal import Streams
internal import TestKit
internal import WireFormat

/// What is planned before the start and what the scenario's script does.
extension Simulation {
  mutating func prepare() throws {
    for link in links.indices where !scenario.downAtStart.contains(link) {
      reserve(link)
      queue.add(.linkUp, at: 0, link)
    }
    for index in scenario.restarts.indices {
      queue.add(.script, at: scenario.restarts[index].at, scenario.switches.count + index)
    }
    for index in scenario.switches.indices { queue.add(.script, at: scenario.switches[index].at, index) }
    if let churn = scenario.churn {
      for node in nodes.indices {
        queue.add(.world, at: Numbers.exponential(mean: churn.meanStay, using: &worldRandom), node)
      }
    }
    if scenario.walk != nil {
      beginWalk()
      queue.add(.world, at: 0, -1)
    }
    if scenario.replacement != nil { queue.add(.world, at: scenario.warmUp, -2) }
    if scenario.hostility?.isActive == true {
      for node in scenario.hostileNodes { queue.add(.hostile, at: scenario.warmUp, node) }
    }
    try planMessages()
  }

  private mutating func planMessages() throws {
    var random = Scenario.generator(seed, 5)
    let rate = scenario.load.perThousandSeconds
    guard rate > 0 else { return }
    let gap = 1_000_000_000_000 / rate
    let honest = nodes.indices.filter { !nodes[$0].isHostile }
    // One round after the other; the last seconds stay free, so that what is said here is over.
    let round = (scenario.warmUp - scenario.warmUp / 8) / UInt64(max(1, scenario.load.introductions))
    for start in (0..<(scenario.warmUp > 0 ? scenario.load.introductions : 0)).map({ UInt64($0) * round }) {
      for node in honest {
        let at = start + UInt64.random(in: 0..<round, using: &random)
        let number = messages.count
        messages.append(try draft(number, from: node, at: at, byteCount: scenario.load.bodyBytes, isTracked: false))
        queue.add(.message, at: at, number)
      }
    }
    if let chat = scenario.load.chat { return try planChat(chat, among: honest, &random) }
    var start: UInt64 = 0
    while start < scenario.warmUp + scenario.measured {
      // Anywhere in its share of time, so that nothing keeps step with the connection events.
      let at = start + UInt64.random(in: 0..<gap, using: &random)
      start += gap
      let source = scenario.load.source ?? honest[Int.random(in: 0..<honest.count, using: &random)]
      let number = messages.count
      let isTracked = at >= scenario.warmUp
      messages.append(
        scenario.load.isPrivate
          ? try draftPersonal(number, from: source, to: other(than: source, of: honest, &random), at, isTracked)
          : try draft(number, from: source, at: at, byteCount: scenario.load.bodyBytes, isTracked: isTracked))
      queue.add(.message, at: at, number)
    }
  }

  /// The body begins with the number of the message, by which it is found again; the rest is its number over and over.
  /// The signature is 64 zeros: it costs its bytes, and nobody checks it.
  mutating func draft(
    _ number: Int, from source: Int, at: UInt64, byteCount: Int, isTracked: Bool, kind: PacketKind = .public
  ) throws -> Message {
    let body = body(number, byteCount)
    let draft = try PacketDraft(
      kind: kind, time: 1_767_225_600_000 + at / 1_000_000, origin: Self.tag(source), body: body)
    let packet = draft.signed { _ in [UInt8](repeating: 0, count: WireLimits.signatureByteCount) }
    return Message(
      source: source, at: at, packet: packet, id: try identifier.id(of: packet),
      row: isTracked ? deliveries.addRow() : -1, isMeasured: isTracked)
  }

  func body(_ number: Int, _ byteCount: Int) -> [UInt8] {
    var body: [UInt8] = []
    body.reserveCapacity(byteCount)
    body.append(bigEndian: UInt32(truncatingIfNeeded: number))
    while body.count < byteCount { body.append(UInt8(truncatingIfNeeded: number)) }
    return body
  }

  mutating func say(_ number: Int) {
    let source = messages[number].source
    guard nodes[source].isPresent else {
      messages[number].isMeasured = false
      return
    }
    nodes[source].rules.originate(messages[number].packet, id: messages[number].id, now: time, into: &actions)
    perform(source)
  }

  /// A node that comes and goes, or, for −1, all that walk.
  mutating func world(_ node: Int) {
    guard node != -2 else {
      replaceLinks()
      queue.add(.world, at: now + 1_000_000_000, -2)
      return
    }
    guard node >= 0 else {
      walkOneSecond()
      queue.add(.world, at: now + 1_000_000_000, -1)
      return
    }
    guard let churn = scenario.churn else { return }
    let mean: UInt64
    if nodes[node].isPresent {
      leave(node)
      mean = churn.meanAbsence
    } else {
      arrive(node)
      mean = churn.meanStay
    }
    queue.add(.world, at: now + Numbers.exponential(mean: mean, using: &worldRandom), node)
  }

  mutating func script(_ index: Int) {
    guard index < scenario.switches.count else {
      let restart = scenario.restarts[index - scenario.switches.count]
      self.restart(restart.node, keepsMemory: restart.keepsMemory)
      return
    }
    let step = scenario.switches[index]
    for edge in step.edges {
      if step.isUp {
        guard !links[edge].isUp, !links[edge].isComing else { continue }
        reserve(edge)
        comeUp(edge)
      } else {
        takeDown(edge)
      }
    }
  }
}
