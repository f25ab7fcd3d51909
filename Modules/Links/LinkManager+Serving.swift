internal import Bytes
internal import Identities
internal import Routing
internal import Streams
internal import Telemetry
internal import Transports
internal import WireFormat

/// The life of one link, from hello to its end.
extension LinkManager {
  func serve(_ id: LinkID) async {
    guard let physical = links[id] else { return }
    let link = physical.link
    physical.handshake.send(physical.hello)
    pumpHandshake(physical)
    var handshake: (any LinkHandshake)?
    for await input in link.inputs {
      switch input {
      case .frame(let frame): await receive(frame, on: physical, handshake: &handshake)
      case .writable:
        if let slot = physical.slot { transfers[slot]?.moved(now: configuration.time.now()) }
        flush(physical)
      case .frameSize(let size):
        if size < TransportsLimits.smallestFrame { close(id, .frameTooSmall) } else { flush(physical) }
      }
    }
    await ended(physical)
  }

  private func receive(
    _ frame: [UInt8], on physical: PhysicalLink, handshake: inout (any LinkHandshake)?
  ) async {
    let now = configuration.time.now()
    physical.lastReceived = now
    if physical.session == nil { table.heard(physical.link.id) }
    physical.pingedAt = nil
    physical.framesReceived &+= 1
    counters.count(.framesReceived)
    guard physical.budget.pay(byteCount: frame.count, now: now) else {
      counters.count(.framesOverBudget)
      return
    }
    guard !HandshakeTransfer.owns(frame) else {
      // What had come before we closed the link is worth no key agreement.
      guard physical.closeReason == nil else { return }
      await receiveHandshake(frame, on: physical, handshake: &handshake, now: now)
      return
    }
    guard physical.session != nil else {
      counters.count(.framesEarly)
      return
    }
    let content: [UInt8]
    do throws(LinkSecurityError) {
      content = try physical.session!.open(frame)
    } catch {
      broken(physical, .framesUnopened)
      return
    }
    if let slot = physical.slot, table.links[physical.link.id]?.isConfirmed == false {
      await perform(table.confirmed(physical.link.id))
      flush(slot: slot)
    }
    await receiveContent(content, on: physical, now: now)
  }

  private func receiveHandshake(
    _ frame: [UInt8], on physical: PhysicalLink, handshake: inout (any LinkHandshake)?, now: MonotonicTime
  ) async {
    do {
      if let message = try physical.handshake.receive(frame), physical.session == nil {
        let progress: HandshakeProgress
        if physical.peerFrameSize == nil {
          let hello = try Hello(decoding: message)
          physical.peerFrameSize = Int(hello.frameSize)
          guard physical.frameSize >= TransportsLimits.smallestFrame else {
            close(physical.link.id, .frameTooSmall)
            return
          }
          handshake = try begin(physical, peerHello: message)
          progress = try await handshake?.start() ?? HandshakeProgress()
        } else {
          progress = try await handshake?.receive(message) ?? HandshakeProgress()
        }
        for message in progress.messages { physical.handshake.send(message) }
        if let established = progress.established { await secured(physical, established) }
      }
      pumpHandshake(physical)
    } catch LinkSecurityError.ownCard {
      counters.count(.ownIdentityMet)
      configuration.metCopy(.handshake)
      close(physical.link.id, .ownIdentity)
    } catch {
      counters.count(.handshakesRefused)
      if let unsaid = refusals.happened(now: configuration.time.now()) {
        configuration.log.notice(
          "handshake refused",
          [
            "link": .integer(physical.link.id.number), "reason": .description(error), "moreSinceLast": .integer(unsaid),
          ])
      }
      close(physical.link.id, .handshakeFailed)
    }
  }

  private func begin(
    _ physical: PhysicalLink, peerHello: [UInt8]
  ) throws(LinkSecurityError) -> any LinkHandshake {
    physical.link.role == .central
      ? try configuration.security.handshake(role: .initiator, hellos: physical.hello + peerHello)
      : try configuration.security.handshake(role: .responder, hellos: peerHello + physical.hello)
  }

  private func secured(_ physical: PhysicalLink, _ established: EstablishedLink) async {
    guard links[physical.link.id] != nil else { return }
    physical.session = established.session
    let peer = established.card.id
    counters.count(.established)
    plan.identified(physical.key, as: peer)
    let actions = table.established(physical.link.id, peer: peer, now: configuration.time.now())
    guard let slot = table.links[physical.link.id]?.slot else {
      await perform(actions, card: established.card)
      return
    }
    physical.slot = slot
    await perform(actions, card: established.card)
    // Shows the peer that we have the link, so that it may close a second one.
    send(LinkFrame.ping(token: configuration.random()).encoded, on: physical)
  }

  func pumpHandshake(_ physical: PhysicalLink) {
    let now = configuration.time.now()
    while let frame = physical.handshake.nextFrame(limit: physical.frameSize, now: now) {
      guard physical.link.send(frame) == .sent else { break }
    }
    alarm.set(physical.handshake.deadline)
  }

  private func receiveContent(_ content: [UInt8], on physical: PhysicalLink, now: MonotonicTime) async {
    guard let slot = physical.slot else { return }
    let frame: LinkFrame
    do {
      frame = try LinkFrame(decoding: content.rawSpan)
    } catch {
      broken(physical, .framesMalformed)
      return
    }
    switch frame {
    case .packet:
      await receivePacket(Array(content[LinkFrame.packetOffset...]), slot: slot, on: physical, now: now)
    case .fragment(let head): await receiveFragment(head, content, slot: slot, on: physical, now: now)
    case .acknowledgment(let keys):
      let news = transfers[slot]?.acknowledge(keys, now: now) ?? []
      if !news.isEmpty { _ = await events.send(.acknowledged(slot: slot, keys: news)) }
      flush(slot: slot)
    case .fragmentRequest(let key, let ranges):
      transfers[slot]?.request(key, ranges: ranges.map { $0.first..<$0.end }, now: now)
      flush(slot: slot)
    case .ping(let token): send(LinkFrame.pong(token: token).encoded, on: physical)
    case .pong: break
    case .goodbye:
      physical.isPeerLeaving = true
      physical.link.close()
    case .prune, .announcement, .graft, .reopen, .reconciliation, .widen:
      _ = await events.send(.control(slot: slot, frame))
    case .ignored: counters.count(.framesUnknown)
    }
  }

  func receivePacket(_ bytes: [UInt8], slot: Int, on physical: PhysicalLink, now: MonotonicTime) async {
    let packet: Packet
    do throws(WireError) {
      packet = try Packet(decoding: bytes)
    } catch {
      if case .unknownVersion = error {
        counters.count(.packetsOfUnknownVersion)
      } else {
        broken(physical, .packetsMalformed)
      }
      return
    }
    guard let id = try? identifier.id(of: packet) else { return }
    await receive(packet, id: id, slot: slot, on: physical, now: now)
  }

  func receive(_ packet: Packet, id: PacketID, slot: Int, on physical: PhysicalLink, now: MonotonicTime) async {
    if transfers[slot]?.isRepetition(id.key, hops: packet.header.hops, now: now) == true {
      counters.count(.packetsRepeated)
      flush(slot: slot)
      return
    }
    // Taken over only when the relay has it: until then the neighbour may send it again.
    let received = ReceivedPacket(packet: packet, id: id, slot: slot, link: physical.link.id.number, receivedAt: now)
    transfers[slot]?.accept(id.key, hops: packet.header.hops, now: now)
    guard await events.send(.packet(received)) else { return }
    flush(slot: slot)
  }

  /// Counts a frame that no honest peer sends and closes the link when there are too many.
  private func broken(_ physical: PhysicalLink, _ reason: LinkCount) {
    counters.count(reason)
    physical.brokenFrames += 1
    if physical.brokenFrames >= LinksLimits.brokenFrames { close(physical.link.id, .brokenFrames) }
  }

  // MARK: Ends

  func close(_ id: LinkID, _ reason: LinkTable.CloseReason) {
    guard let physical = links[id], physical.closeReason == nil else { return }
    physical.closeReason = reason
    if reason == .halfOpenEvicted { counters.count(.halfOpenEvicted) }
    _ = table.close(id, reason)
    notices.send(.refused(link: id.number, reason: reason))
    if physical.session != nil, let goodbye = GoodbyeReason(reason) {
      send(LinkFrame.goodbye(goodbye).encoded, on: physical)
    }
    physical.link.close()
  }

  func closeAll() {
    for id in links.keys.sorted() { close(id, .stopping) }
    links.removeAll()
  }

  private func ended(_ physical: PhysicalLink) async {
    let now = configuration.time.now()
    let id = physical.link.id
    links[id] = nil
    counters.count(.transportDropped, by: physical.link.droppedFrames)
    counters.count(physical.link.end == .closedHere ? .closed : .lost)
    if physical.closeReason == .frameTooSmall { tellTooNarrow(physical, now: now) }
    let isOnPurpose = physical.isPeerLeaving || physical.closeReason == .duplicate || physical.closeReason == .wornOut
    let reason = physical.closeReason.map(Self.text) ?? Self.text(endOf: physical)
    if !links.values.contains(where: { $0.key == physical.key }) {
      plan.unlinked(
        physical.key, hasFailed: physical.session == nil && !isOnPurpose, reason: reason, now: now,
        random: configuration.random())
    }
    await perform(table.ended(id, now: now), reason: reason)
    startDials()
  }

  private func tellTooNarrow(_ physical: PhysicalLink, now: MonotonicTime) {
    counters.count(.tooNarrow)
    guard let unsaid = narrowLinks.happened(now: now) else { return }
    configuration.log.warning(
      "the frames of a link are too small: it was closed",
      [
        "address": .text(physical.key.address.description), "bytes": .integer(physical.link.frameSize),
        "needed": .integer(TransportsLimits.smallestFrame), "moreSinceLast": .integer(unsaid),
      ])
  }

  /// What people are told of a link that we have closed.
  private static func text(_ reason: LinkTable.CloseReason) -> String {
    switch reason {
    case .handshakeFailed: "the handshake failed; the community keys may differ"
    case .ownIdentity: "another node runs with the same keys"
    case .frameTooSmall: "its frames are too small"
    default: reason.rawValue
    }
  }

  /// What people are told of a link that was ended elsewhere. A peer that speaks and then closes before the handshake
  /// is over says nothing of its reason, on purpose.
  private static func text(endOf physical: PhysicalLink) -> String {
    let end = physical.link.end?.rawValue ?? "lost"
    guard physical.session == nil, physical.peerFrameSize != nil else { return end }
    return "\(end) during the handshake; the community keys may differ"
  }

  func perform(_ actions: [LinkTable.Action], card: VerifiedCard? = nil, reason: String = "") async {
    for action in actions {
      switch action {
      case .close(let id, let reason): close(id, reason)
      case .reassigned(let slot):
        transfers[slot] = nil
        _ = await events.send(.reassigned(slot: slot))
      case .up(let slot, let peer):
        let physical = table.slots[slot]?.active.flatMap { links[$0] }
        let rate = physical.map { configuration.transports[$0.key.transport].properties.bytesPerSecond } ?? 0
        if transfers[slot] == nil { transfers[slot] = LinkTransfer(bytesPerSecond: rate) }
        if let physical {
          allowance.proved(physical.key, now: configuration.time.now())
          notices.send(
            .up(
              link: physical.link.id.number, peer: peer, role: physical.link.role,
              transport: configuration.transports[physical.key.transport].properties.name))
        }
        configuration.log.info("neighbour up", ["peer": .text(peer.shortHex), "slot": .integer(slot)])
        noteReturn(of: peer, over: physical)
        if let card { _ = await events.send(.up(slot: slot, card: card)) }
      case .moved(let slot, let id):
        if let peer = table.slots[slot]?.peer { notices.send(.moved(link: id.number, peer: peer)) }
        flush(slot: slot)
      case .down(let slot, let peer):
        settleDrops(slot) { $0.reset() }
        reassembly.drop(link: UInt64(slot))
        notices.send(.down(peer: peer, reason: reason))
        reconnects.down(peer, reason: reason, now: configuration.time.now())
        configuration.log.info("neighbour down", ["peer": .text(peer.shortHex), "reason": .text(reason)])
        _ = await events.send(.down(slot: slot, peer: peer))
      }
    }
    publishOccupancy()
  }

  /// Says when a peer came back once too often.
  private func noteReturn(of peer: PeerID, over physical: PhysicalLink?) {
    guard let alarm = reconnects.up(peer, now: configuration.time.now()) else { return }
    counters.count(.unsteady)
    configuration.log.warning(
      "the link to a neighbour does not hold",
      ["peer": .text(peer.shortHex), "reconnects": .integer(alarm.reconnects), "causes": .text(alarm.sentence)])
    if let physical { notices.send(.unsteady(link: physical.link.id.number, alarm)) }
  }

  private func publishOccupancy() {
    let new = LinkOccupancy(links: links.count, limit: occupancy.value.limit)
    if new != occupancy.value { occupancy.set(new) }
  }
}

extension GoodbyeReason {
  /// What the peer is told; nil where it would learn something it need not know.
  init?(_ reason: LinkTable.CloseReason) {
    switch reason {
    case .duplicate: self = .duplicateLink
    case .noFreeSlot: self = .noRoom
    case .stopping: self = .stopping
    default: return nil
    }
  }
}
