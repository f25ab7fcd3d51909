import Arguments
import Programs

private let peerArgument = CommandArgument("PEER", help: "An ID, the beginning of one, or a name.")

let relaychatCommand = Command(
  "relaychat", summary: "talk to the mesh from the command line",
  examples: [
    CommandExample("relaychat send '#public' Hello, everybody", "say something to all in reach"),
    CommandExample("relaychat send --to Ann See you at six", "write to one peer"),
    CommandExample("relaychat listen", "show messages as they come"),
    CommandExample("relaychat peers", "who is there"),
    CommandExample("relaychat ping Ann", "how far somebody is"),
    CommandExample("relaychat doctor", "why nobody is there"),
  ],
  options: CommonOptions.all + [CommonOptions.json],
  subcommands: [
    Command(
      "status", summary: "show how the daemon is doing",
      examples: [CommandExample("relaychat status --json", "the same for programs, with all counters")]),
    Command(
      "peers", summary: "list the peers that the node knows",
      examples: [CommandExample("relaychat peers", "name, icon, key, and how far each is")]),
    Command(
      "links", summary: "list the links of the node",
      examples: [CommandExample("relaychat links", "which step each has reached, and why one failed")]),
    Command(
      "topo", summary: "draw the mesh as the node knows it",
      examples: [
        CommandExample("relaychat topo", "a tree from this node outwards"),
        CommandExample("relaychat topo --dot | dot -Tsvg > mesh.svg", "a picture, with Graphviz"),
      ],
      options: [CommandOption("dot", help: "Write a graph in the language of Graphviz.")],
      notes: [
        "Links of this node are certain. What lies beyond is what relays have written into the routes of messages."
      ]),
    doctorCommand,
    Command(
      "send", summary: "send a message",
      examples: [
        CommandExample("relaychat send '#public' Hello, everybody", "to the public room"),
        CommandExample("relaychat send --to 1a2b3c4d Hello", "to one peer: an ID, the beginning of one, or a name"),
        CommandExample("echo Hello | relaychat send --to Ann -", "with the text from standard input"),
      ],
      options: [CommandOption("to", value: "PEER", help: "Send to this peer; then all words are the text.")],
      arguments: [
        CommandArgument("WORDS", help: "#public and the text, or with --to the text; - reads it.", isRepeatable: true)
      ],
      notes: ["The message is on the disk of the node when the command ends. Its ID is printed."]),
    Command(
      "listen", summary: "show messages and peers as they come",
      examples: [
        CommandExample("relaychat listen", "until Ctrl-C"),
        CommandExample("relaychat listen --recent 20", "begin with the last 20 messages"),
        CommandExample("relaychat listen --all --json", "every event, for programs"),
      ],
      options: [
        CommandOption("all", short: "a", help: "Show links and receptions too."),
        CommandOption("read", help: "Tell the authors of personal messages that you have seen them."),
        CommandOption("recent", value: "COUNT", help: "Begin with this many older messages."),
        CommandOption("count", short: "n", value: "COUNT", help: "End after this many messages."),
      ]),
    Command(
      "ping", summary: "measure the way to a peer",
      examples: [CommandExample("relaychat ping Ann", "time, hops, and the relays on the way")],
      options: [
        CommandOption(
          "timeout", value: "SECONDS", help: "How long the answer may take.", defaultValue: "10",
          environment: "RELAYCHAT_PING_TIMEOUT")
      ],
      arguments: [peerArgument]),
    Command(
      "contacts", summary: "list whom you have to do with",
      examples: [CommandExample("relaychat contacts", "who is verified, changed or blocked")]),
    Command(
      "verify", summary: "compare fingerprints with a peer",
      examples: [
        CommandExample("relaychat verify Ann", "the digits that both of you must see, and a code for Ann to scan"),
        CommandExample("relaychat verify Ann --yes", "they are the same: from now on Ann is verified"),
        CommandExample("zbarcam --raw -1 | relaychat verify Ann --scanned -", "scan the code on Ann's screen"),
      ],
      options: [
        CommandOption("yes", help: "The digits were compared and are the same."),
        CommandOption(
          "scanned", value: "TEXT",
          help: "What the code on the peer's screen says; - reads it. Right, it verifies; wrong, it refuses."),
        CommandOption("no-qr", help: "Leave out the code to scan, which is drawn on terminals only."),
      ],
      arguments: [peerArgument],
      notes: [
        "The code says relaychat:verify?id=ID&check=DIGITS: the full ID of who shows it and the digits of both. Nothing "
          + "in it is secret. --json has it as scan.",
        "Exit codes besides: 10 the scanned code was made for another key than ours, 11 it is of another peer.",
      ]),
    Command(
      "trust", summary: "say who is meant by a name",
      examples: [CommandExample("relaychat trust 1a2b3c4d", "settles that another key bears a contact's name")],
      arguments: [peerArgument]),
    Command(
      "block", summary: "neither show nor pass on what a peer writes",
      examples: [CommandExample("relaychat block 1a2b3c4d", "by its ID, so that no namesake is meant")],
      arguments: [peerArgument]),
    searchCommand,
    exportCommand,
    storeCommand,
    backupCommand,
    restoreCommand,
    wipeCommand,
    keysCommand,
    Command(
      "unblock", summary: "take a block back",
      examples: [CommandExample("relaychat unblock 1a2b3c4d", "hear it again")],
      arguments: [peerArgument]),
  ],
  notes: [CommonOptions.exitCodes, CommonOptions.stateExitCodes])
