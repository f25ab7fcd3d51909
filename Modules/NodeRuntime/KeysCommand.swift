internal import Archive
internal import Arguments
internal import Keying

/// `relaychatd keys`: the ways to the data key of a node.
enum KeysCommand {
  static let table = Command(
    "relaychatd keys", summary: "list, add, change and remove what opens a node",
    examples: [
      CommandExample("relaychatd keys", "lists the ways, each with its number"),
      CommandExample("relaychatd keys add --key passphrase --new file:/media/stick/relay.kek", "a second way"),
      CommandExample("relaychatd keys change --key passphrase --new passphrase", "another passphrase"),
      CommandExample("relaychatd keys remove 2 --key passphrase", "takes the second way away"),
    ],
    options: [
      OfflineCommand.stateOption,
      CommandOption("new", value: "HOLDER", help: "The new holder, in the words of --key."),
      CommandOption(
        "new-passphrase-fd", value: "NUMBER", help: "Read the new passphrase from this descriptor: its first line."),
    ] + KeySource.options,
    arguments: [
      CommandArgument("VERB", help: "list, add, change or remove.", isOptional: true),
      CommandArgument("NUMBER", help: "Of the way to remove, as listed.", isOptional: true),
    ],
    notes: ["Nothing that is sealed is written anew: all ways lead to the same data key."])

  @Sendable static func run(_ context: OfflineContext) throws(DaemonError) {
    let verb = context.invocation.argument("VERB") ?? "list"
    let custody = context.custody(context.statePath)
    guard verb != "list" else { return try list(custody, context) }
    let state: StateDirectory
    do { state = try StateDirectory(path: context.statePath) } catch { throw .state(error) }
    guard ["add", "change", "remove"].contains(verb) else { throw .noSuchVerb(verb) }
    guard let source = try context.keySource() else {
      throw .noKeyNamed(try OfflineContext.keying { () throws(KeyingError) in try custody.readSlots().kinds })
    }
    let added = try newSource(context, isNeeded: verb != "remove")
    let provider = try OfflineContext.keying { () throws(KeyingError) in
      try source.provider(prompt: "Passphrase of this node: ")
    }
    let keys = try OfflineContext.keying { () throws(KeyingError) in
      try custody.open(with: provider, isCounted: false)
    }
    let look = try StateLook.at(state, dataKey: keys.dataKey, storeID: keys.storeID, counter: keys.stateCounter)
    // What is refused changes nothing.
    let count = keys.slots.count
    guard verb == "change" || (verb == "add" ? count < KeyingLimits.slotCount : count > 1) else {
      throw .keying(.slotCount(count))
    }
    try OfflineRecord(state: state, look: look).make(with: keys) { (counter) throws(KeyingError) in
      switch (verb, added) {
      case ("add", let added?):
        try custody.addSlot(
          for: added.provider(prompt: "New passphrase: "), openedBy: provider, countingTo: counter)
      case ("change", let added?):
        try custody.replaceSlot(
          openedBy: provider, with: added.provider(prompt: "New passphrase: "), countingTo: counter)
      default:
        let number = (context.invocation.argument("NUMBER").flatMap { Int($0) } ?? 0) - 1
        let kinds = try custody.readSlots().slots.map(\.kind)
        guard kinds.indices.contains(number) else { throw .noSuchSlot(number) }
        try custody.removeSlot(number, of: kinds[number], openedBy: provider, countingTo: counter)
      }
    }
    try list(custody, context)
    withExtendedLifetime(state) {}
  }

  private static func newSource(_ context: OfflineContext, isNeeded: Bool) throws(DaemonError) -> KeySource? {
    guard isNeeded else { return nil }
    guard let text = context.settings.text("new") else { throw .noKeyChosen }
    guard
      let source = KeySource(
        text, descriptor: try context.descriptor("new-passphrase-fd"),
        isInsecureAllowed: try context.isSet("insecure-file-key"))
    else {
      throw .setting(context.settings.error("new", expected: "credential, credential:NAME, passphrase or file:PATH"))
    }
    return source
  }

  private static func list(_ custody: KeyCustody, _ context: OfflineContext) throws(DaemonError) {
    let kinds = try OfflineContext.keying { () throws(KeyingError) in
      guard try custody.inventory().hasSlotFile else { throw .notInitialised(directory: custody.directory) }
      return try custody.readSlots().slots.map(\.kind)
    }
    for (index, kind) in kinds.enumerated() { OfflineContext.say("\(index + 1)  \(KeyingError.name(kind))") }
  }
}
