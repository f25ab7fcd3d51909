/// From facts to findings, layer by layer from the hardware up. Pure.
///
/// A layer is left out when one below it leaves nothing to be said about it, so the first fault is the one to mend.
package struct Diagnosis: Sendable {
  package let findings: [Finding]

  package init(_ facts: DiagnosisFacts) {
    var diagnosis = Examination(facts: facts)
    diagnosis.run()
    findings = diagnosis.findings
  }

  package var faults: [Finding] { findings.filter { $0.state == .fault } }

  /// Whether nothing is wrong but that no daemon runs.
  package var lacksDaemonOnly: Bool { !faults.isEmpty && faults.allSatisfy { $0.layer == .daemon } }
}

private struct Examination {
  let facts: DiagnosisFacts
  var findings: [Finding] = []

  private mutating func add(_ layer: Finding.Layer, _ state: Finding.State, _ fact: String, _ remedy: String? = nil) {
    findings.append(Finding(layer, state, fact, remedy: remedy))
  }

  mutating func run() {
    examineKernel()
    examineSwitches()
    if let adapters = examineBus(), let adapter = examineAdapter(adapters) {
      examinePower(adapter)
      if examineLowEnergy(adapter) { examineAdvertising(adapter) }
      examineService(adapter)
    }
    examineDaemon()
  }

  /// A bus of another machine or of a test may have adapters that this kernel does not know.
  private var hasAdapters: Bool {
    if case .answers(_, let adapters) = facts.bus { return !adapters.isEmpty }
    return false
  }

  private mutating func examineKernel() {
    let kernel = facts.kernel
    if !kernel.controllers.isEmpty {
      add(.kernel, .ok, "The kernel has \(kernel.controllers.joined(separator: ", ")).")
    } else if hasAdapters {
      return
    } else if kernel.hasBluetooth {
      add(
        .kernel, .fault, "The kernel knows of no Bluetooth controller.",
        "Plug one in; if one is in, journalctl -k -g -i bluetooth says which firmware or driver it lacks.")
    } else {
      add(
        .kernel, .fault, "The kernel has no Bluetooth: there is no /sys/class/bluetooth.",
        "sudo modprobe btusb; in a container or a virtual machine hand a controller through.")
    }
  }

  private mutating func examineSwitches() {
    guard !switches.isEmpty else { return }
    let hard = switches.filter(\.isHard)
    let soft = switches.filter(\.isSoft)
    if !hard.isEmpty {
      add(
        .rfkill, .fault, "A switch of the machine keeps \(names(hard)) off (hard block).",
        "Use the wireless switch or key, or allow Bluetooth in the firmware's set-up; no program can lift it.")
    } else if !soft.isEmpty {
      add(.rfkill, .fault, "The system keeps \(names(soft)) off (soft block).", "rfkill unblock bluetooth")
    } else {
      add(.rfkill, .ok, "No switch keeps the radio off.")
    }
  }

  /// Those that matter for the adapter in question: its own, and those of the machine.
  private var switches: [DiagnosisFacts.RadioSwitch] {
    guard case .answers(_, let adapters) = facts.bus, let chosen = chosen(adapters) else { return facts.switches }
    return facts.switches.filter { one in one.name == chosen.name || !adapters.contains { $0.name == one.name } }
  }

  /// The adapter that was asked for, else the one that the daemon was told to use.
  private var wanted: String? {
    if let wanted = facts.wanted { return wanted }
    let name = daemon?.transports.first { $0.scheme == "bluez" }?.name ?? ""
    return name.hasPrefix("bluez:") ? String(name.dropFirst("bluez:".count)) : nil
  }

  /// The adapter that is meant, else the first that can do what is needed.
  private func chosen(_ adapters: [DiagnosisFacts.Adapter]) -> DiagnosisFacts.Adapter? {
    guard let wanted else {
      return adapters.first { $0.hasServices && $0.hasAdvertising } ?? adapters.first
    }
    return adapters.first { $0.name == wanted || $0.address.uppercased() == wanted.uppercased() }
  }

  private func names(_ switches: [DiagnosisFacts.RadioSwitch]) -> String {
    switches.map(\.name).joined(separator: ", ")
  }

  /// - Returns: the adapters, when BlueZ answers.
  private mutating func examineBus() -> [DiagnosisFacts.Adapter]? {
    switch facts.bus {
    case .absent(let reason):
      add(
        .bus, .fault, "There is no system bus: \(Self.clean(reason)).",
        "sudo apt install dbus && sudo systemctl start dbus; in a container mount /run/dbus/system_bus_socket.")
      return nil
    case .withoutBlueZ(let isInstalled):
      add(.bus, .ok, "The bus answers.")
      let remedy =
        isInstalled
        ? "sudo systemctl enable --now bluetooth; systemctl status bluetooth says why it does not run."
        : "sudo apt install bluez && sudo systemctl enable --now bluetooth"
      add(
        .bluetoothd, .fault, "BlueZ \(isInstalled ? "does not run" : "is not installed"): nobody is org.bluez.", remedy)
      return nil
    case .denied(let owner):
      add(.bus, .ok, "The bus answers.")
      add(.bluetoothd, .ok, "BlueZ runs.")
      examine(owner)
      add(
        .policy, .fault, "The bus does not let this user speak to BlueZ.",
        "sudo usermod -aG bluetooth USER, with the user that runs relaychatd, and log in again.")
      return nil
    case .silent(let owner, let reason):
      add(.bus, .ok, "The bus answers.")
      add(
        .bluetoothd, .fault, "BlueZ runs and does not answer: \(Self.clean(reason)).",
        "sudo systemctl restart bluetooth")
      examine(owner)
      return nil
    case .answers(let owner, let adapters):
      add(.bus, .ok, "The bus answers.")
      add(.bluetoothd, .ok, "BlueZ runs and answers.")
      examine(owner)
      add(.policy, .ok, "This user may speak to BlueZ.")
      return adapters
    }
  }

  private mutating func examine(_ owner: DiagnosisFacts.Owner) {
    guard let process = owner.process, process != "bluetoothd" else { return }
    let user = owner.user.map { " of user \($0)" } ?? ""
    add(
      .name, .warning, "The name org.bluez is taken by \(Self.clean(process))\(user), which is not bluetoothd.",
      "Stop that program, then: sudo systemctl restart bluetooth")
  }

  private mutating func examineAdapter(_ adapters: [DiagnosisFacts.Adapter]) -> DiagnosisFacts.Adapter? {
    func listed(_ adapter: DiagnosisFacts.Adapter) -> String {
      "\(adapter.name) (\(adapter.address)\(adapter.maker.map { ", made by " + Self.clean($0) } ?? ""))"
    }
    guard !adapters.isEmpty else {
      add(
        .adapter, .fault, "BlueZ has no adapter.",
        facts.kernel.controllers.isEmpty
          ? "Plug one in; relaychatd starts by itself when it comes."
          : "sudo systemctl restart bluetooth; journalctl -u bluetooth says what is wrong with the controller.")
      return nil
    }
    guard let chosen = chosen(adapters) else {
      add(
        .adapter, .fault, "BlueZ has no adapter \(Self.clean(wanted ?? "")).",
        "Use one of these: \(adapters.map(listed).joined(separator: ", ")).")
      return nil
    }
    let others = wanted == nil && adapters.count > 1
    add(
      .adapter, .ok,
      others
        ? "BlueZ has \(adapters.map(listed).joined(separator: ", ")); \(chosen.name) would be used."
        : "BlueZ has \(listed(chosen)).")
    return chosen
  }

  private mutating func examinePower(_ adapter: DiagnosisFacts.Adapter) {
    if adapter.isPowered {
      add(.power, .ok, "\(adapter.name) is switched on.")
    } else if switches.contains(where: { $0.isSoft || $0.isHard }) {
      add(
        .power, .fault, "\(adapter.name) is switched off, and cannot be switched on.", "Mend rfkill first, see above.")
    } else {
      add(
        .power, .fault, "\(adapter.name) is switched off.",
        "bluetoothctl power on, or add power-adapter=yes to the transport.")
    }
  }

  private mutating func examineLowEnergy(_ adapter: DiagnosisFacts.Adapter) -> Bool {
    let missing = adapter.roles.map { roles in
      ["central", "peripheral"].filter { role in !roles.contains { $0 == role || $0 == "central-peripheral" } }
    }
    if !adapter.hasServices, !adapter.hasAdvertising {
      add(
        .lowEnergy, .fault, "\(adapter.name) does not speak Bluetooth LE, or LE is disabled.",
        "Set ControllerMode = dual in /etc/bluetooth/main.conf and restart bluetooth; if it is set, use another adapter."
      )
      return false
    }
    if let missing, !missing.isEmpty {
      add(
        .lowEnergy, .fault, "\(adapter.name) cannot be \(missing.joined(separator: " or ")).",
        "Use an adapter with both roles (Bluetooth 4.1 or newer).")
      return false
    }
    guard adapter.hasServices else {
      add(
        .lowEnergy, .fault, "BlueZ offers no services at \(adapter.name).",
        "Restart bluetooth; if that does not help, install BlueZ 5.55 or newer.")
      return false
    }
    add(.lowEnergy, .ok, "\(adapter.name) speaks Bluetooth LE in both roles.")
    return true
  }

  private mutating func examineAdvertising(_ adapter: DiagnosisFacts.Adapter) {
    guard adapter.hasAdvertising else {
      add(
        .advertising, .fault, "\(adapter.name) cannot advertise: it has no LEAdvertisingManager1.",
        "Ask again in ten seconds, it comes late; if it stays so, use another adapter or a newer kernel.")
      return
    }
    let refused = daemon?.refusedAdvertisements ?? 0
    if adapter.freeAdvertisements == 0, !adapter.hasOurService {
      let count = adapter.advertisements.map { "All \($0)" } ?? "All"
      add(
        .advertising, .fault, "\(count) places for advertisements at \(adapter.name) are taken by other programs.",
        "End the programs that advertise, or: sudo systemctl restart bluetooth")
    } else if refused > 0, adapter.hasOurService, adapter.advertisements == 0 {
      add(
        .advertising, .fault, "\(adapter.name) has refused to advertise \(refused) times, and nothing is in the air.",
        "End other programs that advertise or scan, and switch the adapter off and on; till then this node only dials.")
    } else {
      add(.advertising, .ok, "\(adapter.name) can advertise.")
    }
  }

  private var daemon:
    (transports: [DiagnosisFacts.Transport], links: [DiagnosisFacts.Link], refusedAdvertisements: UInt64)?
  {
    if case .answers(let transports, let links, let refused) = facts.daemon { return (transports, links, refused) }
    return nil
  }

  /// Whether a transport of our daemon may have registered its service at an adapter. A registration outlives the power.
  private func uses(_ transport: DiagnosisFacts.Transport, _ adapter: DiagnosisFacts.Adapter) -> Bool {
    guard transport.scheme == "bluez", ["poweredOn", "poweredOff", "resetting"].contains(transport.state) else {
      return false
    }
    return ["bluez", "bluez:\(adapter.name)", "bluez:\(adapter.address)".lowercased()]
      .contains(transport.name.lowercased())
  }

  /// Our service at the adapter, and our daemon not there: it is another's.
  private mutating func examineService(_ adapter: DiagnosisFacts.Adapter) {
    guard adapter.hasOurService, daemon?.transports.contains(where: { uses($0, adapter) }) != true else { return }
    add(
      .name, .warning, "Another relaychatd offers its service at \(adapter.name).",
      "Speak to that one with --socket, stop it, or give each an adapter of its own.")
  }

  private mutating func examineDaemon() {
    switch facts.daemon {
    case .absent(let socket):
      add(
        .daemon, .fault, "No daemon answers on \(Self.clean(socket)).",
        "relaychatd --transport bluez: &, or sudo systemctl start relaychatd")
    case .denied(let socket):
      add(
        .daemon, .fault, "This user may not use the socket \(Self.clean(socket)).",
        "sudo usermod -aG relaychat $USER, and log in again.")
    case .failed(let reason):
      add(.daemon, .fault, Self.clean(reason), "Its log says more: journalctl -u relaychatd")
    case .answers(let transports, let links, _):
      add(.daemon, .ok, "The daemon answers.")
      examine(transports)
      examine(links)
    }
  }

  private mutating func examine(_ transports: [DiagnosisFacts.Transport]) {
    let ours = transports.filter { $0.scheme == "bluez" }
    guard !ours.isEmpty else {
      add(.transport, .warning, "The daemon does not use Bluetooth.", "Start it with --transport bluez:")
      return
    }
    for one in ours {
      let name = Self.clean(one.name)
      switch one.state {
      case "poweredOn": add(.transport, .ok, "The transport \(name) works.")
      case "poweredOff":
        add(.transport, .fault, "The transport \(name) waits for its adapter to be switched on.", "See power above.")
      case "unauthorized":
        add(
          .transport, .fault, "The user of the daemon may not speak to BlueZ.",
          "sudo usermod -aG bluetooth USER, with the user that runs relaychatd, and restart it.")
      case "resetting":
        add(
          .transport, .warning, "The transport \(name) is starting.",
          "Ask again in ten seconds; if it stays so, the daemon's log says what was refused.")
      default:
        add(.transport, .fault, "The transport \(name) has nothing to use.", "Mend the first fault above.")
      }
    }
  }

  private mutating func examine(_ links: [DiagnosisFacts.Link]) {
    let missed = links.count { $0.hasMissed }
    guard missed >= DiagnosingLimits.failedDials, !links.contains(where: { $0.isDialled && $0.isReady }) else {
      if links.contains(where: \.isReady) { add(.dialling, .ok, "There are links.") }
      return
    }
    if links.contains(where: { !$0.isDialled && $0.isReady }) {
      add(
        .dialling, .warning, "Nobody that is dialled is reached while others are connected to us.",
        "This controller or its driver does not dial then: nothing is lost, others dial us; a newer kernel may mend it."
      )
    } else {
      add(
        .dialling, .fault,
        "\(missed) peers are heard and none is reached: this kernel may dial only while it discovers.",
        "bluetoothctl --timeout 120 scan on, and relaychat links meanwhile; if that helps, install a newer kernel.")
    }
  }

  /// Text from elsewhere: one line, not too long, without a full stop.
  private static func clean(_ text: String) -> String {
    let line = text.prefix(DiagnosingLimits.charactersOfText).split(whereSeparator: \.isNewline).joined(separator: " ")
    return line.hasSuffix(".") ? String(line.dropLast()) : line
  }
}
