import ControlAPI
import Streams

/// What a client may call now: `node.hello` comes first and once, and every method needs its permission.
struct ClientSession {
  private var isGreeted = false
  /// Long requests that run.
  let running: RunningCount = RunningCount()

  mutating func admit(_ call: ControlCall, permission: ControlPermission) throws(ControlError) {
    if case .hello(let hello) = call {
      guard hello.apiVersion == ControlAPILimits.apiVersion else {
        throw ControlError(
          .unsupportedVersion, "this node speaks version \(ControlAPILimits.apiVersion)",
          limit: ControlAPILimits.apiVersion)
      }
      isGreeted = true
      return
    }
    guard isGreeted else { throw ControlError(.notReady, "node.hello comes first") }
    guard permission >= call.method.permission else {
      throw ControlError(.permission, "this needs the permission \(call.method.permission.rawValue)")
    }
  }

  /// False when as many run as may.
  func startLong() -> Bool {
    running.withLock { count in
      guard count < ControlServerLimits.longRequests else { return false }
      count += 1
      return true
    }
  }
}

/// A number that tasks share.
final class RunningCount: Sendable {
  private let count = Protected(0)
  func withLock<Result: Sendable>(_ body: (inout Int) -> Result) -> Result { count.withLock(body) }
}
