internal import Bytes
internal import Routing
internal import Streams
internal import Telemetry
internal import Transports
internal import Verifying
internal import WireFormat

/// Frames out of queues into links, and what is due by time.
extension LinkManager {
  func sendOutbound() async {
    for await packet in outbound {
      if !blocked.isEmpty, let origin = try? PacketHeader(decoding: packet.bytes.rawSpan).origin,
        blocked.contains(origin), !QueuedOriginNotBlocked.isSkipped
      {
        counters.count(.originBlocked)
        continue
      }
      var targets = packet.links
      while let slot = targets.popFirst() {
        settleDrops(slot) { transfer in
          transfer.enqueue(
            OutgoingPacket(
              key: packet.key, bytes: packet.bytes, trafficClass: packet.isBacklog ? .bulk : packet.kind.trafficClass,
              source: packet.source,
              since: packet.since, expiry: packet.expiry))
        }
        flush(slot: slot)
      }
    }
  }

  func sendControl() async {
    for await control in outboundControl {
      guard let id = table.slots[control.slot]?.active, let physical = links[id], let session = physical.session
      else { continue }
      let limit = physical.frameSize - session.overhead
      settleDrops(control.slot) { transfer in
        for content in control.frame.encoded(payloadByteCount: limit) { transfer.enqueue(content: content) }
      }
      flush(slot: control.slot)
    }
  }

  /// Changes a transfer and counts what it dropped meanwhile.
  func settleDrops(_ slot: Int, _ change: (inout LinkTransfer) -> Void) {
    guard transfers[slot] != nil else { return }
    change(&transfers[slot]!)
    for (drop, number) in transfers[slot]!.takeDrops() { counters.count(LinkCount(drop), by: number) }
  }

  func flush(slot: Int) {
    guard let id = table.slots[slot]?.active, let physical = links[id] else { return }
    flush(physical)
  }

  /// Sends what may be sent now on a link, as far as the transport takes it.
  func flush(_ physical: PhysicalLink) {
    guard let slot = physical.slot, physical.session != nil else {
      pumpHandshake(physical)
      return
    }
    if let frame = physical.refused {
      guard transmit(frame, on: physical) else { return }
      physical.refused = nil
    }
    guard table.slots[slot]?.active == physical.link.id else { return }
    let now = configuration.time.now()
    while true {
      let limit = physical.frameSize - physical.session!.overhead
      guard let content = transfers[slot]?.nextContent(limit: limit, now: now) else { break }
      guard let frame = sealed(content, on: physical) else { return }
      if physical.session!.isWornOut { alarm.set(now) }
      guard transmit(frame, on: physical) else {
        physical.refused = frame
        break
      }
    }
    alarm.set(transfers[slot]?.deadline)
  }

  /// What cannot be sealed is not sent; it comes again over the next link.
  private func sealed(_ content: [UInt8], on physical: PhysicalLink) -> [UInt8]? {
    do throws(LinkSecurityError) { return try physical.session!.seal(content) } catch {
      counters.count(.framesUnsealed)
      close(physical.link.id, .sealFailed)
      return nil
    }
  }

  /// One frame of the link's own, past every queue.
  func send(_ content: [UInt8], on physical: PhysicalLink) {
    guard physical.session != nil, let frame = sealed(content, on: physical) else { return }
    _ = transmit(frame, on: physical)
  }

  /// - Returns: false when the transport has no room now; the frame is then to be kept.
  private func transmit(_ frame: [UInt8], on physical: PhysicalLink) -> Bool {
    switch physical.link.send(frame) {
    case .full: return false
    case .sent:
      physical.framesSent &+= 1
      counters.count(.framesSent)
    case .tooLong, .closed: break
    }
    return true
  }

  func receiveFragment(
    _ head: FragmentHead, _ content: [UInt8], slot: Int, on physical: PhysicalLink, now: MonotonicTime
  ) async {
    if transfers[slot]?.isRepetition(head.key, now: now) == true {
      counters.count(.packetsRepeated)
      flush(slot: slot)
      return
    }
    let result = reassembly.receive(
      head, data: content.rawSpan.extracting(LinkFrame.dataOffset..<content.count), link: UInt64(slot),
      now: now.nanoseconds / 1_000_000, identifier: &identifier)
    counters.count(.reassembliesDropped, by: UInt64(result.dropped.count))
    switch result.outcome {
    case .completed(let packet, let id): await receive(packet, id: id, slot: slot, on: physical, now: now)
    case .refused: counters.count(.fragmentsRefused)
    case .kept, .duplicate, .late, .dropped: break
    }
    alarm.set(reassembly.nextDeadline.map { MonotonicTime(nanoseconds: $0 * 1_000_000) })
  }

  func tick() async {
    let now = configuration.time.now()
    await perform(table.expire(now: now))
    alarm.set(table.deadline)
    for physical in links.values.sorted(by: { $0.link.id < $1.link.id }) {
      if physical.session == nil || !physical.handshake.isSettled { pumpHandshake(physical) }
      keepAlive(physical, now: now)
    }
    requestFragments(now: now)
    for slot in transfers.indices where transfers[slot] != nil {
      settleDrops(slot) { $0.tick(now: now) }
      flush(slot: slot)
    }
    startDials()
  }

  private func keepAlive(_ physical: PhysicalLink, now: MonotonicTime) {
    guard let session = physical.session else { return }
    session.tick(now: now)
    if session.isWornOut {
      close(physical.link.id, .wornOut)
      return
    }
    if now.since(physical.lastReceived) >= LinksLimits.deadAfter {
      close(physical.link.id, .silent)
      return
    }
    if now.since(physical.lastReceived) >= LinksLimits.keepAlive, physical.pingedAt == nil {
      physical.pingedAt = now
      send(LinkFrame.ping(token: configuration.random()).encoded, on: physical)
    }
    let wait = physical.pingedAt == nil ? LinksLimits.keepAlive : LinksLimits.deadAfter
    alarm.set(physical.lastReceived.advanced(by: wait))
  }

  private func requestFragments(now: MonotonicTime) {
    let milliseconds = now.nanoseconds / 1_000_000
    counters.count(.reassembliesDropped, by: UInt64(reassembly.expire(now: milliseconds).count))
    for request in reassembly.missing(now: milliseconds) {
      let slot = Int(request.link)
      transfers[slot]?.enqueue(content: request.frame.encoded)
      flush(slot: slot)
    }
    alarm.set(reassembly.nextDeadline.map { MonotonicTime(nanoseconds: $0 * 1_000_000) })
  }
}

/// What the relay has handed over before its author was blocked does not leave.
enum QueuedOriginNotBlocked: Verification {
  static let name = "queued-origin-not-blocked"
}
