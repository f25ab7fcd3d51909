import Bytes
import Glibc
import Identities
import Lifecycle
import Links
import Primitives
import Sessions
import Storing
import Telemetry
import TestKit
import Testing

@testable import NodeRuntime

/// A real daemon, and other processes and users on its machine. Names begin with the row of the threat.
///
/// As root the daemon runs as a user of its own, so that what belongs to root and what to the daemon can be told apart;
/// otherwise as whoever runs the tests.
@Suite(.timeLimit(.minutes(2)), .serialized) struct ProcessThreatTests {
  static let daemonUser: UInt32 = geteuid() == 0 ? 65_534 : geteuid()
  static let otherUser: UInt32 = 65_533
  static var binaries: String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let size = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    let own = String(decoding: buffer[..<max(0, size)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard let slash = own.lastIndex(of: "/") else { return nil }
    let directory = String(own[..<slash])
    return unsafe access(directory + "/relaychatd", X_OK) == 0 ? directory : nil
  }

  /// Bytes of a file, `/proc` included.
  static func contents(_ path: String) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let size = unsafe read(descriptor, &chunk, chunk.count)
      guard size > 0 else { return bytes }
      bytes += chunk[..<size]
    }
  }

  static func facts(_ path: String) -> (user: UInt32, mode: UInt32)? {
    var facts = stat()
    guard unsafe lstat(path, &facts) == 0 else { return nil }
    return (facts.st_uid, facts.st_mode & 0o777)
  }

  /// Starts a line of shell, as another user where that is asked and possible.
  static func spawn(_ line: String, as user: UInt32? = nil) throws -> pid_t {
    var words = ["/bin/sh", "-c", line]
    if let user, user != geteuid() {
      words = ["/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"] + words
    }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var mask = sigset_t()
    unsafe sigemptyset(&mask)
    unsafe posix_spawnattr_setsigmask(&attributes, &mask)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let pointers = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    var number: pid_t = 0
    let path = unsafe strdup("PATH=/usr/bin:/bin")
    defer { unsafe free(path) }
    let environment = unsafe [path, nil]
    try #require(unsafe posix_spawn(&number, words[0], nil, &attributes, pointers, environment) == 0)
    return number
  }

  @discardableResult
  static func wait(_ number: pid_t) -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(number, &status, 0) < 0 && errno == EINTR {}
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : -1
  }

  static func run(_ line: String, as user: UInt32? = nil) throws -> Int32 { wait(try spawn(line, as: user)) }

  /// Where a daemon says that it is ready (sd_notify(3)); every user may write to it.
  final class ReadySocket {
    let path: String
    private let descriptor: Int32

    init(_ path: String) throws {
      self.path = path
      let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      self.descriptor = descriptor
      var limit = timeval(tv_sec: 60, tv_usec: 0)
      unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      try #require(unsafe try UnixSocketAddress(path: path).withPointer { unsafe bind(descriptor, $0, $1) } == 0)
      try #require(unsafe chmod(path, 0o666) == 0)
    }

    deinit { close(descriptor) }

    /// Returns when the daemon says that it is ready, or after a minute of silence.
    func hasHeard() -> Bool {
      var buffer = [UInt8](repeating: 0, count: 1_024)
      while true {
        let size = unsafe recv(descriptor, &buffer, buffer.count, 0)
        guard size > 0 else { return false }
        if String(decoding: buffer[..<size], as: UTF8.self).contains("READY=1") { return true }
      }
    }
  }

  /// A daemon that was told to say everything, in a directory of its own.
  final class RunningDaemon {
    let home: String
    let number: pid_t
    var socket: String { home + "/run/control.sock" }
    var log: [UInt8] { ProcessThreatTests.contents(home + "/log") }

    /// Returns when it says that it is ready.
    init(_ name: String, in base: String, keys: [UInt8], community: String) async throws {
      let binaries = try #require(ProcessThreatTests.binaries)
      home = base + "/" + name
      let user = ProcessThreatTests.daemonUser
      try #require(unsafe mkdir(home, 0o700) == 0 && mkdir(home + "/state", 0o700) == 0)
      let store = try PlainStore(path: home + "/state/plain.db")
      try await NodeIdentity.save(Secret(copying: keys.rawSpan), sequence: 1, in: store)
      withExtendedLifetime(store) {}
      try #require(
        try ProcessThreatTests.run(
          "umask 077 && printf %s '\(community)' > \(home)/community && chown -R \(user) \(home)") == 0)
      let ready = try ReadySocket(home + "-notify")
      number = try ProcessThreatTests.spawn(
        """
        NOTIFY_SOCKET=\(ready.path) exec \(binaries)/relaychatd --name \(name) --state \(home)/state \
        --socket \(home)/run/control.sock --community-key \(home)/community --log-level trace \
        --transport local:path=\(base)/air 2> \(home)/log
        """, as: user)
      try #require(ready.hasHeard(), "\(String(decoding: log, as: UTF8.self))")
    }

    func relaychat(_ words: String, as user: UInt32? = nil) throws -> Int32 {
      let binaries = try #require(ProcessThreatTests.binaries)
      return try ProcessThreatTests.run(
        "exec \(binaries)/relaychat --socket \(socket) \(words) > /dev/null 2>&1", as: user)
    }

    func stop() {
      kill(number, SIGTERM)
      ProcessThreatTests.wait(number)
    }
  }

  private static func withBase(_ body: (String) async throws -> Void) async throws {
    let base = "/tmp/rc-threat-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
    try #require(unsafe mkdir(base, 0o711) == 0 && chmod(base, 0o711) == 0)
    try #require(unsafe mkdir(base + "/air", 0o700) == 0 && chown(base + "/air", daemonUser, gid_t.max) == 0)
    do { try await body(base) } catch {
      _ = try run("rm -r \(base)")
      throw error
    }
    _ = try run("rm -r \(base)")
  }

  private static func exported(_ keys: borrowing IdentityKeys) throws -> [UInt8] {
    let secret = try keys.export()
    return [UInt8](copying: secret.bytes)
  }

  // MARK: 18

  /// A secret in every form in which it could be written.
  struct Needle {
    var name: String
    var forms: [[UInt8]]

    init(_ name: String, _ secret: [UInt8]) {
      self.name = name
      let hex = Hex.encode(secret)
      forms = [secret, Array(hex.utf8), Array(hex.uppercased().utf8), Array(secret[..<8]), Array(hex.utf8.prefix(16))]
      // In base 64 a secret looks different by where in a group of three it begins.
      for shift in 0..<3 {
        let rest = Array(secret[shift...])
        let whole = rest.count / 3 * 3
        for alphabet in [Self.standard, Self.forAddresses] { forms.append(Self.base64(rest[..<whole], alphabet)) }
      }
    }

    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    private static let standard = letters + Array("+/".utf8)
    private static let forAddresses = letters + Array("-_".utf8)

    private static func base64(_ bytes: ArraySlice<UInt8>, _ alphabet: [UInt8]) -> [UInt8] {
      stride(from: bytes.startIndex, to: bytes.endIndex, by: 3).flatMap { index -> [UInt8] in
        let group = Int(bytes[index]) << 16 | Int(bytes[index + 1]) << 8 | Int(bytes[index + 2])
        return [18, 12, 6, 0].map { alphabet[group >> $0 & 63] }
      }
    }

    func isIn(_ haystack: [UInt8]) -> Bool {
      forms.contains { form in
        form.count <= haystack.count
          && haystack.indices.dropLast(form.count - 1).contains { start in
            haystack[start] == form[0] && haystack[start..<start + form.count].elementsEqual(form)
          }
      }
    }
  }

  /// The scalars in what `IdentityKeys.export` gives.
  static func needles(_ name: String, _ exported: [UInt8]) -> [Needle] {
    var found = [
      Needle("\(name)'s signing key", Array(exported[2..<34])),
      Needle("\(name)'s agreement key", Array(exported[34..<66])),
    ]
    for start in stride(from: 71, to: exported.count, by: 48) {
      found.append(Needle("\(name)'s prekey", Array(exported[start + 16..<start + 48])))
    }
    return found
  }

  @Test func theSearchFindsASecretInEveryForm() {
    let needle = Needle("", Array(1...32))
    for text in [
      "x0102030405060708090a0b", "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0e",
      "zAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f",
    ] {
      #expect(needle.isIn(Array(text.utf8)), "\(text)")
    }
    #expect(!needle.isIn(Array("0203".utf8)))
  }

  /// What owns secrets alone cannot be printed at all; what shares them describes none.
  @Test func threat18_valuesThatHoldSecretsDescribeNone() throws {
    let bytes = [UInt8](50..<82)
    let key = CommunityKey(Secret(copying: bytes.rawSpan))
    let community = try #require(key)
    let keys = try IdentityKeys(generatedFrom: .system, now: 1_767_225_600_000)
    let exported = try Self.exported(keys)
    let own = keys.prekey(id: keys.currentPrekey.id)
    let prekey = try #require(own)
    let needles = [Needle("the community's key", bytes)] + Self.needles("", exported)
    for value in [community, prekey] as [Any] {
      var text = "\(value) \(String(reflecting: value)) "
      dump(value, to: &text)
      for needle in needles { #expect(!needle.isIn(Array(text.utf8)), "\(text)") }
      #expect(!text.contains("50, 51, 52"))
    }
  }

  @Test func threat18_noSecretInTheLogOfANodeThatSaysEverything() throws {
    let sink = MemoryLogSink(limit: 100_000)
    let mesh = Mesh(seed: 181, log: Log(label: "node", threshold: .trace, sink: sink))
    let community = [UInt8](50..<82)
    for name in ["A", "B"] { try mesh.add(name, communityKey: community) }
    let first = ["A", "B"].map { mesh.storedKeys[$0] }
    mesh.joinChain()
    mesh.run(for: .seconds(30))
    let (near, far) = (mesh.members[0].node.session, mesh.members[1].node.session.ownID)
    _ = try mesh.call { try await near.send("hello", to: .peer(far)) }
    mesh.run(for: .seconds(26 * 3_600))
    var needles = [Needle("the community's key", community)]
    for (name, keys) in zip(["A", "B"], first) { needles += Self.needles(name, keys) }
    for name in ["A", "B"] { needles += Self.needles(name, mesh.storedKeys[name]) }
    #expect(needles.count >= 11, "prekeys of the first day and of the second")
    let records = sink.records
    #expect(records.count >= 8)
    let text = Array(records.map { "\($0)" }.joined(separator: "\n").utf8)
    for needle in needles { #expect(!needle.isIn(text), "\(needle.name)") }
    mesh.stop()
  }

  @Test func threat18_noSecretOfADaemonInItsLogArgumentsEnvironmentOrCore() async throws {
    _ = try #require(Self.binaries, "the programs lie beside the tests")
    try await Self.withBase { base in
      let community = try RandomSource.system.bytes(32)
      var needles = [Needle("the community's key", community)]
      var daemons: [RunningDaemon] = []
      for name in ["one", "two"] {
        let wall = UInt64(time(nil)) * 1_000
        let keys = try IdentityKeys(generatedFrom: .system, now: wall)
        let exported = try Self.exported(keys)
        needles += Self.needles(name, exported)
        daemons.append(
          try await RunningDaemon(name, in: base, keys: exported, community: Hex.encode(community)))
      }
      // Until the two have met and one has written to the other.
      var isSent = false
      for _ in 0..<300 where !isSent {
        isSent = try daemons[0].relaychat("send --to two hello", as: Self.daemonUser) == 0
      }
      #expect(isSent)
      for daemon in daemons {
        let process = "/proc/\(daemon.number)"
        let arguments = Self.contents(process + "/cmdline")
        let environment = Self.contents(process + "/environ")
        #expect(arguments.count > 100)
        let limits = String(decoding: Self.contents(process + "/limits"), as: UTF8.self)
        let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
        #expect(core?.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"], "\(core ?? "")")
        let log = daemon.log
        #expect(log.count > 200)
        for needle in needles {
          for (place, bytes) in [("arguments", arguments), ("environment", environment), ("log", log)] {
            #expect(!needle.isIn(bytes), "\(needle.name) in the \(place) of \(daemon.home)")
          }
        }
      }
      // The kernel gives what belongs to a process without dumps to root: its memory is closed to its own user.
      #expect(Self.facts("/proc/\(daemons[0].number)/environ")?.user == 0)
      if Self.daemonUser != 0 {
        let control = try Self.spawn("exec cat /dev/zero > /dev/null", as: Self.daemonUser)
        defer {
          kill(control, SIGKILL)
          Self.wait(control)
        }
        while Self.contents("/proc/\(control)/comm") != Array("cat\n".utf8) { sched_yield() }
        #expect(Self.facts("/proc/\(control)/environ")?.user == Self.daemonUser, "any other process is its user's")
      }
      for daemon in daemons { daemon.stop() }
    }
  }

  // MARK: 21

  @Test func threat21_anotherUserIsRefusedAtTheSocketAndBehindIt() async throws {
    _ = try #require(Self.binaries, "the programs lie beside the tests")
    try await Self.withBase { base in
      let keys = try IdentityKeys(generatedFrom: .system, now: UInt64(time(nil)) * 1_000)
      let daemon = try await RunningDaemon(
        "one", in: base, keys: try Self.exported(keys), community: String(repeating: "071e", count: 16))
      defer { daemon.stop() }
      #expect(Self.facts(daemon.home + "/run")?.mode == 0o700)
      #expect(Self.facts(daemon.socket)?.mode == 0o600)
      #expect(Self.facts(daemon.home + "/state")?.mode == 0o700)
      for file in ["plain.db", "archive.db", "lock"] {
        #expect(Self.facts(daemon.home + "/state/" + file)?.mode == 0o600, "\(file)")
      }
      #expect(try daemon.relaychat("status", as: Self.daemonUser) == 0)
      guard geteuid() == 0 else { return }
      #expect(try daemon.relaychat("status", as: Self.otherUser) != 0, "the directory is closed")
      // Even where somebody has opened directory and socket to all, the daemon asks the kernel who it is.
      for (path, mode) in [(daemon.home, 0o755), (daemon.home + "/run", 0o755), (daemon.socket, 0o666)] {
        #expect(unsafe chmod(path, mode_t(mode)) == 0)
      }
      #expect(try daemon.relaychat("status", as: Self.otherUser) != 0)
      #expect(
        try Self.run(
          "\(Self.binaries!)/relaychat --socket \(daemon.socket) status --json | grep -q '\"refusedCredentials\":1'",
          as: Self.daemonUser) == 0, "and counts who was refused")
    }
  }
}
