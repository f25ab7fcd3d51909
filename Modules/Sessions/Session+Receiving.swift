internal import Bytes
internal import Identities
internal import Primitives
internal import Routing
internal import Streams
internal import Telemetry
internal import Verifying
internal import WireFormat

extension Session {
  func handle(_ delivery: Delivery) async {
    switch delivery {
    case .neighbourUp(let card):
      let now = ports.time.now()
      await learn(card, now: now)
      // Whoever is here has a key that may be sealed to, whatever its clock and ours say.
      await sendWaiting(to: card.id)
      tell(directory.neighbourUp(card.id, now: now))
      // A newcomer brings others within reach of us: tell them soon, but not once per link of a crowd.
      presenceDue = min(presenceDue, max(now, presenceSentAt.advanced(by: SessionsLimits.presenceFloor)))
    case .neighbourDown(let peer): directory.neighbourDown(peer, now: ports.time.now())
    case .handedOver(let key, _): await handedOver(key)
    case .packet(let packet, let id, let receivedAt), .answerAgain(let packet, let id, let receivedAt):
      await receive(packet, id: id, receivedAt: receivedAt)
    }
  }

  private func receive(_ packet: Packet, id: PacketID, receivedAt: MonotonicTime) async {
    guard packet.header.origin != ownTag else {
      counters.count(.ownOrigin)
      await examineOwn(packet)
      return
    }
    if packet.header.kind == .card {
      await receiveCard(packet, now: receivedAt)
      return
    }
    if packet.header.kind == .personal || packet.header.kind == .receipt {
      guard let (author, content) = open(packet, id: id, receivedAt: receivedAt) else { return }
      tell(directory.heard(author.id, hops: packet.header.linksCrossed, now: receivedAt))
      chart(packet, of: author.id, now: receivedAt)
      await receive(
        content, packet, .peer(author.id), from: author, hops: packet.header.linksCrossed, now: receivedAt)
      return
    }
    let candidates = directory.cards(tag: packet.header.origin.rawValue)
    guard !candidates.isEmpty else {
      hold(packet, id: id, receivedAt: receivedAt)
      return
    }
    guard let author = candidates.first(where: { (try? packet.verifySignature(by: $0.card.signingKey)) != nil })
    else {
      counters.count(.signatureRefused)
      return
    }
    await receive(packet, from: author, now: receivedAt)
  }

  /// The author is authentic; what relays have written of the way goes onto the map.
  private func chart(_ packet: Packet, of author: PeerID, now: MonotonicTime) {
    map.note(
      origin: author.routeEntry, route: packet.route, own: ownID.routeEntry, hops: packet.header.linksCrossed, now: now)
  }

  private func receiveCard(_ packet: Packet, now: MonotonicTime) async {
    let body = Array(packet.body)
    guard let card = try? VerifiedCard(verifying: body.rawSpan),
      card.id.tag == packet.header.origin.rawValue || CardOfOrigin.isSkipped
    else {
      counters.count(.cardsRefused)
      return
    }
    let onTheWay = packet.header.time - min(packet.header.time, card.card.issued)
    await learn(card, age: onTheWay + UInt64(packet.header.age), now: now)
    // The card is authentic, its journey is not: an old one may be replayed, so only a new one is a sign of life.
    if directory.entry(of: card.id)?.lastHeard == nil {
      tell(directory.heard(card.id, hops: packet.header.linksCrossed, now: now))
    }
  }

  /// - Parameter age: counted since it was issued; nil when the peer itself has given it.
  private func learn(_ card: VerifiedCard, age: UInt64? = nil, now: MonotonicTime) async {
    let (news, changes) = directory.receive(card, age: age, now: now)
    tell(changes)
    switch news {
    case .known: counters.count(.cardsKnown)
    case .equivocation: counters.count(.cardsEquivocated)
    case .keep:
      counters.count(.cardsKept)
      do {
        try await ports.store.save(card)
      } catch {
        counters.count(.storeFailed)
        ports.log.error("a card could not be kept", ["reason": .text(error.reason)])
      }
      await compare(card.id, name: card.card.name)
      await sendWaiting(to: card.id)
    }
    for one in held.take(origin: Tag(rawValue: card.id.tag)) {
      await receive(one.packet, id: one.id, receivedAt: one.receivedAt)
    }
  }

  private func receive(_ packet: Packet, from author: VerifiedCard, now: MonotonicTime) async {
    let hops = packet.header.linksCrossed
    tell(directory.heard(author.id, hops: hops, now: now))
    chart(packet, of: author.id, now: now)
    switch packet.header.kind {
    case .presence: counters.count(.presenceHeard)
    case .public, .urgent: await receive(Array(packet.body), packet, .everyone, from: author, hops: hops, now: now)
    default: counters.count(.malformed)
    }
  }

  private func receive(
    _ body: [UInt8], _ packet: Packet, _ conversation: Conversation, from author: VerifiedCard, hops: UInt8,
    now: MonotonicTime
  ) async {
    guard contacts[author.id]?.isBlocked != true || AuthorNotBlocked.isSkipped else {
      counters.count(.blockedRefused)
      return
    }
    guard let content = try? MessageContent(decoding: body) else {
      counters.count(.malformed)
      return
    }
    let isPersonal = conversation != .everyone
    switch content.substance {
    case .text(let text):
      let age = UInt64(packet.header.age) &+ ports.time.now().milliseconds(since: now)
      let message = StoredMessage(
        id: content.id, conversation: conversation, author: author.id, authorName: author.card.name.text,
        isFromBot: content.flags.contains(.bot) || author.card.capabilities.contains(.bot),
        isEcho: content.flags.contains(.echo), text: text, sentMilliseconds: packet.header.time,
        storedMilliseconds: ports.time.wallMilliseconds(), hops: hops, path: packet.route, state: .received,
        isLate: age >= SessionsLimits.lateMilliseconds)
      if isPersonal { await meet(author.id, name: author.card.name, isAddressed: false) }
      // One that comes again is told again: what was told before may not have come.
      if await keep(message) != .failed, isPersonal { await sendReceipt(.delivered([content.id]), to: author.id) }
    case .ping(let token) where isPersonal:
      guard pings.mayAnswer(author.id, now: now) else {
        counters.count(.pingsRefused)
        return
      }
      await sendPong(token: token, to: author.id, hops: hops, route: packet.route)
    case .pong(let token, let hopsThere, let pathThere) where isPersonal:
      guard let roundTrip = pings.answered(token, by: author.id, now: ports.time.now()) else {
        counters.count(.pongsUnasked)
        return
      }
      waitingPings[token]?.offer(
        PingAnswer(
          roundTrip: roundTrip, hopsThere: hopsThere, pathThere: pathThere, hopsBack: hops, pathBack: packet.route))
    case .delivered(let ids) where isPersonal: await receive(ids, .delivered, from: author.id)
    case .read(let ids) where isPersonal: await receive(ids, .read, from: author.id)
    case .ping, .pong, .delivered, .read: counters.count(.malformed)
    }
  }

  private enum Keeping {
    case new, repeated, failed
  }

  /// - Returns: whether it is on disk, and new.
  private func keep(_ message: StoredMessage) async -> Keeping {
    let isNew = recent.insert(message.id, of: message.author)
    // What could not be kept the first time is kept now, and only what is on disk is told to be delivered.
    var isLost = false
    if !isNew, message.conversation != .everyone {
      let known = (try? await ports.store.message(message.id)) ?? nil
      isLost = known?.author != message.author
    }
    if !isNew, !isLost, isDeduplicating, !MessageNew.isSkipped {
      counters.count(.messagesRepeated)
      return .repeated
    }
    do {
      let isInserted = try await ports.store.insert(message)
      guard isInserted || !isDeduplicating || MessageNew.isSkipped else {
        counters.count(.messagesRepeated)
        return .repeated
      }
    } catch {
      counters.count(.storeFailed)
      ports.log.error("a message could not be kept", ["reason": .text(error.reason)])
      return .failed
    }
    counters.count(.messagesReceived)
    events.send(.message(message))
    return .new
  }

  private func handedOver(_ key: UInt64) async {
    guard let index = tracked.firstIndex(where: { $0.key == key }) else { return }
    let id = tracked.remove(at: index).message
    guard (try? await ports.store.message(id))?.state == .accepted else { return }
    do {
      try await ports.store.setState(.sent, of: id, author: ownID)
    } catch {
      counters.count(.storeFailed)
      return
    }
    events.send(.state(id, .sent))
  }

  /// Links the packet has crossed to get here.
}

/// A card that travels is the one of its origin.
enum CardOfOrigin: Verification {
  static let name = "card-of-origin"
}

/// A message was not shown before.
enum MessageNew: Verification {
  static let name = "message-new"
}

/// Nothing of an author who is blocked is shown or kept, also when the relay had let it in before.
enum AuthorNotBlocked: Verification {
  static let name = "author-not-blocked"
}
