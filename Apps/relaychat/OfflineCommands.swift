import Arguments
import Programs

// What is done to a state directory is done by relaychatd, which knows its files: these commands hand it the words.

private let state = CommandOption(
  "state", short: "s", value: "DIRECTORY", help: "Where the node is kept.", environment: "RELAYCHAT_STATE")
private let key = CommandOption(
  "key", value: "HOLDER", help: "What opens the node: credential, credential:NAME, passphrase or file:PATH.",
  environment: "RELAYCHAT_KEY")
private let keyDescriptor = CommandOption(
  "passphrase-fd", value: "NUMBER", help: "Read the passphrase of the node from this descriptor: its first line.")
private let backupDescriptor = CommandOption(
  "backup-passphrase-fd", value: "NUMBER",
  help: "Read the passphrase of the backup from this descriptor: its first line.")
private let insecure = CommandOption("insecure-file-key", help: "The key file may lie beside what it protects.")

let backupCommand = Command(
  "backup", summary: "write the node into one sealed file",
  examples: [
    CommandExample("relaychat backup node.backup --key passphrase", "asks for the passphrase of the backup")
  ],
  options: [state, key, keyDescriptor, backupDescriptor, insecure],
  arguments: [CommandArgument("FILE", help: "Where there is no file yet.")],
  notes: ["A daemon may run meanwhile. relaychatd backup --help says what is in the file."])

let restoreCommand = Command(
  "restore", summary: "make a node of a backup",
  examples: [
    CommandExample("relaychat restore node.backup", "where there is no node yet")
  ],
  options: [state, key, keyDescriptor, backupDescriptor, insecure],
  arguments: [CommandArgument("FILE", help: "What relaychat backup has written.")])

let wipeCommand = Command(
  "wipe", summary: "remove the node from the disk, keys first",
  examples: [CommandExample("relaychat wipe --yes --also ~/relay.kek", "stop the daemon first")],
  options: [
    state, CommandOption("yes", help: "It is meant."),
    CommandOption("also", value: "FILE", help: "The key file or credential too.", isRepeatable: true),
  ])

let keysCommand = Command(
  "keys", summary: "list, add, change and remove what opens the node",
  examples: [
    CommandExample("relaychat keys", "lists the ways, each with its number"),
    CommandExample("relaychat keys change --key passphrase --new passphrase", "another passphrase"),
  ],
  options: [
    state, key, keyDescriptor, insecure,
    CommandOption("new", value: "HOLDER", help: "The new holder, in the words of --key."),
    CommandOption(
      "new-passphrase-fd", value: "NUMBER", help: "Read the new passphrase from this descriptor: its first line."),
  ],
  arguments: [
    CommandArgument("VERB", help: "list, add, change or remove.", isOptional: true),
    CommandArgument("NUMBER", help: "Of the way to remove.", isOptional: true),
  ])

/// Becomes relaychatd, with what the command was told; returns only when there is none.
func askDaemonProgram(_ context: ProgramContext) throws(ProgramFailure) {
  let command = context.invocation.commands[1]
  var words = [command.name]
  for argument in command.arguments { words += context.invocation.arguments[argument.name] ?? [] }
  for option in command.options {
    for value in context.invocation.options[option.name] ?? [] {
      words += option.value == nil ? ["--" + option.name] : ["--\(option.name)=\(value)"]
    }
  }
  throw DaemonProgram.become(words)
}
