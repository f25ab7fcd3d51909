import Arguments
import ControlAPI
import ControlClient
import Programs
import QRCodes

func listContacts(_ context: ProgramContext) async throws(ProgramFailure) {
  let client = try await context.connect()
  let contacts = try await asking(client.contacts)
  if try context.wantsJSON {
    for contact in contacts { try writeJSON(contact) }
    return
  }
  var table = TextTable(["name", "id", "state", ""])
  for contact in contacts {
    let rival = contact.rivalID.map { "the name is borne by \($0.prefix(8)) too; relaychat trust ID settles it" } ?? ""
    let state = contact.state.rawValue + (contact.isMeant ? ", meant" : "") + (contact.isBlocked ? ", blocked" : "")
    table.add([PeerText.shownName(contact.name), String(contact.id.prefix(8)), state, rival])
  }
  for line in table.lines { Output.line(line) }
  if contacts.isEmpty { Output.note("There are no contacts; whoever you write to becomes one.") }
}

/// Shows what to compare, as digits and as a code to scan; with `--yes` or a scanned text that is right, says that it
/// was compared.
func verifyContact(_ context: ProgramContext) async throws(ProgramFailure) {
  let peer = context.invocation.argument("PEER") ?? ""
  let isCompared = try context.reading { (settings) throws(SettingError) in try settings.flag("yes") }
  let scanned = try scannedText(context)
  if isCompared, scanned != nil {
    throw ProgramFailure("Give --yes or --scanned; each says that the keys were compared.", exitCode: ExitCode.usage)
  }
  let client = try await context.connect()
  let ownID = try await asking(client.status).peerID
  var contact = try await asking { () async throws(ControlClientError) in try await client.fingerprint(of: peer) }
  if let scanned { try check(scanned, against: contact, ownID: ownID) }
  let isVerified = isCompared || scanned != nil
  if isVerified {
    // By its ID: a name could be another peer's by now.
    let id = contact.id
    contact = try await asking { () async throws(ControlClientError) in try await client.trust(id, isVerified: true) }
  }
  let shown = VerificationText(ownID: ownID, contact: contact)
  if try context.wantsJSON {
    try writeJSON(VerificationRecord(contact: contact, scan: shown?.description))
    return
  }
  let name = PeerText.name(PeerReference(id: contact.id, name: contact.name))
  if isVerified {
    Output.line("\(name) is verified.")
    return
  }
  let groups = contact.fingerprint.split(separator: " ")
  for row in stride(from: 0, to: groups.count, by: 4) {
    Output.line("  " + groups[row..<min(row + 4, groups.count)].joined(separator: " "))
  }
  Output.note(
    "Compare these digits with \(name) over another way, then: relaychat verify \(contact.id.prefix(8)) --yes")
  if let shown { try draw(shown, context) }
}

/// A contact and the text that the other person scans: what `verify --json` prints.
private struct VerificationRecord: Encodable {
  let contact: ContactRecord
  let scan: String?

  enum CodingKeys: CodingKey { case scan }

  func encode(to encoder: any Encoder) throws {
    try contact.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(scan, forKey: .scan)
  }
}

private func scannedText(_ context: ProgramContext) throws(ProgramFailure) -> VerificationText? {
  guard let given = context.settings.text("scanned") else { return nil }
  guard let scanned = VerificationText(scanned: given == "-" ? try readStandardInput() : given) else {
    throw ProgramFailure(
      "That was not scanned from relaychat verify: it begins with relaychat:verify?", exitCode: ExitCode.usage)
  }
  return scanned
}

private func check(
  _ scanned: VerificationText, against contact: ContactRecord, ownID: String
) throws(ProgramFailure) {
  let name = PeerText.name(PeerReference(id: contact.id, name: contact.name))
  switch scanned.verdict(on: contact, ownID: ownID) {
  case .matches: return
  case .anotherPeer(let id):
    throw ProgramFailure(
      "Not verified: this is the code of \(id), and \(name) is known here as \(contact.id); one of them is an impostor, or you meant somebody else.",
      exitCode: ExitCode.scannedAnotherPeer)
  case .madeForAnother:
    throw ProgramFailure(
      "Not verified: the code of \(name) was made for another key than ours; let them show the one of relaychat verify \(ownID.prefix(8)).",
      exitCode: ExitCode.fingerprintDiffers)
  case .own:
    throw ProgramFailure(
      "That is the code that this node shows; scan the one on the screen of \(name).", exitCode: ExitCode.usage)
  }
}

/// On a terminal only: elsewhere nobody could scan it.
private func draw(_ shown: VerificationText, _ context: ProgramContext) throws(ProgramFailure) {
  let isUnwanted = try context.reading { (settings) throws(SettingError) in try settings.flag("no-qr") }
  guard !isUnwanted, Output.isTerminal(context.environment), let code = try? QRCode(shown.description) else { return }
  Output.note("Or let them scan this, and give what it says to: relaychat verify \(shown.id.prefix(8)) --scanned TEXT")
  for line in code.lines(isColoured: Output.isColoured(context.environment)) { Output.line(line) }
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
  default:
    let block =
      contact.isBlocked ? ", and stays blocked; relaychat unblock \(contact.id.prefix(8)) takes that back" : ""
    Output.line("\(name) is the one meant by that name\(block).")
  }
}
