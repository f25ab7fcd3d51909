internal import ControlAPI
internal import ControlServer
internal import Identities
internal import Links
internal import Relaying
internal import Routing
internal import Sessions
internal import Streams
internal import WireFormat

/// Carries the news of the actors to the subscribers of the control socket, as events of its interface.
struct EventBridge: Sendable {
  let node: Node
  let events: ControlEvents

  func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.carrySession() }
      group.addTask { await self.carryLinks() }
      group.addTask { await self.carryReceptions() }
    }
  }

  private var time: Int64 { Int64(clamping: node.environment.time.wallMilliseconds()) }

  private func carrySession() async {
    guard let subscription = node.session.events.subscribe() else { return }
    for await element in subscription {
      switch element {
      case .lagged(let count): events.publish(ControlEvent(time: time, body: .lagged(LaggedEvent(count: count))))
      case .element(.message(let message)):
        guard events.isWanted(.message) else { continue }
        events.publish(ControlEvent(time: time, body: .message(await node.record(of: message))))
      case .element(.state(let id, let state)):
        events.publish(
          ControlEvent(
            time: time,
            body: .delivery(DeliveryEvent(messageID: id.description, state: ControlAPI.MessageState(state)))))
      case .element(.peer(let change)): await carry(change)
      case .element(.contactChanged(let contact)), .element(.contactRenamed(let contact)):
        events.publish(
          ControlEvent(time: time, body: .contact(ContactRecord(contact, ownID: node.session.ownID))))
      }
    }
  }

  private func carry(_ change: PeerChange) async {
    guard events.isWanted(.peer), let kind = PeerEvent.Change(change.kind),
      let peer = await node.session.peer(change.peer)
    else { return }
    let record = PeerRecord(peer, now: node.environment.time.now())
    events.publish(ControlEvent(time: time, body: .peer(PeerEvent(change: kind, peer: record))))
  }

  private func carryLinks() async {
    guard let subscription = node.links.notices.subscribe() else { return }
    for await element in subscription {
      guard events.isWanted(.link), case .element(let notice) = element else { continue }
      let names = await node.names()
      let records = await node.links.records()
      func record(_ matches: (Links.LinkRecord) -> Bool) -> ControlAPI.LinkRecord? {
        records.first(where: matches).map { ControlAPI.LinkRecord($0, names: names) }
      }
      let event: LinkEvent? =
        switch notice {
        case .dialReached(_, let address, _):
          record { $0.address == address }.map { LinkEvent(change: .step, link: $0) }
        case .dialFailed(_, let address, _, let reason):
          record { $0.address == address }.map { LinkEvent(change: .step, reason: reason, link: $0) }
        case .up(let link, _, _, _): record { $0.link == link }.map { LinkEvent(change: .up, link: $0) }
        case .moved(let link, _): record { $0.link == link }.map { LinkEvent(change: .step, link: $0) }
        case .unsteady(let link, let alarm):
          record { $0.link == link }.map {
            LinkEvent(
              change: .unsteady, reason: "\(alarm.reconnects) new links within a minute: \(alarm.sentence)", link: $0)
          }
        case .refused(let link, let reason):
          record { $0.link == link }.map { LinkEvent(change: .step, reason: reason.rawValue, link: $0) }
        case .down(let peer, let reason):
          LinkEvent(change: .down, reason: reason, link: .gone(peer, name: names[peer] ?? ""))
        }
      if let event { events.publish(ControlEvent(time: time, body: .link(event))) }
    }
  }

  private func carryReceptions() async {
    guard let subscription = node.relay.receptions.subscribe() else { return }
    for await element in subscription {
      switch element {
      case .lagged(let count):
        if events.isWanted(.reception) {
          events.publish(ControlEvent(time: time, body: .lagged(LaggedEvent(count: count))))
        }
      case .element(let reception):
        guard events.isWanted(.reception) else { continue }
        var name = ""
        if let neighbour = reception.neighbour { name = await node.session.peerName(neighbour) ?? "" }
        events.publish(
          ControlEvent(
            time: Int64(clamping: reception.wallMilliseconds),
            body: .reception(ReceptionEvent(reception, neighbourName: name))))
      }
    }
  }
}

extension ReceptionEvent {
  init(_ reception: Reception, neighbourName: String) {
    self.init(
      link: "link-\(reception.link)",
      neighbour: reception.neighbour.map { PeerReference(id: $0.description, name: neighbourName) }, direction: .in,
      packetKind: reception.kind.name, id: reception.id.description, hops: Int(reception.hops),
      size: reception.byteCount, verdict: reception.verdict.rawValue)
  }
}

extension PeerEvent.Change {
  /// Nil for what the interface does not tell.
  init?(_ kind: PeerChange.Kind) {
    switch kind {
    case .appeared: self = .appeared
    case .returned: self = .returned
    case .silent: self = .silent
    case .renamed: self = .renamed
    case .equivocated: return nil
    }
  }
}

extension ControlAPI.LinkRecord {
  /// The last that is heard of a neighbour.
  static func gone(_ peer: PeerID, name: String) -> ControlAPI.LinkRecord {
    ControlAPI.LinkRecord(
      id: "", transport: "", address: "", role: .central, step: .heard,
      peer: PeerReference(id: peer.description, name: name), frameSize: nil, rssi: nil, queued: 0, sent: 0,
      received: 0, retransmitted: 0, sinceSeconds: 0, lastFailure: nil)
  }
}
