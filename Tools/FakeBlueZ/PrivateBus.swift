internal import Glibc

/// A `dbus-daemon` of its own for one test, gone with it.
package final class PrivateBus: Sendable {
  package let address: String
  private let process: pid_t
  private let directory: String

  package enum Policy: Sendable {
    /// Everybody may do everything.
    case open
    /// A system bus with Debian's rules for BlueZ: what is not allowed there is not here either. Whoever runs this
    /// process takes the place of root, since nobody else is on the bus.
    case system
  }

  /// - Parameters:
  ///   - isDenying: whether nobody may speak to BlueZ, as where the policy asks for a group.
  ///   - isActivatable: whether the bus knows a service file of BlueZ: it is installed.
  package init?(_ policy: Policy = .open, isDenying: Bool = false, isActivatable: Bool = false) {
    let directory = "/tmp/relaychat-bus-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
    guard unsafe mkdir(directory, 0o700) == 0 else { return nil }
    let denial = isDenying ? "<deny send_destination=\"org.bluez\" send_type=\"method_call\"/>" : ""
    let services = isActivatable ? "<servicedir>\(directory)</servicedir>" : ""
    let configuration = """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
       "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig><type>custom</type><listen>unix:path=\(directory)/bus</listen><auth>EXTERNAL</auth>\(services)
      \(policy == .open ? Self.openRules : Self.systemRules)<policy context="mandatory">\(denial)</policy></busconfig>
      """
    let file = "\(directory)/bus.conf"
    Self.write(configuration, to: file)
    if isActivatable {
      Self.write("[D-BUS Service]\nName=org.bluez\nExec=/bin/false\n", to: "\(directory)/org.bluez.service")
    }
    // It prints its address when it listens, which is what is waited for.
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    defer { close(ends[0]) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    unsafe posix_spawn_file_actions_addclose(&actions, ends[0])
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    var pid: pid_t = 0
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [
      strdup("dbus-daemon"), strdup("--nofork"), strdup("--print-address=1"), strdup("--config-file=\(file)"), nil,
    ]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    let isStarted = unsafe posix_spawnp(&pid, "dbus-daemon", &actions, nil, &arguments, environ) == 0
    close(ends[1])
    guard isStarted else { return nil }
    var byte: UInt8 = 0
    guard unsafe read(ends[0], &byte, 1) == 1 else { return nil }
    self.directory = directory
    process = pid
    address = "unix:path=\(directory)/bus"
  }

  private static let openRules = """
    <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
    <allow own="*"/></policy>
    """

  private static var systemRules: String {
    let bus = "org.freedesktop.DBus"
    let callable = [
      "org.bluez.Agent1", "org.bluez.GattCharacteristic1", "org.bluez.GattDescriptor1", "org.bluez.LEAdvertisement1",
      "\(bus).ObjectManager", "\(bus).Properties",
    ]
    return """
      <policy context="default">
      <allow user="*"/><deny own="*"/><deny send_type="method_call"/><allow send_type="signal"/>
      <allow send_requested_reply="true" send_type="method_return"/>
      <allow send_requested_reply="true" send_type="error"/>
      <allow receive_type="method_call"/><allow receive_type="method_return"/>
      <allow receive_type="error"/><allow receive_type="signal"/>
      <allow send_destination="\(bus)" send_interface="\(bus)"/>
      <allow send_destination="\(bus)" send_interface="\(bus).Introspectable"/>
      <allow send_destination="\(bus)" send_interface="\(bus).Properties"/>
      <allow send_destination="org.bluez"/>
      </policy>
      <policy user="\(getuid())">
      <allow own="org.bluez"/>
      <allow send_destination="\(bus)" send_interface="\(bus).Debug.Stats"/>
      \(callable.map { "<allow send_interface=\"\($0)\"/>" }.joined())
      </policy>
      """
  }

  private static func write(_ text: String, to file: String) {
    let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    _ = unsafe Glibc.write(descriptor, text, text.utf8.count)
    close(descriptor)
  }

  package func kill() {
    Glibc.kill(process, SIGKILL)
    var status: Int32 = 0
    unsafe waitpid(process, &status, 0)
  }

  deinit {
    kill()
    for name in ["bus", "bus.conf", "org.bluez.service"] { unsafe unlink("\(directory)/\(name)") }
    unsafe rmdir(directory)
  }
}
