import BenchTable
import Glibc
import Lifecycle
import Streams
import Synchronization
import WireFormat

/// What the daemon process costs: one hop, many packets, and doing nothing.
enum DaemonBenchmarks {
  private static func packet(_ number: Int, byteCount: Int = 200) throws -> Packet {
    var body = [UInt8](repeating: 0x5a, count: byteCount - 32)
    for index in 0..<8 { body[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
    return try PacketDraft(
      kind: .personal, time: UInt64(time(nil)) * 1_000, origin: Tag(rawValue: 1), destination: Tag(rawValue: 2),
      body: body
    ).unsigned()
  }

  /// Source → daemon → sink over two sockets, beside source → process → source over a plain socket pair.
  static func hop() async throws -> [BenchRow] {
    let daemon = try DaemonUnderTest()
    let source = try await RawPeer(name: "source", dialling: "daemon", in: daemon.air)
    let sink = try await RawPeer(name: "sink", dialling: "daemon", in: daemon.air)
    var identifier = try PacketIdentifier()
    let echo = try EchoProcess()
    defer { echo.stop() }
    let rounds = 4_000
    let messages = try (0..<rounds).map { try source.message(carrying: packet($0)) }
    var ours = Sample()
    var theirs = Sample()
    try settle(sink, &identifier)
    for round in 0..<rounds {
      let start = Stopwatch.now()
      source.write(messages[round])
      while true { if case .packet(let header) = try sink.read(identifier: &identifier), isOurs(header) { break } }
      ours.values.append(sink.arrivedAt - start)
      sink.acknowledge()
      let echoStart = Stopwatch.now()
      try echo.roundTrip(byteCount: messages[round].count)
      theirs.values.append(Stopwatch.now() - echoStart)
    }
    return [
      BenchRow(
        name: "one hop through a daemon, p50, beyond an echo", value: ours.quantile(0.5) - theirs.quantile(0.5),
        unit: "µs", rival: ("socket echo", theirs.quantile(0.5)), goal: .atMost(60)),
      BenchRow(
        name: "one hop through a daemon, p99, beyond an echo", value: ours.quantile(0.99) - theirs.quantile(0.99),
        unit: "µs", rival: ("socket echo", theirs.quantile(0.99)), goal: .atMost(250)),
    ]
  }

  /// Distinct packets a second from one socket through the daemon, counted where they come out.
  static func throughput() async throws -> BenchRow {
    let daemon = try DaemonUnderTest()
    let source = try await RawPeer(name: "source", dialling: "daemon", in: daemon.air)
    let sink = try await RawPeer(name: "sink", dialling: "daemon", in: daemon.air)
    let total = 200_000
    let messages = try (0..<total).map { try source.message(carrying: packet($0)) }
    let received = Counter()
    nonisolated(unsafe) let sinkPeer = sink
    nonisolated(unsafe) let sourcePeer = source
    let finished = Channel<Void>(capacity: 1)
    let start = Stopwatch.now()
    WorkerThread.start(name: "sink") {
      guard var identifier = try? PacketIdentifier() else { return }
      var keys = 0
      while keys < total {
        guard let reception = try? unsafe sinkPeer.read(identifier: &identifier) else { return }
        if case .packet(let header) = reception, isOurs(header) {
          keys += 1
          received.add()
        }
      }
      unsafe sinkPeer.acknowledge()
      finished.offer(())
    }
    WorkerThread.start(name: "acknowledgments") {
      guard var identifier = try? PacketIdentifier() else { return }
      while (try? unsafe sourcePeer.read(identifier: &identifier)) != nil {}
    }
    var sent = 0
    while sent < total {
      // As many as fit the windows of both links are under way: a sender that paces itself.
      if sent - received.value < 384 {
        source.write(messages[sent])
        sent += 1
      } else {
        usleep(20)
      }
      if Stopwatch.now() - start > 60_000_000_000 { break }
    }
    if received.value < total {
      // A packet that the daemon dropped never comes; the rate is of those that came.
      for _ in 0..<2_000 where received.value < total { usleep(1_000) }
    }
    let seconds = Double(Stopwatch.now() - start) / 1e9
    let accepted = received.value
    shutdown(source.descriptor, Int32(SHUT_RDWR))
    return BenchRow(
      name: "distinct packets through one daemon (\(accepted) of \(total))", value: Double(accepted) / seconds,
      unit: "packets/s", goal: .atLeast(50_000))
  }

  /// Eight neighbours that say nothing: memory and processor time of the daemon over a minute.
  static func idle(seconds: UInt32) async throws -> [BenchRow] {
    let daemon = try DaemonUnderTest()
    var neighbours: [DaemonProcessOnly] = []
    for number in 1...8 { neighbours.append(try DaemonProcessOnly(name: "n\(number)", in: daemon)) }
    sleep(5)
    let before = daemon.usage.processorSeconds
    sleep(seconds)
    let usage = daemon.usage
    withExtendedLifetime(neighbours) {}
    return [
      BenchRow(
        name: "daemon with 8 links, idle, resident", value: usage.residentMegabytes, unit: "MB", goal: .atMost(25)),
      BenchRow(
        name: "daemon with 8 links, idle for \(seconds) s, processor",
        value: (usage.processorSeconds - before) / Double(seconds) * 100, unit: "%", goal: .atMost(0.2)),
    ]
  }

  private static func isOurs(_ header: PacketHeader) -> Bool { header.kind == .personal && header.origin.rawValue == 1 }

  /// Reads what the daemon tells a newcomer, until it has nothing more to say.
  private static func settle(_ peer: RawPeer, _ identifier: inout PacketIdentifier) throws {
    usleep(300_000)
    while recv(peer.descriptor, nil, 0, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) >= 0 {
      _ = try peer.read(identifier: &identifier)
    }
    peer.acknowledge()
  }
}

/// A counter that two threads share.
final class Counter: Sendable {
  private let atomic = Atomic<Int>(0)
  var value: Int { atomic.load(ordering: .acquiring) }
  func add() { atomic.wrappingAdd(1, ordering: .releasing) }
}

/// A further daemon in the air of another.
final class DaemonProcessOnly {
  private let process: pid_t

  init(name: String, in daemon: DaemonUnderTest) throws {
    let program = DaemonUnderTest.ownDirectory() + "/relaychatd"
    process = try DaemonUnderTest.spawn(
      program,
      [
        program, "--name", name, "--state", daemon.directory + "/state-" + name, "--socket",
        daemon.directory + "/" + name + ".ctl", "--transport", "local:\(daemon.air),name=\(name)", "--log-level",
        "error",
      ])
  }

  deinit {
    kill(process, SIGTERM)
    var status: Int32 = 0
    unsafe waitpid(process, &status, 0)
  }
}

/// A process that sends back every message of a packet socket: what the same bytes cost without a daemon.
final class EchoProcess {
  private let descriptor: Int32
  private let process: pid_t
  private var buffer = [UInt8](repeating: 0, count: 4_096)

  init() throws {
    var ends: [Int32] = [0, 0]
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0 else {
      throw RawPeer.Failure(what: "socketpair")
    }
    descriptor = ends[0]
    _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
    let program = DaemonUnderTest.ownDirectory() + "/relaychat-bench"
    process = try DaemonUnderTest.spawn(program, [program, "--echo", "\(ends[1])"])
    close(ends[1])
  }

  func roundTrip(byteCount: Int) throws {
    guard unsafe send(descriptor, buffer, byteCount, 0) == byteCount,
      unsafe recv(descriptor, &buffer, buffer.count, 0) == byteCount
    else { throw RawPeer.Failure(what: "echo") }
  }

  func stop() {
    close(descriptor)
    var status: Int32 = 0
    unsafe waitpid(process, &status, 0)
  }

  /// The child's side.
  static func serve(_ descriptor: Int32) {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0, unsafe send(descriptor, buffer, count, 0) == count else { return }
    }
  }
}
