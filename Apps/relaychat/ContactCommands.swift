import Arguments
import ControlAPI
import ControlClient
import Programs

func listContacts(_ context: ProgramContext) async throws(ProgramFailure) {
  let client = try await context.connect()
  let contacts = try await asking(client.contacts)
  if try context.wantsJSON {
    for contact in contacts { try writeJSON(contact) }
    return
  }
  var table = TextTable(["name", "id", "state", ""])
  for contact in contacts {
    let rival = contact.rivalID.map { "the name is borne by \($0.prefix(8)) too" } ?? ""
    table.add([
      contact.name, String(contact.id.prefix(8)), contact.state.rawValue + (contact.isBlocked ? ", blocked" : ""),
      rival,
    ])
  }
  for line in table.lines { Output.line(line) }
  if contacts.isEmpty { Output.note("There are no contacts; whoever you write to becomes one.") }
}

/// Shows the digits to compare; with `--yes` says that they were.
func verifyContact(_ context: ProgramContext) async throws(ProgramFailure) {
  let peer = context.invocation.argument("PEER") ?? ""
  let isCompared = try context.reading { (settings) throws(SettingError) in try settings.flag("yes") }
  let client = try await context.connect()
  let contact = try await asking { () async throws(ControlClientError) in
    isCompared ? try await client.trust(peer, isVerified: true) : try await client.fingerprint(of: peer)
  }
  if try context.wantsJSON {
    try writeJSON(contact)
    return
  }
  let groups = contact.fingerprint.split(separator: " ")
  for row in stride(from: 0, to: groups.count, by: 4) {
    Output.line("  " + groups[row..<min(row + 4, groups.count)].joined(separator: " "))
  }
  let name = PeerText.name(PeerReference(id: contact.id, name: contact.name))
  if isCompared {
    Output.line("\(name) is verified.")
  } else {
    Output.note(
      "Compare these digits with \(name) over another way, then: relaychat verify \(contact.id.prefix(8)) --yes")
  }
}

func settleContact(_ context: ProgramContext) async throws(ProgramFailure) {
  let peer = context.invocation.argument("PEER") ?? ""
  let verb = context.invocation.command.name
  let client = try await context.connect()
  let contact = try await asking { () async throws(ControlClientError) in
    switch verb {
    case "block": try await client.setBlocked(true, peer)
    case "unblock": try await client.setBlocked(false, peer)
    default: try await client.trust(peer)
    }
  }
  if try context.wantsJSON {
    try writeJSON(contact)
    return
  }
  let name = PeerText.name(PeerReference(id: contact.id, name: contact.name))
  switch verb {
  case "block": Output.line("\(name) is blocked: nothing it writes is shown or passed on.")
  case "unblock": Output.line("\(name) is not blocked any more.")
  default: Output.line("\(name) is the one meant by that name.")
  }
}
