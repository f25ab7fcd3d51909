internal import CLinux
import ControlAPI
import Glibc
import Streams
import Synchronization
internal import Verifying

/// One connection, shared by the event thread, which reads and writes, and the task that serves it.
final class ConnectedClient: Sendable {
  enum Input: Sendable {
    case request(ControlRequest)
    case fault(ControlFault)
  }

  let caller: ControlCaller
  let descriptor: Int32
  let inputs = Channel<Input>(capacity: ControlServerLimits.waitingRequests)
  let output = Protected(OutputQueue())
  /// What the client has subscribed to.
  let kinds = Protected<Set<ControlEventKind>>([])
  /// True while the event thread does not read from the client because `inputs` is full.
  let isPaused = Atomic(false)
  /// The connection has ended: nobody waits for answers.
  let isGone = Atomic(false)

  init(caller: ControlCaller, descriptor: Int32) {
    self.caller = caller
    self.descriptor = descriptor
  }

  /// The client asks nothing more: its task answers what is there and then ends the connection.
  ///
  /// - Returns: false when that was known, so the other direction is gone too.
  func finishAsking() -> Bool {
    guard !inputs.isFinished else { return false }
    inputs.finish()
    return true
  }

  /// The permission of the process at the other end; nil when it has none. The same user and root may do everything;
  /// members of the group of the socket may do what `groupPermission` says.
  static func caller(
    of descriptor: Int32, number: UInt64, group: UInt32?, groupPermission: ControlPermission
  ) -> ControlCaller? {
    var (process, user, mainGroup): (Int32, UInt32, UInt32) = (0, 0, 0)
    guard unsafe clinux_peer_credentials(descriptor, &process, &user, &mainGroup) == 0 else { return nil }
    let permission = permission(user: user, own: geteuid(), groupPermission: groupPermission) {
      guard let group else { return false }
      return mainGroup == group || supplementaryGroups(of: descriptor).contains(group)
    }
    guard let permission else { return nil }
    return ControlCaller(number: number, process: process, user: user, permission: permission)
  }

  /// What a process of `user` may do at the socket of a daemon that runs as `own`.
  static func permission(
    user: UInt32, own: UInt32, groupPermission: ControlPermission, isOfGroup: () -> Bool
  ) -> ControlPermission? {
    if user == own || user == 0 || ClientUser.isSkipped { return .admin }
    return isOfGroup() ? groupPermission : nil
  }

  private static func supplementaryGroups(of descriptor: Int32) -> [UInt32] {
    var capacity = 64
    while capacity <= ControlServerLimits.groupsOfClient {
      var groups = [UInt32](repeating: 0, count: capacity)
      let count = unsafe clinux_peer_groups(descriptor, &groups, Int32(clamping: capacity))
      if count >= 0 { return Array(groups.prefix(Int(count))) }
      guard errno == ERANGE else { return [] }
      capacity *= 4
    }
    return []
  }
}

/// A client is of this user, of root, or of the group of the socket.
enum ClientUser: Verification {
  static let name = "client-user"
}
