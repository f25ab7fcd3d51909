package import ControlAPI

/// Who makes a call.
package struct ControlCaller: Sendable, Equatable {
  /// Of the connection; never used twice while the server runs.
  package let number: UInt64
  package let process: Int32
  package let user: UInt32
  package let permission: ControlPermission

  package init(number: UInt64, process: Int32, user: UInt32, permission: ControlPermission) {
    self.number = number
    self.process = process
    self.user = user
    self.permission = permission
  }
}

/// What stands behind the control socket.
///
/// The server has checked, before it calls, that the call is well formed and permitted and that `node.hello` came
/// first with a version it speaks. Calls of one client come one after another, except pings, of which some run side
/// by side; the task is cancelled when the client has gone. In the answer to `hello` the server sets the permissions.
///
/// For `events.subscribe` the server starts to collect events before it calls and sends them after the answer, so that
/// nothing is lost between the snapshot and the first event.
package protocol ControlService: Sendable {
  func handle(_ call: ControlCall, from caller: ControlCaller) async throws(ControlError) -> ControlResult
}
