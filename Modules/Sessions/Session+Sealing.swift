internal import Identities
internal import Primitives
internal import Streams
internal import Telemetry
internal import Verifying
internal import WireFormat

/// Packets out of contents: signed where everybody may read, sealed where one may.
extension Session {
  struct Outgoing: Sendable {
    var packet: Packet
    var id: PacketID
    /// The packet as it is kept: its age begins with what its kind would allow beyond its use, so that the lifetime of
    /// what is kept ends with the key it is sealed to.
    var kept: [UInt8]
  }

  /// - Returns: nil when the peer's newest card may not be sealed to any more: what was to be said has to wait.
  func makePacket(
    _ content: MessageContent, to conversation: Conversation, kind: PacketKind = .personal, wall: UInt64
  ) throws(SessionError) -> Outgoing? {
    do {
      let packet: Packet
      var lifetime = PacketKind.public.lifetime
      switch conversation {
      case .everyone:
        packet = try sign(
          try PacketDraft(kind: .public, time: wall, origin: ownTag, body: content.encoded, hints: timeHints))
      case .peer(let peer):
        guard let prekey = directory.card(of: peer)?.card.prekey else { return nil }
        let left = directory.sealingTimeLeft(
          for: peer, now: ports.time.now(), wall: wall, isSynchronised: ports.isClockSynchronised())
        guard left > 0 || PrekeyFresh.isSkipped else { return nil }
        let body = try PersonalSeal.seal(
          content.encoded, from: ownID, key: keys.sharedAgreementKey(), to: peer, prekey: prekey, time: wall,
          random: ports.random)
        packet = try PacketDraft(
          kind: kind, time: wall, origin: ownTag, destination: Tag(rawValue: peer.tag), body: body, hints: timeHints
        ).unsigned()
        lifetime = PrekeyTerm.packetLifetime(sealingLeft: left, kindLifetime: kind.lifetime)
      }
      var kept = packet.encoded
      Packet.age(
        &kept, at: 0, by: UInt32(clamping: packet.header.kind.lifetime - min(packet.header.kind.lifetime, lifetime)))
      return Outgoing(packet: packet, id: try identifier.id(of: packet), kept: kept)
    } catch PersonalSealError.tooLong {
      throw .tooLong(byteCount: content.encoded.count, limit: SessionsLimits.textBytes)
    } catch {
      throw .primitiveFailed
    }
  }

  func sign(_ draft: PacketDraft) throws -> Packet {
    try draft.signed { region in try keys.sign(.packetSignature, region) }
  }

  /// Sends what needs no place in the history. - Returns: whether it could be sealed.
  func originate(_ content: MessageContent, to peer: PeerID, kind: PacketKind = .personal) async -> Bool {
    let wall = ports.time.wallMilliseconds()
    guard let outgoing = (try? makePacket(content, to: .peer(peer), kind: kind, wall: wall)) ?? nil else {
      return false
    }
    _ = await ports.originate(outgoing.packet, outgoing.id)
    // Nobody answers an answer. One that is lost is asked for again by what it answers.
    await ports.answered(outgoing.id.key)
    return true
  }

  func requireRoomToWait() async throws(SessionError) {
    do {
      let waiting = try await ports.store.waitingMessages(author: ownID, limit: SessionsLimits.waitingMessages)
      guard waiting.count < SessionsLimits.waitingMessages else {
        throw SessionError.tooManyWaiting(limit: SessionsLimits.waitingMessages)
      }
    } catch let error as SessionError {
      throw error
    } catch {
      throw .storeFailed(reason: "\(error)")
    }
  }

  /// A card of this peer came that may be sealed to, or a person has settled who is meant or blocked: what waited goes
  /// out, to those who may be reached.
  func sendWaiting(to peer: PeerID?) async {
    // While one pass waits for the store another begins; each message is sealed by one of them.
    guard !isSendingWaiting else {
      isWaitingDue = true
      return
    }
    isSendingWaiting = true
    await sendWaitingOnce(to: peer)
    while isWaitingDue {
      isWaitingDue = false
      await sendWaitingOnce(to: nil)
    }
    isSendingWaiting = false
  }

  private func sendWaitingOnce(to peer: PeerID?) async {
    guard let waiting = try? await ports.store.waitingMessages(author: ownID, limit: SessionsLimits.waitingMessages)
    else {
      counters.count(.storeFailed)
      return
    }
    let wall = ports.time.wallMilliseconds()
    for message in waiting {
      guard case .peer(let recipient) = message.conversation, peer == nil || recipient == peer else { continue }
      guard !isExpired(message) else { continue }
      guard mayReach(recipient) == .fine || RecipientSettled.isSkipped else {
        counters.count(.waitingWithheld)
        continue
      }
      var flags: MessageContent.Flags = []
      if message.isEcho { flags.insert(.echo) }
      if message.isFromBot { flags.insert(.bot) }
      let content = MessageContent(id: message.id, flags: flags, substance: .text(message.text))
      guard let outgoing = (try? makePacket(content, to: message.conversation, wall: wall)) ?? nil else { continue }
      do {
        try await ports.store.setPacket(
          outgoing.kept, state: .accepted, of: message.id, author: ownID)
      } catch {
        counters.count(.storeFailed)
        continue
      }
      counters.count(.waitingSent)
      events.send(.state(message.id, .accepted))
      track(outgoing.id.key, message.id, to: message.conversation)
      _ = await ports.originate(outgoing.packet, outgoing.id)
    }
  }

  /// Opens what was sealed to us and compares the key that the seal has proved with the card of whom it names.
  ///
  /// - Returns: nil when it was refused or has to wait for a card; both are counted.
  func open(_ packet: Packet, id: PacketID, receivedAt: MonotonicTime) -> (author: VerifiedCard, content: [UInt8])? {
    let opened: PersonalSeal.Opened
    do {
      opened = try PersonalSeal.open(
        Array(packet.body), as: ownID, time: packet.header.time, random: ports.random
      ) { keys.prekey(id: $0) }
    } catch {
      switch error {
      case .prekeyGone: counters.count(.prekeyGone)
      case .malformed: counters.count(.sealMalformed)
      default: counters.count(.sealRefused)
      }
      return nil
    }
    guard opened.sender.tag == packet.header.origin.rawValue || SenderOfOrigin.isSkipped else {
      counters.count(.sealOfAnotherOrigin)
      return nil
    }
    guard let author = directory.card(of: opened.sender) else {
      hold(packet, id: id, receivedAt: receivedAt)
      return nil
    }
    guard author.card.agreementKey == opened.key || SenderKey.isSkipped else {
      counters.count(.sealOfAnotherKey)
      return nil
    }
    return (author, opened.content)
  }

  func hold(_ packet: Packet, id: PacketID, receivedAt: MonotonicTime) {
    counters.count(.heldForCard)
    let droppedBefore = held.dropped
    held.hold(packet, id: id, receivedAt: receivedAt)
    counters.count(.heldDropped, by: held.dropped - droppedBefore)
  }

  // MARK: Receipts

  /// Tells an author that a person has seen these messages, if they are of one who may know.
  package func markRead(_ ids: [MessageID]) async throws(SessionError) {
    var byAuthor: [PeerID: [MessageID]] = [:]
    for id in ids.prefix(SessionsLimits.receiptMessages) {
      guard let message = try await message(id), message.state == .received, case .peer = message.conversation else {
        continue
      }
      byAuthor[message.author, default: []].append(id)
    }
    for (author, ids) in byAuthor { await sendReceipt(.read(ids), to: author) }
  }

  func sendReceipt(_ substance: MessageContent.Substance, to peer: PeerID) async {
    guard mayReach(peer) == .fine else {
      counters.count(.receiptsWithheld)
      return
    }
    guard let id = try? drawMessageID() else { return }
    let isSent = await originate(MessageContent(id: id, substance: substance), to: peer, kind: .receipt)
    counters.count(isSent ? .receiptsSent : .receiptsWithoutKey)
  }

  /// A receipt moves our own message of that conversation forward, never back.
  func receive(_ ids: [MessageID], _ state: MessageState, from peer: PeerID) async {
    for id in ids {
      guard let message = try? await ports.store.message(id), message.author == ownID else { continue }
      guard message.conversation == .peer(peer) || ReceiptOfRecipient.isSkipped else {
        counters.count(.receiptsOfAnother)
        continue
      }
      if let index = unanswered.firstIndex(where: { $0.message == id }) {
        await ports.answered(unanswered.remove(at: index).key)
      }
      guard message.state != .read, message.state != state else { continue }
      do {
        try await ports.store.setState(state, of: id, author: ownID)
      } catch {
        counters.count(.storeFailed)
        continue
      }
      counters.count(.receiptsReceived)
      events.send(.state(id, state))
    }
  }
}

/// What waited for a key goes to nobody who is blocked, and to no name that two peers claim.
enum RecipientSettled: Verification {
  static let name = "recipient-settled"
}

/// Who is named inside a seal is the origin of the packet.
enum SenderOfOrigin: Verification {
  static let name = "sender-of-origin"
}

/// The key that a seal has proved is the one of whom it names.
enum SenderKey: Verification {
  static let name = "sender-key"
}

/// A receipt comes from whom the message was for.
enum ReceiptOfRecipient: Verification {
  static let name = "receipt-of-recipient"
}
