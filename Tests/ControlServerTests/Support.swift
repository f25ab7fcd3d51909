import ControlAPI
import ControlServer
import Glibc
import Lifecycle
import Streams
import Telemetry
import Testing

/// Answers every call in the simplest way and notes it.
final class PlainService: ControlService {
  let calls = Channel<ControlCall>(capacity: 1_000)
  let pings = Channel<Void>(capacity: 100)
  let events = ControlEvents()
  /// Runs while a subscription is answered, before the answer.
  let whileSubscribing: @Sendable (ControlEvents) -> Void

  init(whileSubscribing: @escaping @Sendable (ControlEvents) -> Void = { _ in }) {
    self.whileSubscribing = whileSubscribing
  }

  private static func contact(_ peer: String) -> ContactRecord {
    ContactRecord(id: peer, name: peer, state: .seen, isBlocked: false, rivalID: nil, fingerprint: "")
  }

  func handle(_ call: ControlCall, from caller: ControlCaller) async throws(ControlError) -> ControlResult {
    calls.offer(call)
    switch call {
    case .hello: return .hello(HelloAnswer(version: "1", peerID: "00", name: "node", permissions: []))
    case .status:
      return .status(
        StatusAnswer(
          version: "1", uptimeSeconds: 1, peerID: "00", name: "node", icon: "🦊", transports: [], linkCount: 0,
          peerCount: 0, counters: [:], statePhase: "ready", residentBytes: nil))
    case .stop, .acknowledge, .markRead: return .done
    case .listPeers: return .peers([])
    case .topology: return .topology(TopologyAnswer(nodes: [], edges: []))
    case .listLinks: return .links([])
    case .sendMessage(let parameters):
      guard parameters.to != "nobody" else { throw ControlError(.notFound, "no such peer") }
      return .sent(SendAnswer(messageID: parameters.text))
    case .messageStatus(let parameters):
      return .messageStatus(MessageStatusAnswer(messageID: parameters.messageID, state: .sent))
    case .listMessages: return .messages([])
    case .listContacts: return .contacts([])
    case .trustContact(let parameters): return .contact(Self.contact(parameters.peer))
    case .blockContact(let parameters), .unblockContact(let parameters), .fingerprint(let parameters):
      return .contact(Self.contact(parameters.peer))
    case .searchMessages, .pageMessages: return .page(MessagePage(messages: [], next: nil))
    case .storeStatus, .migrateStore, .rollBackStore:
      return .store(
        StoreRecord(
          phase: .plain, protection: .none, plainValues: 1, sealedValues: nil, markedNames: 0, openMismatches: 0,
          troubles: [], missing: [StoreRecord.Missing(kind: .word)], canRollBack: true))
    case .storeProgress: return .storeProgress(StoreProgressAnswer(running: nil))
    case .verifyStore: return .storeReport(StoreReport(compared: 1, copied: 0, settled: 0, mismatches: 0))
    case .ping:
      // Answered when the test says so, or never.
      if pings.poll() == nil, await Channel<Void>(capacity: 1).next() == nil {
        throw ControlError(.timeout, "no answer")
      }
      return .ping(PingAnswer(peer: PeerReference(id: "01", name: "b"), roundTripMilliseconds: 1, hops: 1, path: []))
    case .subscribe:
      whileSubscribing(events)
      return .subscribed(SubscribeAnswer(peers: [], links: [], cursor: 0))
    }
  }
}

/// A server for one test, on a socket of its own.
struct RunningServer {
  let path: String
  let service: PlainService
  let counters: CounterSet<ControlCounter>

  static func socketPath() -> String { "/tmp/rc-control-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))" }

  static func with(
    _ service: PlainService = PlainService(), _ body: (RunningServer) async throws -> Void
  ) async throws {
    let path = socketPath()
    let counters = CounterSet<ControlCounter>("control")
    let server = try ControlSocketServer(
      path: path, service: service, events: service.events, counters: counters, now: { 7 })
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      defer { group.cancelAll() }
      try await body(RunningServer(path: path, service: service, counters: counters))
    }
    #expect(unsafe access(path, F_OK) != 0)
  }
}

/// A client that sends whatever bytes it likes. Its calls block, with a limit, on a thread of their own.
actor RawClient {
  private let executor = BlockingExecutor(name: "raw-client")
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
  private let descriptor: Int32
  private var buffer: [UInt8] = []

  init(path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
      for (index, byte) in path.utf8.enumerated() { unsafe field[index] = byte }
    }
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(result == 0)
  }

  deinit { close(descriptor) }

  @discardableResult func send(_ text: String) -> Bool { send(Array(text.utf8) + [0x0A]) }

  @discardableResult func send(_ bytes: [UInt8]) -> Bool {
    unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
  }

  /// Says that nothing more will be asked.
  func finishWriting() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// nil when the server has ended the connection.
  func line() -> [UInt8]? {
    while true {
      if let end = buffer.firstIndex(of: 0x0A) {
        defer { buffer.removeFirst(end + 1) }
        return Array(buffer[..<end])
      }
      var chunk = [UInt8](repeating: 0, count: 65_536)
      let size = unsafe read(descriptor, &chunk, chunk.count)
      guard size > 0 else { return nil }
      buffer += chunk[..<size]
    }
  }

  /// The lines until the server ends the connection.
  func lines() -> [[UInt8]] {
    var lines: [[UInt8]] = []
    while let line = line() { lines.append(line) }
    return lines
  }

  func notice() throws -> ControlNotice? { try line().map { try ControlNotice.decode($0) } }

  func hello() throws {
    send(#"{"jsonrpc":"2.0","id":0,"method":"node.hello","params":{"apiVersion":1,"client":"test"}}"#)
    #expect(try notice() == .answer(id: .number(0)))
  }
}
