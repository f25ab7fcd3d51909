import DBusKit
import FakeBlueZ
import Glibc
import Streams
import TestKit
import Testing
import Transports

@testable import BlueZTransport

extension ThroughBlueZ {
  /// A day in which links, ranges, power, adapters and `bluetoothd` come and go every minute, and what is left of it.
  @Suite(.serialized) struct ChurnTests {
    /// What a node, the bus and the stand-in hold when all is calm.
    struct Holdings: Equatable, CustomStringConvertible {
      var descriptors: Int
      var matchRules: [Int]
      var mirrored: [Int]
      var peers: [Int]
      var waiting: [Int]
      var inventory: String

      var description: String {
        "descriptors \(descriptors), match rules \(matchRules), mirrored \(mirrored), peers \(peers), "
          + "waiting \(waiting), at BlueZ \(inventory)"
      }
    }

    @Test func aDayOfChurnLeavesNothingBehind() throws {
      let seed: UInt64 = 24
      let day = try #require(Churn(seed: seed, adapters: 3))
      try day.start()
      let minutes = 23 * 60
      day.run(minutes: 60)
      let early = try day.holdings()
      day.run(minutes: minutes)
      let late = try day.holdings()
      print("churn: \(day.links) links in 24 hours, seed \(seed); after one hour \(early); after all \(late)")
      #expect(late == early, "seed \(seed)")
      #expect(late.matchRules.allSatisfy { $0 == 3 } && late.waiting.allSatisfy { $0 == 0 })
      #expect(day.links > 500, "the day was no idle one")
      day.stop()
    }
  }
}

/// Three nodes and a stand-in for BlueZ in virtual time, on a real bus: time moves on when nobody has anything to say.
private final class Churn {
  private let bus: PrivateBus
  private let simulation = Simulation(executor: ManualExecutor(isAwaited: true))
  private var generator: SeededGenerator
  private let nodes: [ChurnNode]
  private var fake: FakeBlueZ
  private var fakeTask: Task<Void, any Error>?
  private var tasks: [Task<Void, any Error>] = []
  private var inspector: DBusConnection?
  private let count: Int

  init?(seed: UInt64, adapters: Int) {
    guard let bus = PrivateBus(.system) else { return nil }
    self.bus = bus
    count = adapters
    generator = SeededGenerator(seed: seed)
    let time = simulation.time.source
    fake = Self.makeFake(bus, adapters, time)
    let numbers = LinkCounter()
    let random = Protected(SeededGenerator(seed: seed &+ 1))
    nodes = (0..<adapters).map { number in
      var configuration = BlueZRadio.Configuration()
      configuration.bus = .address(bus.address)
      configuration.adapter = "hci\(number)"
      return ChurnNode(
        BlueZRadio(
          configuration: configuration,
          context: TransportContext(
            time: time, random: { random.withLock { $0.next() } }, nextLinkID: { numbers.next() }, nodeName: "node",
            note: { _ in })), hint: UInt32(number + 1))
    }
  }

  private static func makeFake(_ bus: PrivateBus, _ adapters: Int, _ time: TimeSource) -> FakeBlueZ {
    FakeBlueZ(
      bus: .address(bus.address), adapters: adapters, time: time,
      pace: (report: 20_000, connect: 20, resolve: 20, disconnect: 20))
  }

  var links: Int { nodes.reduce(0) { $0 + $1.links.withLock { $0 } } }

  func start() throws {
    startFake()
    for node in nodes { tasks.append(simulation.start { try await node.run() }) }
    inspector = try call { [bus, simulation] in
      try await DBusConnection.open(.address(bus.address), time: simulation.time.source)
    }
    if let inspector { tasks.append(simulation.start { await inspector.run() }) }
    pass(.seconds(120))
  }

  private func startFake() {
    let fake = fake
    fakeTask = simulation.start { try await fake.run() }
  }

  func stop() {
    for task in tasks + [fakeTask].compactMap({ $0 }) { task.cancel() }
    settle()
    for task in tasks + [fakeTask].compactMap({ $0 }) { task.cancel() }
    settle()
  }

  /// One event a minute, and two calm minutes at the end.
  func run(minutes: Int) {
    for _ in 0..<minutes - 3 {
      disturb()
      pass(.seconds(60))
    }
    for one in 0..<count {
      control("plug \(one)")
      control("power \(one) on")
      for other in 0..<one { control("range \(other) \(one) on") }
    }
    pass(.seconds(180))
  }

  private func disturb() {
    let one = Int(generator.next() % UInt64(count))
    let other = (one + 1 + Int(generator.next() % UInt64(count - 1))) % count
    switch generator.next() % 16 {
    case 0..<6: control("drop \(one) \(other)")
    case 6, 7: control("range \(one) \(other) off")
    case 8, 9: control("range \(one) \(other) on")
    case 10: control("power \(one) off")
    case 11: control("power \(one) on")
    case 12: control(generator.next() % 2 == 0 ? "unplug \(one)" : "unplug \(one) rudely")
    case 13: control("plug \(one)")
    case 14: control("service-changed \(one)")
    default: restart(isClean: generator.next() % 2 == 0)
    }
  }

  /// `bluetoothd` ends, in order or not, and comes back with everything forgotten.
  private func restart(isClean: Bool) {
    if isClean { control("stop") }
    fakeTask?.cancel()
    pass(.seconds(2))
    fake = Self.makeFake(bus, count, simulation.time.source)
    startFake()
  }

  private func control(_ line: String) {
    let fake = fake
    _ = try? call { await fake.control(line) }
  }

  // MARK: Time

  /// The bus and the threads that read from it are real: all is quiet when for a while nobody has anything to do.
  private func settle() {
    var quiet = 0
    while quiet < 2 {
      simulation.executor.runUntilIdle()
      quiet = simulation.executor.awaitJob(milliseconds: 1) ? 0 : quiet + 1
    }
  }

  private func pass(_ duration: Duration) {
    let end = simulation.time.now.advanced(by: duration)
    while true {
      settle()
      guard let next = simulation.time.nextDeadline, next <= end else { break }
      simulation.time.advance(to: next)
    }
    simulation.time.advance(to: end)
    settle()
  }

  private func call<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let answer = Protected<Result<Value, any Error>?>(nil)
    let task = simulation.start {
      do {
        let value = try await body()
        answer.withLock { $0 = .success(value) }
      } catch {
        answer.withLock { $0 = .failure(error) }
      }
    }
    defer { task.cancel() }
    while true {
      settle()
      if let answer = answer.withLock({ $0 }) { return try answer.get() }
      guard let next = simulation.time.nextDeadline else { continue }
      simulation.time.advance(to: next)
    }
  }

  // MARK: What is held

  func holdings() throws -> ThroughBlueZ.ChurnTests.Holdings {
    let (fake, nodes, inspector) = (fake, nodes, try #require(inspector))
    let socket = bus.address.replacing("unix:path=", with: "")
    return try call {
      let inside = await withTaskGroup(of: (Int, BlueZHost.Holdings).self) { group in
        for (number, node) in nodes.enumerated() { group.addTask { (number, await node.radio.holdings()) } }
        return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
      }
      let names = try await inspector.call(
        .call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ListNames"))
      var rules: [Int] = []
      for name in names.arguments.first?.asStrings ?? [] where name.hasPrefix(":") {
        let stats = try await inspector.call(
          .call(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats", "GetConnectionStats",
            [.string(name)]))
        let count = stats.arguments.first?.asProperties?["MatchRules"]?.asInt ?? -1
        // The stand-in has two, the inspector none.
        if count > 2 { rules.append(count) }
      }
      let all = nodes.indices.compactMap { inside[$0] }
      return ThroughBlueZ.ChurnTests.Holdings(
        descriptors: FileDescriptors.connected(to: socket), matchRules: rules, mirrored: all.map(\.mirrored),
        peers: all.map(\.peers),
        waiting: all.map(\.waiting), inventory: await fake.control("inventory"))
    }
  }
}

/// A node that wants a link to everybody it hears.
private final class ChurnNode: Sendable {
  let radio: BlueZRadio
  let links = Protected(0)
  private let hint: UInt32
  private let made = Channel<any TransportLink>(capacity: 64)
  private let linked = Protected<Set<String>>([])

  init(_ radio: BlueZRadio, hint: UInt32) {
    self.radio = radio
    self.hint = hint
  }

  func run() async throws {
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { try await self.radio.run() }
      group.addTask {
        for await state in self.radio.state where state == .poweredOn {
          try? await self.radio.scan(true)
          try? await self.radio.advertise(Advertisement(hint: self.hint, digest: 0))
        }
      }
      group.addTask {
        for await sighting in self.radio.sightings {
          guard !self.linked.withLock({ $0.contains(sighting.address.description) }) else { continue }
          guard let link = try? await self.radio.connect(to: sighting.address, progress: { _ in }) else { continue }
          self.made.offer(link)
        }
      }
      group.addTask { for await link in self.radio.inbound { self.made.offer(link) } }
      for await link in self.made {
        self.begin(link)
        group.addTask {
          while await link.inputs.next() != nil {}
          self.linked.withLock { _ = $0.remove(link.address.description) }
        }
      }
    }
  }

  private func begin(_ link: any TransportLink) {
    links.withLock { $0 += 1 }
    linked.withLock { _ = $0.insert(link.address.description) }
  }
}
