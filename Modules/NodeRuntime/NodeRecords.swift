internal import Bytes
internal import ControlAPI
internal import Identities
internal import Links
internal import Primitives
internal import Sessions
internal import Streams
internal import Transports

/// What is inside the node in the words of the control interface.
extension Node {
  /// Names of the peers known now, by ID.
  func names() async -> [PeerID: String] {
    Dictionary(uniqueKeysWithValues: await session.peers().map { ($0.card.id, $0.card.card.name.text) })
  }

  /// A relay as a path shows it: its name and eight digits, or the digits alone.
  func name(ofRouteEntry entry: UInt32) async -> String {
    if entry == session.ownID.routeEntry { return await session.ownCard.printed }
    return await session.name(ofRouteEntry: entry) ?? Hex.encode(UInt64(entry)).suffix(8).description
  }

  func record(of message: StoredMessage) async -> MessageRecord {
    var path: [String] = []
    for entry in message.path { path.append(await name(ofRouteEntry: entry)) }
    let isOwn = message.author == session.ownID
    var room: String?
    var to: PeerReference?
    switch message.conversation {
    case .everyone: room = "#public"
    case .peer(let peer) where isOwn:
      to = PeerReference(id: peer.description, name: await session.peerName(peer) ?? "")
    case .peer:
      to = PeerReference(id: session.ownID.description, name: await session.ownCard.card.name.text)
    }
    return MessageRecord(
      messageID: message.id.description, room: room,
      from: PeerReference(id: message.author.description, name: message.authorName), fromIsBot: message.isFromBot,
      to: to, text: message.text, sentTime: Int64(clamping: message.sentMilliseconds),
      receivedTime: Int64(clamping: message.storedMilliseconds), hops: Int(message.hops), path: path,
      isEcho: message.isEcho, isOwn: isOwn, isLate: message.isLate, state: isOwn ? .init(message.state) : nil)
  }
}

extension PeerRecord {
  init(_ peer: ListedPeer, now: MonotonicTime) {
    let card = peer.card.card
    self.init(
      id: peer.card.id.description, name: card.name.text, icon: card.icon.text,
      fingerprintHex: Hex.encode(card.signingKey.bytes), isNeighbour: peer.entry.isNeighbour,
      hops: peer.entry.hops > 0 ? Int(peer.entry.hops) : nil,
      lastHeardSecondsAgo: peer.entry.lastHeard.map { Double(now.milliseconds(since: $0)) / 1_000 } ?? -1,
      state: peer.entry.isPresent ? .present : .silent, isBot: card.capabilities.contains(.bot),
      cardSequence: card.sequence)
  }
}

extension ControlAPI.LinkRecord {
  init(_ record: Links.LinkRecord, names: [PeerID: String]) {
    self.init(
      id: record.link.map { "link-\($0)" } ?? "", transport: record.transport, address: record.address,
      role: record.role == .central ? .central : .peripheral, step: LinkStepName(record.step),
      peer: record.peer.map { PeerReference(id: $0.description, name: names[$0] ?? "") },
      frameSize: record.frameSize > 0 ? record.frameSize : nil, rssi: record.signalStrength.map { Int($0) },
      queued: record.queued, sent: record.framesSent, received: record.framesReceived,
      retransmitted: record.retransmitted, sinceSeconds: record.ageSeconds,
      lastFailure: record.lastFailure.map { Failure(step: LinkStepName($0.step), reason: $0.reason) })
  }
}

extension LinkStepName {
  init(_ step: Links.LinkRecord.Step) {
    switch step {
    case .dial(let step): self.init(step)
    case .waiting: self = .heard
    case .securing: self = .securing
    case .ready: self = .ready
    }
  }

  /// The step that a dial is at: the last one it has reached names what it does next.
  init(_ step: DialStep) {
    switch step {
    case .advertise, .scan: self = .heard
    case .connect: self = .connecting
    case .discoverService: self = .discoveringService
    case .discoverCharacteristic: self = .discoveringCharacteristic
    case .subscribe: self = .subscribing
    }
  }
}

extension ContactRecord {
  init(_ contact: Contact, ownID: PeerID) {
    self.init(
      id: contact.peer.description, name: contact.name.text, state: .init(contact.state),
      isBlocked: contact.isBlocked, isMeant: contact.isMeant, rivalID: contact.rival?.description,
      rivalFingerprint: contact.rival.flatMap { try? Fingerprint(ownID, $0).description },
      fingerprint: (try? Fingerprint(ownID, contact.peer).description) ?? "")
  }
}

extension ContactRecord.State {
  init(_ state: ContactState) {
    switch state {
    case .seen: self = .seen
    case .verified: self = .verified
    case .changed: self = .changed
    }
  }
}

extension ControlAPI.MessageState {
  init(_ state: Sessions.MessageState) {
    switch state {
    case .waiting: self = .waiting
    case .accepted, .received: self = .accepted
    case .sent: self = .sent
    case .delivered: self = .delivered
    case .read: self = .read
    case .expired: self = .expired
    }
  }
}

extension ControlError {
  /// - Parameter ownID: for the fingerprints of those who bear one name.
  init(_ error: SessionError, ownID: PeerID) {
    switch error {
    case .emptyText: self.init(.invalidParameters, "The text is empty.")
    case .tooLong(let count, let limit):
      self.init(.tooLong, "The text has \(count) bytes; a message carries \(limit).", limit: limit)
    case .unknownPeer: self.init(.notFound, "No peer is known by this name or ID.")
    case .noFreshKey:
      self.init(.notReady, "No card of this peer is here that may still be sealed to; it comes when the peer is heard.")
    case .tooManyWaiting(let limit): self.init(.notReady, "\(limit) messages wait for keys already.", limit: limit)
    case .contactChanged(let contact):
      self.init(
        .contactChanged, "Two keys or more bear this name; settle who is meant with contact.trust and an ID.",
        candidates: ([contact.peer] + contact.rivals).map {
          Self.candidate(KnownPeer(id: $0, name: contact.name), ownID: ownID)
        })
    case .blocked: self.init(.blocked, "This peer is blocked; contact.unblock takes it back.")
    case .contactsFull(let limit):
      self.init(
        .notReady, "\(limit) contacts are verified, trusted, blocked or written to, and none can make room.",
        limit: limit)
    case .storeFailed(let reason): self.init(.internal, "The message could not be kept on disk: \(reason)")
    case .primitiveFailed: self.init(.internal, "The cryptographic library refused.")
    case .tooManyPings(let limit): self.init(.notReady, "\(limit) pings are under way already.", limit: limit)
    case .noAnswer: self.init(.timeout, "No answer came in time.")
    }
  }

  /// A peer as it is listed where several bear one name: name, ID, and what the two people compare.
  static func candidate(_ peer: KnownPeer, ownID: PeerID) -> String {
    let digits = (try? Fingerprint(ownID, peer.id).description) ?? ""
    return "\(peer.name.text) \(peer.id) (fingerprint \(digits))"
  }
}
