internal import Bytes
internal import Links
internal import Routing
internal import Streams
internal import WireFormat

/// What a node does with what comes to it.
extension Simulation {
  mutating func arrived(_ place: Int, _ end: Int) {
    let frame = frames.take(place)
    let link = end >> 1
    log.note(
      now, .arrival, Int32(truncatingIfNeeded: end),
      frame.content.rawSpan.number(UInt64.self, at: 0) &+ UInt64(frame.content.count) << 48)
    guard links[link].isUp, links[link].epoch == frame.epoch else { return }
    guard ends[end].budget.pay(byteCount: frame.content.count + AirModel.sealByteCount, now: time) else {
      tally.overBudget += 1
      return
    }
    guard let decoded = try? LinkFrame(decoding: frame.content.rawSpan) else {
      tally.refusedFrames += 1
      return
    }
    let (node, slot) = (ends[end].node, ends[end].slot)
    switch decoded {
    case .packet:
      guard let packet = try? Packet(decoding: Array(frame.content[LinkFrame.packetOffset...])),
        let id = identify(packet)
      else {
        tally.refusedFrames += 1
        return
      }
      take(packet, id: id, at: end)
    case .fragment(let head): fragment(head, frame.content, at: end)
    case .acknowledgment(let keys):
      let news = ends[end].transfer.acknowledge(keys, now: time)
      if !news.isEmpty {
        nodes[node].rules.acknowledged(slot, keys: news, now: time, into: &actions)
        perform(node)
      }
      flush(end)
    case .fragmentRequest(let key, let ranges):
      ends[end].transfer.request(key, ranges: ranges.map { $0.first..<$0.end }, now: time)
      flush(end)
    case .prune, .announcement, .graft, .reopen, .reconciliation, .widen, .ignored:
      nodes[node].rules.control(frame.content, from: slot, now: time, into: &actions)
      perform(node)
    case .ping, .pong, .goodbye: break
    }
  }

  private mutating func fragment(_ head: FragmentHead, _ content: [UInt8], at end: Int) {
    if ends[end].transfer.isRepetition(head.key, now: time) {
      flush(end)
      return
    }
    let node = ends[end].node
    let result = nodes[node].reassembly.receive(
      head, data: content.rawSpan.extracting(LinkFrame.dataOffset..<content.count), link: UInt64(ends[end].slot),
      now: now / 1_000_000, identifier: &identifier)
    switch result.outcome {
    case .completed(let packet, let id): take(packet, id: id, at: end)
    case .kept: armReassembly(node)
    case .refused, .duplicate, .late, .dropped: break
    }
  }

  private mutating func armReassembly(_ node: Int) {
    guard nodes[node].reassemblyDueAt == .max, let due = nodes[node].reassembly.nextDeadline else { return }
    nodes[node].reassemblyDueAt = max(due * 1_000_000, now)
    queue.add(.reassemblyDue, at: nodes[node].reassemblyDueAt, node)
  }

  mutating func reassemblyDue(_ node: Int) {
    nodes[node].reassemblyDueAt = .max
    let limit = max(1, (scenario.air.attPayload - AirModel.sealByteCount - 9) / 4)
    let requests = nodes[node].reassembly.missing(now: now / 1_000_000, rangeLimit: limit)
    for request in requests {
      let slot = Int(request.link)
      guard slot < nodes[node].slots.count, nodes[node].slots[slot] >= 0 else { continue }
      let end = Int(nodes[node].slots[slot])
      ends[end].transfer.enqueue(
        content: LinkFrame.fragmentRequest(key: request.key, ranges: request.ranges).encoded)
      flush(end)
    }
    _ = nodes[node].reassembly.expire(now: now / 1_000_000)
    armReassembly(node)
  }

  /// A whole packet from a neighbour: what `LinkManager` and `Relay` do with it.
  private mutating func take(_ packet: Packet, id: PacketID, at end: Int) {
    let hops = packet.header.hops
    if ends[end].transfer.isRepetition(id.key, hops: hops, now: time) {
      tally.repetitions += 1
      flush(end)
      return
    }
    ends[end].transfer.accept(id.key, hops: hops, now: time)
    let node = ends[end].node
    if nodes[node].isHostile, meet(packet, id: id, at: node) {
      flush(end)
      return
    }
    nodes[node].rules.receive(
      ReceivedPacket(
        packet: packet, id: id, slot: ends[end].slot, link: UInt64(end >> 1), receivedAt: time),
      wallMilliseconds: wallMilliseconds, into: &actions)
    perform(node)
    flush(end)
  }

  /// The ID of a packet. Hashing would be a third of the whole run; a packet whose identified bytes are those of the
  /// message that it says it is has that message's ID, and every other is hashed.
  private mutating func identify(_ packet: Packet) -> PacketID? {
    let span = packet.encoded.rawSpan
    let identified = span.extracting(packet.header.identifiedRange)
    let number = Int(identified.number(UInt32.self, at: WireLimits.identifiedHeadByteCount))
    if number < messages.count {
      let original = messages[number].packet
      if original.encoded.rawSpan.extracting(original.header.identifiedRange).hasSameBytes(as: identified) {
        return messages[number].id
      }
    }
    return try? identifier.id(of: packet)
  }

  mutating func rulesDue(_ node: Int) {
    guard nodes[node].rulesDueAt == now else { return }
    nodes[node].rulesDueAt = .max
    guard nodes[node].isPresent else { return }
    nodes[node].rules.tick(now: time, into: &actions)
    perform(node)
  }

  /// Carries out what the rules of a node have decided.
  mutating func perform(_ node: Int) {
    for index in actions.relay.indices {
      switch actions.relay[index] {
      case .offer(let packet): offer(packet, from: node)
      case .deliver(let packet, let id, _): deliver(packet, id, at: node)
      case .answerAgain(let packet, let id, _): answerAgain(packet, id, at: node)
      case .record(let verdict):
        tally.receptions += 1
        if verdict == .duplicate { tally.duplicates += 1 }
      case .control(let slot, let frame):
        guard let end = end(of: node, slot) else { continue }
        let limit = scenario.air.attPayload - AirModel.sealByteCount
        for content in frame.encoded(payloadByteCount: limit) { ends[end].transfer.enqueue(content: content) }
        flush(end)
      case .count(let reason, let number): tally.counts[RelayCount.places[reason] ?? 0] &+= number
      case .handedOver: break
      }
    }
    for (slot, content) in actions.control {
      guard let end = end(of: node, slot) else { continue }
      ends[end].transfer.enqueue(content: content)
      flush(end)
    }
    actions.removeAll()
    if let due = nodes[node].rules.nextDeadline()?.nanoseconds, due < nodes[node].rulesDueAt {
      nodes[node].rulesDueAt = max(due, now)
      queue.add(.rulesDue, at: max(due, now), node)
    }
  }

  /// The end of a link that is up.
  func end(of node: Int, _ slot: Int) -> Int? {
    guard slot < nodes[node].slots.count, nodes[node].slots[slot] >= 0 else { return nil }
    let end = Int(nodes[node].slots[slot])
    return links[end >> 1].isUp ? end : nil
  }

  private mutating func offer(_ packet: OutboundPacket, from node: Int) {
    var targets = packet.links
    let bytes = nodes[node].isHostile ? forged(packet.bytes, by: node) : packet.bytes
    while let slot = targets.popFirst() {
      guard let end = end(of: node, slot) else { continue }
      ends[end].transfer.enqueue(
        OutgoingPacket(
          key: packet.key, bytes: bytes, trafficClass: packet.isBacklog ? .bulk : packet.kind.trafficClass,
          source: packet.source, since: packet.since, expiry: packet.expiry))
      flush(end)
    }
    if packet.links.count > 0 { tally.offers += 1 }
  }

  private mutating func deliver(_ packet: Packet, _ id: PacketID, at node: Int) {
    let number = Int(packet.encoded.rawSpan.number(UInt32.self, at: packet.header.bodyRange.lowerBound))
    guard number < messages.count, messages[number].id == id, messages[number].source != node else { return }
    guard messages[number].destination == nil || messages[number].destination == node else { return }
    if let answered = messages[number].answers { return answer(to: answered, came: now) }
    if packet.header.isForOne { planReceipt(for: number, by: node) }
    guard messages[number].row >= 0 else { return }
    if deliveries.note(row: messages[number].row, node: node, latency: now - messages[number].at) {
      messages[number].reached += 1
    } else {
      tally.shownAgain += 1
    }
  }
}
