/// Why links end, in the words of the log.
enum EndReason {
  static let gone = "the connection is gone"
  static let anew = "the peer has begun anew"
  static let closed = "the peer has closed the link"
  static let silent = "no sign of life"
  static let stuck = "the peer grants no more room"
  static let garbage = "it writes what means nothing"
}

/// What this transport says in the log, with what it means and what a person can do about it: the table in the README is
/// made from here.
enum BlueZNotice: Sendable, Equatable {
  case noBus(reason: String)
  case busGone
  case notAllowed
  case notRunning
  case noAnswer(reason: String)
  case noAdapter(named: String?)
  case switchedOff
  case refused(AdapterPlan.Action, reason: String)
  case ceiling(Int)
  case linkEnded(address: String, reason: String)

  var sentence: String {
    switch self {
    case .noBus(let reason): "there is no system bus: \(reason)"
    case .busGone: "the bus is gone"
    case .notAllowed: "the bus does not let us speak to BlueZ: put this user into the group bluetooth"
    case .notRunning: "BlueZ is not running: start bluetooth.service"
    case .noAnswer(let reason): "BlueZ does not answer: \(reason)"
    case .noAdapter(let name): "there is no Bluetooth adapter" + (name.map { " \($0)" } ?? "") + "; plug one in"
    case .switchedOff: "the adapter is switched off: bluetoothctl power on, or set power-adapter=yes"
    case .refused(let action, let reason): "\(action.sentence) was refused: \(reason)"
    case .ceiling(let links): "the controller holds \(links) links"
    case .linkEnded(let address, let reason): "the link to \(address) has ended: \(reason)"
    }
  }

  /// For the README: what it means, and what to do.
  var explanation: (meaning: String, remedy: String) {
    switch self {
    case .noBus:
      (
        "the node looks again, after 1 s at first and 30 s at most",
        "`sudo apt install dbus`; in a container mount its socket"
      )
    case .busGone: ("the bus was restarted; the node connects again", "nothing")
    case .notAllowed:
      (
        "the policy of the bus asks for a group, as Debian 11 and older do",
        "`sudo usermod -aG bluetooth USER`, restart the node"
      )
    case .notRunning:
      ("nobody owns `org.bluez`; the node begins when somebody does", "`sudo systemctl enable --now bluetooth`")
    case .noAnswer:
      ("`bluetoothd` hangs; it is asked again when 25 s have brought no answer", "`sudo systemctl restart bluetooth`")
    case .noAdapter:
      (
        "BlueZ has none, or not the one that is meant; the node begins when it comes",
        "plug it in; `relaychat doctor` lists what is there"
      )
    case .switchedOff:
      ("it was off or went off; the node leaves it so", "`bluetoothctl power on`, or `power-adapter=yes`")
    case .refused(.power, _):
      ("mostly rfkill; tried again every 30 s", "`rfkill unblock bluetooth`")
    case .refused(.powerOff, _):
      ("listening was stuck for a minute; tried again in ten", "unplug the adapter and plug it in")
    case .refused(.registerApplication, _):
      ("without its service a node cannot be met; tried again", "`sudo systemctl restart bluetooth` if it stays")
    case .refused(.registerAdvertisement, _):
      (
        "all places are taken, or the controller cannot; tried with less in it, then again, and the node dials meanwhile",
        "end other programs that advertise"
      )
    case .refused(.unregisterAdvertisement, _): ("it was gone already", "nothing")
    case .refused(.startDiscovery, _):
      (
        "another start or stop is under way, or BlueZ is stuck; tried again",
        "switch the adapter off and on if it stays"
      )
    case .refused(.stopDiscovery, _): ("it had ended already", "nothing")
    case .ceiling:
      (
        "the controller took no more links; kept for this adapter, one more is tried after half an hour in which it was too few",
        "nothing, or a better adapter"
      )
    case .linkEnded(_, EndReason.gone):
      (
        "out of range, or the radio lost it; dialled again at the next sighting",
        "nothing; `relaychat links` if it comes over and over"
      )
    case .linkEnded(_, EndReason.anew): ("its daemon was restarted", "nothing")
    case .linkEnded(_, EndReason.closed): ("its daemon stopped, or keeps another link to us", "nothing")
    case .linkEnded(_, EndReason.silent), .linkEnded(_, EndReason.stuck):
      (
        "its daemon hangs or was killed: BlueZ keeps such connections; given up after 30 s at most",
        "look at the other node"
      )
    case .linkEnded(_, EndReason.garbage):
      ("it has our service and does not speak as a node does; disconnected", "look at the other device")
    case .linkEnded:
      ("what the words say; dialled again at the next sighting", "`relaychat doctor` if it comes over and over")
    }
  }

  /// One of each, with … for what varies.
  static let all: [BlueZNotice] =
    [
      .noBus(reason: "…"), .busGone, .notAllowed, .notRunning, .noAnswer(reason: "…"), .noAdapter(named: "…"),
      .switchedOff,
    ]
    + [
      .power("…"), .powerOff("…"), .registerApplication("…"), .registerAdvertisement("…", isBare: false),
      .unregisterAdvertisement("…"),
      .startDiscovery("…"), .stopDiscovery("…"),
    ].map { .refused($0, reason: "…") }
    + [
      EndReason.gone, EndReason.anew, EndReason.closed, EndReason.silent, EndReason.stuck, EndReason.garbage, "…",
    ].map { .linkEnded(address: "…", reason: $0) }

  /// The rows of the README.
  static var table: [String] {
    ["| the log says | it means | what to do |", "|---|---|---|"]
      + (all.map { ($0.sentence, $0.explanation) } + [("the controller holds … links", Self.ceiling(0).explanation)])
      .map {
        "| \($0.0) | \($0.1.meaning) | \($0.1.remedy) |"
      }
  }
}
