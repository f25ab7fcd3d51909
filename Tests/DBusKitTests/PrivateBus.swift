import Glibc
import Lifecycle

/// A `dbus-daemon` of its own for one test, gone with it.
final class PrivateBus: Sendable {
  let address: String
  private let process: pid_t
  private let directory: String

  init?() {
    let directory = "/tmp/relaychat-bus-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
    guard unsafe mkdir(directory, 0o700) == 0 else { return nil }
    let configuration = """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
       "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig><type>custom</type><listen>unix:path=\(directory)/bus</listen><auth>EXTERNAL</auth>
      <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
      <allow own="*"/></policy></busconfig>
      """
    let file = "\(directory)/bus.conf"
    let descriptor = unsafe open(file, O_WRONLY | O_CREAT, 0o600)
    _ = unsafe write(descriptor, configuration, configuration.utf8.count)
    close(descriptor)
    var pid: pid_t = 0
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [
      strdup("dbus-daemon"), strdup("--nofork"), strdup("--config-file=\(file)"), nil,
    ]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    guard unsafe posix_spawnp(&pid, "dbus-daemon", nil, nil, &arguments, environ) == 0 else { return nil }
    self.directory = directory
    process = pid
    address = "unix:path=\(directory)/bus"
    // The socket is there when the daemon listens; connecting before would fail.
    for _ in 0..<500 {
      if unsafe access("\(directory)/bus", F_OK) == 0 { return }
      usleep(10_000)
    }
  }

  func kill() {
    Glibc.kill(process, SIGKILL)
    var status: Int32 = 0
    unsafe waitpid(process, &status, 0)
  }

  deinit {
    kill()
    for name in ["bus", "bus.conf"] { unsafe unlink("\(directory)/\(name)") }
    unsafe rmdir(directory)
  }
}
