import Arguments
import Glibc
import Programs

let program = Program(relaychatCommand, clock: ContinuousClock()) { $0.command.name == "listen" }

let code = await program.run { (context) throws(ProgramFailure) in
  // A command with commands of its own is meant by the first of its words.
  switch context.invocation.commands[1].name {
  case "store": try await store(context)
  case "search": try await searchMessages(context)
  case "export": try await exportMessages(context)
  case "backup", "restore", "wipe", "keys": try askDaemonProgram(context)
  case "status": try await showStatus(context)
  case "peers": try await listPeers(context)
  case "links": try await listLinks(context)
  case "topo": try await showTopology(context)
  case "doctor": try await diagnose(context)
  case "send": try await sendMessage(context)
  case "listen": try await listen(context)
  case "ping": try await ping(context)
  case "contacts": try await listContacts(context)
  case "verify": try await verifyContact(context)
  case "trust", "block", "unblock": try await settleContact(context)
  case let name: throw ProgramFailure("There is no command \(name).", exitCode: ExitCode.usage)
  }
}
exit(code)
