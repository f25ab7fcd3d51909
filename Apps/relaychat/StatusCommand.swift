import Arguments
import ControlAPI
import ControlClient
import Programs

func showStatus(_ context: ProgramContext) async throws(ProgramFailure) {
  let client = try await context.connect()
  let status = try await asking(client.status)
  if try context.wantsJSON {
    try writeJSON(status)
    return
  }
  let me = PeerReference(id: status.peerID, name: status.name)
  let icon = status.icon.isEmpty ? "" : TerminalText.neutralised(status.icon) + " "
  Output.line("\(icon)\(PeerText.name(me)), version \(status.version)")
  Output.line("up \(PeerText.age(status.uptimeSeconds))")
  Output.line(
    "\(status.linkCount) \(status.linkCount == 1 ? "link" : "links"), \(status.peerCount) "
      + (status.peerCount == 1 ? "peer" : "peers"))
  for transport in status.transports {
    Output.line(TerminalText.neutralised("transport \(transport.name) (\(transport.scheme)): \(transport.state)"))
  }
  if let store = status.store { for line in StoreText.lines(store) { Output.line(line) } }
  if let elsewhere = status.identityElsewhere {
    Output.line(
      "the keys of this node also run elsewhere, or did after they were copied "
        + "(\(TerminalText.neutralised(elsewhere.evidence)), \(elsewhere.count) times, last "
        + "\(PeerText.age(elsewhere.lastSecondsAgo)) ago): stop one of the two and give it new keys")
  }
  if let bytes = status.residentBytes { Output.line("memory \(bytes / 1_048_576) MB") }
  var table = TextTable(["counter", "count"])
  for (group, reasons) in status.counters.sorted(by: { $0.key < $1.key }) {
    for (reason, count) in reasons.sorted(by: { $0.key < $1.key }) where count > 0 {
      table.add(["\(group).\(reason)", "\(count)"])
    }
  }
  if table.lines.count > 1 { for line in table.lines { Output.line(line) } }
}

func listPeers(_ context: ProgramContext) async throws(ProgramFailure) {
  let client = try await context.connect()
  let peers = try await asking(client.peers)
  if try context.wantsJSON {
    for peer in peers { try writeJSON(peer) }
    return
  }
  var table = TextTable(["", "name", "id", "key", "hops", "heard", "state"])
  for peer in peers {
    let hops = peer.isNeighbour ? "neighbour" : peer.hops.map { "\($0)" } ?? "?"
    let state = peer.state.rawValue + (peer.isBot ? ", bot" : "")
    table.add([
      peer.icon, PeerText.shownName(peer.name), String(peer.id.prefix(8)), String(peer.fingerprintHex.prefix(16)), hops,
      PeerText.age(peer.lastHeardSecondsAgo) + " ago", state,
    ])
  }
  for line in table.lines { Output.line(line) }
  if peers.isEmpty { Output.note("Nobody has been heard yet.") }
}

func listLinks(_ context: ProgramContext) async throws(ProgramFailure) {
  let client = try await context.connect()
  let links = try await asking(client.links)
  if try context.wantsJSON {
    for link in links { try writeJSON(link) }
    return
  }
  var table = TextTable([
    "link", "peer", "transport", "address", "role", "step", "since", "frame", "sent", "received", "",
  ])
  for link in links {
    let failure = link.lastFailure.map { "failed at \($0.step.rawValue): \($0.reason)" } ?? ""
    table.add([
      link.id, link.peer.map(PeerText.name) ?? "?", link.transport, link.address, link.role.rawValue,
      link.step.rawValue, PeerText.age(link.sinceSeconds), link.frameSize.map { "\($0)" } ?? "", "\(link.sent)",
      "\(link.received)", failure,
    ])
  }
  for line in table.lines { Output.line(line) }
  if links.isEmpty { Output.note("There are no links; relaychat status shows whether a transport is powered on.") }
}

func showTopology(_ context: ProgramContext) async throws(ProgramFailure) {
  let client = try await context.connect()
  let map = try await asking(client.topology)
  if try context.wantsJSON {
    try writeJSON(map)
    return
  }
  let isGraph = try context.reading { (settings) throws(SettingError) in try settings.flag("dot") }
  for line in isGraph ? TopologyText.dot(map) : TopologyText.lines(map) { Output.line(line) }
  if !isGraph, map.nodes.count == 1 { Output.note("Nobody has been heard yet.") }
}
