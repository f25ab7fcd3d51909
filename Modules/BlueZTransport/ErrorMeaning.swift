package import DBusKit

/// What errors of BlueZ mean. Names are matched first, then words; the words changed with 5.62 and may again, so there is
/// always a way out.
extension DBusError {
  /// For people.
  package var sentence: String {
    switch self {
    case .remote(let name, let message): message.isEmpty ? name : message
    case .timedOut: "no answer in time"
    case .disconnected: "the bus is gone"
    case .queueFull: "too much waits for the bus"
    case .malformed(let what): "malformed: \(what)"
    case .unreachable(let reason): reason
    case .cancelled: "cancelled"
    }
  }

  private var shortName: Substring {
    guard case .remote(let name, _) = self else { return "" }
    return name.split(separator: ".").last ?? ""
  }

  private func says(_ text: String) -> Bool {
    guard case .remote(_, let message) = self else { return false }
    return message.lowercased().contains(text)
  }

  var isNotPermitted: Bool { shortName == "NotPermitted" }

  /// Whether the policy of the bus has refused the call.
  package var isDenial: Bool {
    guard case .remote(let name, _) = self else { return false }
    return name == DBusErrorName.accessDenied
  }

  var isInProgress: Bool { shortName == "InProgress" || says("in progress") }

  var outcome: AdapterPlan.Outcome {
    switch shortName {
    case "AlreadyExists", "DoesNotExist", "InProgress": .already
    case "Blocked", "AccessDenied", "NotAuthorized": .forbidden
    default: says("already") || says("no discovery started") ? .already : .refused
    }
  }
}

/// Why a connect failed, as far as it matters for what is done next.
enum ConnectFailure: Sendable, Hashable {
  /// It is no failure: there is, or soon will be, a connection.
  case connected
  /// Another dial is under way; later.
  case busy
  /// The controller holds no more.
  case limit
  case notPowered
  /// BlueZ has tried the classic bearer.
  case wrongBearer
  /// The device, or BlueZ, is gone.
  case gone
  /// Anything else: nothing was heard, the peer refused, interference. BlueZ has one name for most of it.
  case failed

  init(_ error: DBusError) {
    guard case .remote(let name, let message) = error else {
      self = error == .disconnected ? .gone : .failed
      return
    }
    let short = name.split(separator: ".").last ?? ""
    let text = message.lowercased()
    switch short {
    case "AlreadyConnected": self = .connected
    case "InProgress": self = .busy
    case "NotReady": self = .notPowered
    case "UnknownObject", "UnknownMethod", "NoReply", "ServiceUnknown", "NameHasNoOwner": self = .gone
    default:
      if text.contains("already-connected") || text.contains("already connected") {
        self = .connected
      } else if text.contains("concurrent-connection-limit") {
        self = .limit
      } else if text.contains("busy") || text.contains("in progress") {
        self = .busy
      } else if text.contains("not-powered") {
        self = .notPowered
      } else if text.contains("br-connection-canceled") {
        self = .failed
      } else if text.contains("br-connection") {
        self = .wrongBearer
      } else {
        self = .failed
      }
    }
  }
}

extension AdapterPlan.Action {
  package var sentence: String {
    switch self {
    case .power: "switching the adapter on"
    case .powerOff: "switching the adapter off, because listening is stuck,"
    case .registerApplication: "registering the service"
    case .registerAdvertisement: "advertising"
    case .unregisterAdvertisement: "withdrawing the advertisement"
    case .startDiscovery: "listening"
    case .stopDiscovery: "ending to listen"
    }
  }
}
