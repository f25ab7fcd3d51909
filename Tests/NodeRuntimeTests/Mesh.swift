import Bytes
import Identities
import Links
import MemoryTransport
import Primitives
import Sessions
import Streams
import Telemetry
import TestKit
import Transports

@testable import NodeRuntime

/// A mesh of whole nodes in one process, in virtual time, from one seed.
final class Mesh: @unchecked Sendable {
  struct Member {
    var name: String
    var node: Node
    var transport: MemoryRadio
    var store: MemoryStore
    var task: Task<Void, any Error>
    var events: Broadcast<SessionEvent>.Subscription
  }

  let simulation: Simulation
  let medium: MemoryMedium
  private(set) var members: [Member] = []
  private let isDeduplicating: Bool
  private let security: (@Sendable (Latest<VerifiedCard>) -> any LinkSecurity)?
  private let random: SharedGenerator
  private let log: Log
  let linkNumbers = SharedGenerator(seed: 0)
  /// The keys of each member as it has stored them last, by name: what a thief finds.
  let storedKeys = KeyShelf()
  /// Texts that each member's clients were told, in order.
  private(set) var heard: [[String: Int]] = []
  var peerEvents: [[PeerChange]] = []
  var contactEvents: [[Contact]] = []

  init(
    seed: UInt64, wallMilliseconds: UInt64 = 1_767_225_600_000, isDeduplicating: Bool = true,
    security: (@Sendable (Latest<VerifiedCard>) -> any LinkSecurity)? = nil,
    dialGate: @escaping @Sendable (String, String) async -> Void = { _, _ in },
    tap: @escaping @Sendable ([UInt8]) -> Void = { _ in },
    log: Log = Log(label: "node", threshold: .error, sink: MemoryLogSink())
  ) {
    self.log = log
    simulation = Simulation(time: ManualTime(wallMilliseconds: wallMilliseconds))
    self.isDeduplicating = isDeduplicating
    self.security = security
    random = SharedGenerator(seed: seed)
    medium = MemoryMedium(time: simulation.time.source, seed: seed &+ 1, dialGate: dialGate, tap: tap)
  }

  @discardableResult
  func add(
    _ name: String, profileName: String? = nil, store: MemoryStore = MemoryStore(), keys: [UInt8]? = nil,
    cardSequence: UInt64 = 1, communityKey: [UInt8]? = nil, clock: WallClock? = nil,
    seenStore: MemorySeenStore? = nil, addresses: TransportMemory? = nil
  ) throws -> Int {
    var time = simulation.time.source
    if let clock {
      let right = time.wallMilliseconds
      time.wallMilliseconds = { clock.wallMilliseconds(right()) }
    }
    let source = RandomSource { [random] span in
      random.fill(&span)
      return true
    }
    let transport = medium.makeTransport(name: name) { [linkNumbers] in LinkID(number: linkNumbers.count()) }
    let log = log.labelled(name)
    var environment = Node.Environment(
      transports: [transport], store: store,
      saveIdentity: { [storedKeys] secret, _ throws(SessionStoreError) in
        let bytes = [UInt8](copying: secret.bytes)
        storedKeys.keep(bytes, of: name)
      },
      time: time, random: source, log: log, isClockSynchronised: { clock?.isSynchronised ?? true })
    environment.isDeduplicating = isDeduplicating
    environment.seenStore = seenStore
    environment.addressMemories = addresses.map { [$0] } ?? []
    if let security { environment.security = security }
    environment.communityKey = communityKey.flatMap { CommunityKey(Secret(copying: $0.rawSpan)) }
    let wall = time.wallMilliseconds()
    let identity =
      try keys.map { bytes in try IdentityKeys(importing: bytes.rawSpan, random: source) }
      ?? IdentityKeys(generatedFrom: source, now: wall)
    let stored = try identity.export()
    let storedBytes = [UInt8](copying: stored.bytes)
    storedKeys.keep(storedBytes, of: name)
    let node = try Node(
      keys: identity, cardSequence: cardSequence,
      profile: Session.Profile(name: try PeerName(profileName ?? name), icon: .none, capabilities: []),
      environment: environment)
    let events = node.session.events.subscribe()!
    let task = simulation.start {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await transport.run() }
        group.addTask { await node.run() }
        try await group.waitForAll()
      }
    }
    members.append(
      Member(name: name, node: node, transport: transport, store: store, task: task, events: events))
    heard.append([:])
    peerEvents.append([])
    contactEvents.append([])
    return members.count - 1
  }

  /// Everybody hears the next one.
  func joinChain() {
    for index in members.indices.dropLast() {
      medium.setReach(members[index].name, members[index + 1].name, true)
    }
  }

  func joinRing() {
    joinChain()
    medium.setReach(members[members.count - 1].name, members[0].name, true)
  }

  /// Lets virtual time pass until `isDone`, reading every client's events on the way.
  @discardableResult
  func run(for duration: Duration, until isDone: () -> Bool = { false }) -> Bool {
    simulation.run(for: duration) {
      readEvents()
      return isDone()
    }
  }

  /// Runs one call into a node to its end.
  func call<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let result = Channel<Result<Value, any Error>>(capacity: 1)
    let task = simulation.start {
      do {
        result.offer(.success(try await body()))
      } catch {
        result.offer(.failure(error))
      }
    }
    var value: Result<Value, any Error>?
    _ = simulation.run(for: .seconds(300)) {
      value = value ?? result.poll()
      return value != nil
    }
    task.cancel()
    guard let value else { throw CancellationError() }
    return try value.get()
  }

  func readEvents() {
    for index in members.indices {
      while let element = members[index].events.poll() {
        guard case .element(let event) = element else { continue }
        switch event {
        case .message(let message) where message.state == .received: heard[index][message.text, default: 0] += 1
        case .peer(let change): peerEvents[index].append(change)
        case .contactChanged(let contact): contactEvents[index].append(contact)
        default: break
        }
      }
    }
  }

  /// Whether each member knows the card of every other.
  func isAcquainted() -> Bool {
    let counts = try? members.map { member in try call { await member.node.session.peers().count } }
    return counts?.allSatisfy { $0 == members.count - 1 } ?? false
  }

  /// Ends a node as a kill does: no goodbye to anybody. Another of its name may come.
  func remove(_ name: String) {
    for member in members where member.name == name { member.task.cancel() }
    _ = simulation.run(for: .milliseconds(10))
    medium.remove(name)
  }

  func stop() {
    for member in members { member.task.cancel() }
    _ = simulation.run(for: .seconds(5))
  }
}

/// The time of day of one member: off by so much, until a test sets it.
final class WallClock: Sendable {
  private let state: Protected<(offset: Int64, isSynchronised: Bool)>

  /// - Parameter offset: milliseconds by which it is ahead of what is right.
  init(offset: Int64, isSynchronised: Bool = false) { state = Protected((offset, isSynchronised)) }

  var isSynchronised: Bool { state.withLock { $0.isSynchronised } }

  func wallMilliseconds(_ right: UInt64) -> UInt64 {
    UInt64(max(0, Int64(right) + state.withLock { $0.offset }))
  }

  /// As when a time server was heard.
  func synchronise() { state.withLock { $0 = (0, true) } }
}

/// Exported keys by the name of their owner.
final class KeyShelf: Sendable {
  private let keys = Protected<[String: [UInt8]]>([:])

  func keep(_ bytes: [UInt8], of name: String) { keys.withLock { $0[name] = bytes } }

  subscript(name: String) -> [UInt8] { keys.withLock { $0[name] ?? [] } }
}

/// A seeded generator that threads may share.
final class SharedGenerator: Sendable {
  private let state: Protected<SeededGenerator>
  private let counter = Protected<UInt64>(0)

  init(seed: UInt64) { state = Protected(SeededGenerator(seed: seed)) }

  func next() -> UInt64 { state.withLock { $0.next() } }

  func count() -> UInt64 {
    counter.withLock {
      $0 += 1
      return $0
    }
  }

  func fill(_ span: inout MutableRawSpan) {
    for offset in 0..<span.byteCount {
      unsafe span.storeBytes(of: UInt8(truncatingIfNeeded: next()), toUncheckedByteOffset: offset, as: UInt8.self)
    }
  }
}
