import Glibc

/// A real daemon process in a directory of its own, and whatever stands around it.
final class DaemonUnderTest {
  let directory: String
  let process: pid_t

  /// Starts `relaychatd` from beside this program and waits until it listens.
  init(name: String = "daemon", options: [String] = []) throws {
    var template = Array("/tmp/relaychat-bench.XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw RawPeer.Failure(what: "mkdtemp") }
    let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    self.directory = directory
    let program = Self.ownDirectory() + "/relaychatd"
    let arguments =
      [
        program, "--name", name, "--state", directory + "/state-" + name, "--socket", directory + "/" + name + ".ctl",
        "--transport", "local:\(directory)/air,name=\(name)", "--log-level", "error",
      ] + options
    process = try Self.spawn(program, arguments)
    for _ in 0..<2_000 {
      if unsafe access(directory + "/air/" + name + ".beacon", F_OK) == 0 { return }
      usleep(1_000)
    }
    throw RawPeer.Failure(what: "the daemon does not start")
  }

  deinit {
    kill(process, SIGTERM)
    var status: Int32 = 0
    unsafe waitpid(process, &status, 0)
    let remove = try? Self.spawn("/bin/rm", ["/bin/rm", "-rf", directory])
    if let remove { unsafe waitpid(remove, &status, 0) }
  }

  var air: String { directory + "/air" }

  /// Processor time used so far, in seconds, and memory that is resident, in megabytes.
  var usage: (processorSeconds: Double, residentMegabytes: Double) {
    let stat = Self.text("/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ") ?? []
    let ticks = stat.count > 12 ? (Double(stat[11]) ?? 0) + (Double(stat[12]) ?? 0) : 0
    let pages = Double(Self.text("/proc/\(process)/statm").split(separator: " ").dropFirst().first ?? "0") ?? 0
    return (ticks / Double(sysconf(Int32(_SC_CLK_TCK))), pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_000_000)
  }

  static func spawn(_ program: String, _ arguments: [String]) throws -> pid_t {
    var pid = pid_t()
    var pointers = unsafe arguments.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    defer { unsafe pointers.forEach { unsafe free($0) } }
    guard unsafe posix_spawn(&pid, program, nil, nil, pointers, environ) == 0 else {
      throw RawPeer.Failure(what: "\(program) cannot be started")
    }
    return pid
  }

  static func ownDirectory() -> String {
    var bytes = [CChar](repeating: 0, count: 4_096)
    let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
    let path = String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
  }

  private static func text(_ path: String) -> String {
    let descriptor = unsafe open(path, O_RDONLY)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1_024)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }
}
