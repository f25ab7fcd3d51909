internal import ControlAPI
internal import ControlServer
internal import Identities
internal import Lifecycle
internal import Links
internal import Sessions
internal import Streams
internal import Telemetry
internal import Transports

/// What the control socket can ask of this node.
struct NodeService: ControlService {
  let node: Node
  let stop: Stop
  let version: String
  let startedAt: MonotonicTime
  let counters: CounterRegistry
  let vault: StateVault

  func handle(_ call: ControlCall, from caller: ControlCaller) async throws(ControlError) -> ControlResult {
    switch call {
    case .hello:
      let card = await node.session.ownCard
      return .hello(
        HelloAnswer(
          version: version, peerID: card.id.description, name: card.card.name.text,
          permissions: caller.permission.included))
    case .status: return .status(await status())
    case .stop:
      stop.request(.graceful)
      return .done
    case .listPeers: return .peers(await peers())
    case .topology: return .topology(await topology())
    case .listLinks: return .links(await links())
    case .sendMessage(let parameters): return .sent(try await send(parameters))
    case .messageStatus(let parameters): return .messageStatus(try await messageStatus(parameters))
    case .markRead(let parameters):
      let ids = try parameters.messageIDs.map { (text) throws(ControlError) in
        guard let id = MessageID(hex: text) else {
          throw ControlError(.invalidParameters, "A message ID has 32 hexadecimal digits.")
        }
        return id
      }
      do { try await node.session.markRead(ids) } catch {
        throw ControlError(error, ownID: node.session.ownID)
      }
      return .done
    case .listMessages(let parameters): return .messages(try await messages(limit: parameters.limit))
    case .ping(let parameters): return .ping(try await ping(parameters))
    case .subscribe:
      return .subscribed(SubscribeAnswer(peers: await peers(), links: await links(), cursor: 0))
    case .acknowledge: return .done
    case .listContacts:
      return .contacts(await node.session.allContacts.map { ContactRecord($0, ownID: node.session.ownID) })
    case .trustContact(let parameters):
      return .contact(
        try await settle(parameters.peer) { (peer) async throws(SessionError) in
          try await node.session.trust(peer, isVerified: parameters.isVerified ?? false)
        })
    case .blockContact(let parameters):
      return .contact(
        try await settle(parameters.peer) { (peer) async throws(SessionError) in
          try await node.session.setBlocked(true, peer)
        })
    case .unblockContact(let parameters):
      return .contact(
        try await settle(parameters.peer) { (peer) async throws(SessionError) in
          try await node.session.setBlocked(false, peer)
        })
    case .fingerprint(let parameters):
      let peer = try await resolve(parameters.peer)
      let contact = await node.session.contact(peer.id) ?? Contact(peer: peer.id, name: peer.name)
      return .contact(ContactRecord(contact, ownID: node.session.ownID))
    case .searchMessages(let parameters): return .page(try await search(parameters))
    case .pageMessages(let parameters): return .page(try await page(parameters))
    case .storeStatus: return .store(try await vault.record())
    case .storeProgress: return .storeProgress(StoreProgressAnswer(running: vault.progress.now))
    case .migrateStore(let parameters):
      return .store(try await vault.migrate(isImpatient: parameters.isImpatient ?? false))
    case .verifyStore: return .storeReport(try await vault.verify())
    case .rollBackStore: return .store(try await vault.rollBack())
    }
  }

  private func status() async -> StatusAnswer {
    let card = await node.session.ownCard
    let now = node.environment.time.now()
    let store = try? await vault.record()
    return StatusAnswer(
      version: version, uptimeSeconds: Double(now.milliseconds(since: startedAt)) / 1_000,
      peerID: card.id.description, name: card.card.name.text, icon: card.card.icon.text,
      transports: node.environment.transports.map { transport in
        StatusAnswer.Transport(
          name: transport.properties.name, scheme: transport.properties.scheme,
          state: transport.state.value.rawValue)
      },
      linkCount: await node.links.records().count { $0.isActive }, peerCount: await node.session.peers().count,
      counters: counters.snapshot(), statePhase: (store?.phase ?? .plain).rawValue,
      residentBytes: ProcessMemory.residentBytes(),
      store: store,
      identityElsewhere: StatusAnswer.IdentityElsewhere(node.copies.alarmNow, now: now))
  }

  // MARK: Messages

  private func send(_ parameters: SendParameters) async throws(ControlError) -> SendAnswer {
    let conversation: Conversation =
      parameters.to == Self.publicRoom ? .everyone : .peer(try await resolve(parameters.to).id)
    let message: StoredMessage
    do {
      message = try await node.session.send(
        parameters.text, to: conversation, isEcho: parameters.isEcho ?? false,
        isFromBot: parameters.isBot ?? parameters.isEcho ?? false)
    } catch {
      throw ControlError(error, ownID: node.session.ownID)
    }
    return SendAnswer(messageID: message.id.description, state: .init(message.state))
  }

  private func messageStatus(_ parameters: MessageStatusParameters) async throws(ControlError) -> MessageStatusAnswer {
    guard let id = MessageID(hex: parameters.messageID) else {
      throw ControlError(.invalidParameters, "A message ID has 32 hexadecimal digits.")
    }
    do {
      guard let message = try await node.session.message(id) else {
        throw ControlError(.notFound, "There is no message with this ID.")
      }
      return MessageStatusAnswer(messageID: id.description, state: .init(message.state))
    } catch let error as ControlError {
      throw error
    } catch {
      throw ControlError(.internal, "The archive does not answer.")
    }
  }

  private func messages(limit: Int) async throws(ControlError) -> [MessageRecord] {
    do {
      let messages = try await node.session.messages(limit: limit)
      var records: [MessageRecord] = []
      for message in messages { records.append(await node.record(of: message)) }
      return records
    } catch {
      throw ControlError(error, ownID: node.session.ownID)
    }
  }

  private func ping(_ parameters: PingParameters) async throws(ControlError) -> ControlAPI.PingAnswer {
    let peer = try await resolve(parameters.peer)
    do {
      let answer = try await node.session.ping(peer.id, timeout: .milliseconds(parameters.timeoutMilliseconds))
      var path: [String] = []
      for entry in answer.pathThere { path.append(await node.name(ofRouteEntry: entry)) }
      let (seconds, attoseconds) = answer.roundTrip.components
      return ControlAPI.PingAnswer(
        peer: PeerReference(id: peer.id.description, name: peer.name.text),
        roundTripMilliseconds: Double(seconds) * 1_000 + Double(attoseconds) / 1e15, hops: Int(answer.hopsThere),
        path: path)
    } catch {
      throw ControlError(error, ownID: node.session.ownID)
    }
  }

  // MARK: Contacts, peers and links

  private func settle(
    _ peer: String, _ change: (PeerID) async throws(SessionError) -> Contact
  ) async throws(ControlError) -> ContactRecord {
    let known = try await resolve(peer)
    do { return ContactRecord(try await change(known.id), ownID: node.session.ownID) } catch {
      throw ControlError(error, ownID: node.session.ownID)
    }
  }

  static let publicRoom = "#public"

  func resolve(_ text: String) async throws(ControlError) -> KnownPeer {
    if text.hasPrefix("#") {
      guard text != Self.publicRoom else {
        throw ControlError(.invalidParameters, "\(text) is a room; this needs a peer.")
      }
      throw ControlError(.invalidParameters, "There is no room \(text); the room of all is \(Self.publicRoom).")
    }
    switch await node.session.resolve(text) {
    case .peer(let peer): return peer
    case .unknown:
      guard await !isOwn(text) else { throw ControlError(.invalidParameters, "That is this node itself.") }
      throw ControlError(.notFound, "No peer is known by this name or ID.")
    case .ambiguous(let peers):
      throw ControlError(
        .ambiguous, "More than one peer is called so; use the ID.",
        candidates: peers.map { ControlError.candidate($0, ownID: node.session.ownID) })
    case .contested(let contact):
      throw ControlError(.contactChanged(contact), ownID: node.session.ownID)
    }
  }

  private func isOwn(_ text: String) async -> Bool {
    if PeerName.isLikeID(text) { return node.session.ownID.description.hasPrefix(text.lowercased()) }
    guard let name = try? PeerName(text) else { return false }
    return await node.session.ownCard.card.name == name
  }

  private func peers() async -> [PeerRecord] {
    let now = node.environment.time.now()
    return await node.session.peers().map { PeerRecord($0, now: now) }
  }

  private func links() async -> [ControlAPI.LinkRecord] {
    let names = await node.names()
    return await node.links.records().map { ControlAPI.LinkRecord($0, names: names) }
  }
}
