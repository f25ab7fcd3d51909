import Glibc
import Primitives
import TestKit
import Testing

@testable import NodeRuntime

/// The shipped daemon with a sealed store, and what its machine writes when it dies as programs with a fault do.
@Suite(.timeLimit(.minutes(2)), .serialized) struct CoreFileTests {
  private typealias Process = ProcessThreatTests

  /// Ends a process by SIGABRT.
  ///
  /// - Returns: whether the kernel says that it made a core.
  private func abort(_ number: pid_t) -> Bool {
    kill(number, SIGABRT)
    var status: Int32 = 0
    while unsafe waitpid(number, &status, 0) < 0 && errno == EINTR {}
    #expect(status & 0x7F == SIGABRT, "it died of something else: \(status)")
    return status & 0x80 != 0
  }

  private func limit(_ number: pid_t) -> [String] {
    let limits = String(decoding: Process.contents("/proc/\(number)/limits"), as: UTF8.self)
    let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") } ?? ""
    return core.split(separator: " ").dropFirst(4).prefix(2).map(String.init)
  }

  private func names(_ directory: String) -> Set<String> {
    var names: Set<String> = []
    guard let listing = unsafe opendir(directory) else { return names }
    defer { unsafe closedir(listing) }
    while let entry = unsafe readdir(listing) {
      names.insert(
        unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
          unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        })
    }
    return names
  }

  /// The daemon is given every right to write one: no limit of its starter, and a working directory of its own. The crash
  /// reports of the Swift runtime are off, as in its unit.
  @Test func threat18_aSealedDaemonThatIsAbortedLeavesNoCoreFile() throws {
    let binaries = try #require(Process.binaries, "the programs lie beside the tests")
    let user = Process.daemonUser
    let base = "/tmp/rc-core-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
    defer { _ = try? Process.run("rm -r \(base)") }
    let setUp = """
      umask 077 && mkdir \(base) && cd \(base) && mkdir cwd other air home \
      && od -An -N32 -tx1 /dev/urandom | tr -d ' \\n' > key && chown -R \(user) .
      """
    try #require(try Process.run(setUp) == 0)
    try #require(
      try Process.run("\(binaries)/relaychatd init --state \(base)/home/state --key file:\(base)/key", as: user) == 0)

    let ready = try Process.ReadySocket(base + "/notify")
    let daemon = try Process.spawn(
      """
      cd \(base)/cwd; ulimit -c unlimited 2> /dev/null; SWIFT_BACKTRACE=enable=no NOTIFY_SOCKET=\(ready.path) \
      exec \(binaries)/relaychatd --state \(base)/home/state \
      --key file:\(base)/key --socket \(base)/home/control.sock --name one --transport local:path=\(base)/air \
      > /dev/null 2>&1
      """, as: user)
    try #require(ready.hasHeard())
    let status = "\(binaries)/relaychat --socket \(base)/home/control.sock store status"
    try #require(try Process.run("\(status) 2> /dev/null | grep -q '^store sealed'", as: user) == 0)
    #expect(limit(daemon) == ["0", "0"], "and can be raised by nobody without rights")
    #expect(!abort(daemon), "the kernel says that it has made a core file")
    #expect(names("\(base)/cwd") == [".", ".."])

    // The same machine makes one of a program that does not forbid it, unless its own limits do.
    let other = try Process.spawn("cd \(base)/other; ulimit -c unlimited && exec sleep 100", as: user)
    while Process.contents("/proc/\(other)/comm") != Array("sleep\n".utf8) {
      if waitpid(other, nil, WNOHANG) == other { return }
      sched_yield()
    }
    let isAllowed = limit(other).first == "unlimited"
    let hasDumped = abort(other)
    #expect(hasDumped || !isAllowed || Process.contents("/proc/sys/kernel/core_pattern") == [10])
  }
}
