package import Identities
internal import Primitives
internal import Routing
internal import Streams
internal import Telemetry
internal import WireFormat

/// Why something was not sent.
package enum SessionError: Error, Sendable, Equatable {
  case emptyText
  /// The text has more bytes of UTF-8 than a message may have.
  case tooLong(byteCount: Int, limit: Int)
  case unknownPeer
  /// No card of the peer is here that may still be sealed to; it comes by itself when the peer is heard again.
  case noFreshKey
  /// As many messages wait for keys as may.
  case tooManyWaiting(limit: Int)
  /// Another peer bears the name of this contact: who is meant has to be settled first.
  case contactChanged(Contact)
  /// We have blocked the peer.
  case blocked
  /// As many contacts as may be are verified, trusted, blocked or written to: none can make room.
  case contactsFull(limit: Int)
  /// The message is not on disk and was not sent.
  case storeFailed(reason: String)
  case primitiveFailed
  case tooManyPings(limit: Int)
  case noAnswer(after: Duration)
}

extension Session {
  /// Says something to everyone or to one peer. When it returns the message is on disk and on its way.
  package func send(
    _ text: String, to conversation: Conversation, isEcho: Bool = false, isFromBot: Bool = false
  ) async throws(SessionError) -> StoredMessage {
    guard !text.isEmpty else { throw .emptyText }
    guard text.utf8.count <= SessionsLimits.textBytes else {
      throw .tooLong(byteCount: text.utf8.count, limit: SessionsLimits.textBytes)
    }
    if case .peer(let peer) = conversation { try await reach(peer) }
    var flags: MessageContent.Flags = []
    if isEcho { flags.insert(.echo) }
    if isFromBot || profile.capabilities.contains(.bot) { flags.insert(.bot) }
    let wall = ports.time.wallMilliseconds()
    let content = MessageContent(id: try drawMessageID(), flags: flags, substance: .text(text))
    let sealed = try makePacket(content, to: conversation, wall: wall)
    if sealed == nil { try await requireRoomToWait() }
    let message = StoredMessage(
      id: content.id, conversation: conversation, author: ownID, authorName: profile.name.text,
      isFromBot: flags.contains(.bot), isEcho: isEcho, text: text, sentMilliseconds: wall, storedMilliseconds: wall,
      hops: 0, path: [], state: sealed == nil ? .waiting : .accepted, packet: sealed?.kept)
    do {
      _ = try await ports.store.insert(message)
    } catch {
      counters.count(.storeFailed)
      throw .storeFailed(reason: error.reason)
    }
    _ = recent.insert(message.id, of: ownID)
    ages.insert(message.id, at: ports.time.now())
    counters.count(.messagesSent)
    events.send(.message(message))
    if let sealed {
      track(sealed.id.key, message.id, to: conversation)
      _ = await ports.originate(sealed.packet, sealed.id)
    }
    return message
  }

  /// Whether we may write to a peer; whoever we write to is a contact.
  private func reach(_ peer: PeerID) async throws(SessionError) {
    guard let known = known(peer) else { throw .unknownPeer }
    switch mayReach(peer) {
    case .fine: await meet(peer, name: known.name, isAddressed: true)
    case .changed(let contact): throw .contactChanged(contact)
    case .blocked: throw .blocked
    }
  }

  /// Asks a peer for a sign of life.
  package func ping(_ peer: PeerID, timeout: Duration) async throws(SessionError) -> PingAnswer {
    guard directory.card(of: peer) != nil else { throw .unknownPeer }
    switch mayReach(peer) {
    case .fine: break
    case .changed(let contact): throw .contactChanged(contact)
    case .blocked: throw .blocked
    }
    let token = try drawToken()
    let content = MessageContent(id: try drawMessageID(), substance: .ping(token: token))
    guard let sealed = try makePacket(content, to: .peer(peer), wall: ports.time.wallMilliseconds()) else {
      throw .noFreshKey
    }
    let now = ports.time.now()
    guard pings.sent(token, to: peer, now: now) else { throw .tooManyPings(limit: SessionsLimits.pings) }
    let answers = Channel<PingAnswer>(capacity: 1)
    waitingPings[token] = answers
    _ = await ports.originate(sealed.packet, sealed.id)
    let deadline = now.advanced(by: timeout)
    let answer = await withTaskGroup(of: PingAnswer?.self) { [time = ports.time] group in
      group.addTask { await answers.next() }
      group.addTask {
        try? await time.sleep(deadline)
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
    await ports.answered(sealed.id.key)
    waitingPings[token] = nil
    pings.forget(token)
    guard let answer else { throw .noAnswer(after: timeout) }
    return answer
  }

  /// The newest messages, oldest first.
  package func messages(limit: Int) async throws(SessionError) -> [StoredMessage] {
    do {
      return try await ports.store.messages(limit: limit)
    } catch {
      throw .storeFailed(reason: error.reason)
    }
  }

  package func message(_ id: MessageID) async throws(SessionError) -> StoredMessage? {
    do {
      var message = try await ports.store.message(id)
      if let own = message, own.author == ownID, isExpired(own) { message?.state = .expired }
      return message
    } catch {
      throw .storeFailed(reason: error.reason)
    }
  }

  func isExpired(_ own: StoredMessage) -> Bool {
    guard own.state != .delivered, own.state != .read else { return false }
    let age = ages.age(of: own, now: ports.time.now(), wall: ports.time.wallMilliseconds())
    return age >= own.lifetimeMilliseconds
  }

  func sendPong(token: UInt64, to peer: PeerID, hops: UInt8, route: [UInt32]) async {
    guard let messageID = try? drawMessageID(), mayReach(peer) == .fine else {
      counters.count(.pingsRefused)
      return
    }
    let content = MessageContent(id: messageID, substance: .pong(token: token, hops: hops, route: route))
    if await originate(content, to: peer) { counters.count(.pingsAnswered) }
  }

  /// Says that we are there, with the sequence of our card, so that a peer sees whether it has the newest.
  func sendPresence(now: MonotonicTime) async {
    presenceSentAt = now
    let fraction = Double((try? ports.random.u64()) ?? 0) / Double(UInt64.max)
    presenceDue = now.advanced(
      by: SessionsLimits.presenceInterval + SessionsLimits.presenceJitter * fraction)
    let sequence = ports.ownCard.value.card.sequence
    let body = (0..<8).map { UInt8(truncatingIfNeeded: sequence >> (56 - 8 * UInt64($0))) }
    guard
      let draft = try? PacketDraft(
        kind: .presence, time: ports.time.wallMilliseconds(), origin: ownTag, body: body, hints: timeHints),
      let packet = try? sign(draft), let id = try? identifier.id(of: packet)
    else { return }
    _ = await ports.originate(packet, id)
  }

  func drawMessageID() throws(SessionError) -> MessageID {
    MessageID(high: try drawToken(), low: try drawToken())
  }

  func drawToken() throws(SessionError) -> UInt64 {
    do { return try ports.random.u64() } catch { throw .primitiveFailed }
  }
}
