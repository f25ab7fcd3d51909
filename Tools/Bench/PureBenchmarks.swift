import BenchTable
import Bytes
import CAllocations
import CCrypto
import Glibc
import Identities
import Links
import Primitives
import Routing
import Streams
import WireFormat

/// What one operation of the state machines costs.
enum PureBenchmarks {
  static func run() throws -> [BenchRow] {
    [try header(), try packetID(), try relayDecision(), try duplicate()]
  }

  private static let origins = 500

  private static func packet(_ number: Int, byteCount: Int = 200) throws -> Packet {
    var body = [UInt8](repeating: 0x5a, count: byteCount - 32)
    for index in 0..<8 { body[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
    return try PacketDraft(
      kind: .personal, time: 1_767_225_600_000, origin: Tag(rawValue: UInt64(number % origins + 1)),
      destination: Tag(rawValue: 2), body: body
    ).unsigned()
  }

  private static func header() throws -> BenchRow {
    let packets = try (0..<1_024).map { try packet($0).encoded }
    let operations = 1_024 * 200
    var sum = 0
    let allocationsBefore = Allocations.count()
    let time = Stopwatch.best(operations: operations) {
      for _ in 0..<200 {
        for bytes in packets {
          if let header = try? PacketHeader(decoding: bytes.rawSpan) { sum &+= Int(header.hops) &+ header.byteCount }
        }
      }
    }
    Stopwatch.keep(sum)
    try Allocations.check(since: allocationsBefore, "decoding a header")
    return BenchRow(name: "decode a 200-byte packet header", value: time, unit: "ns", goal: .atMost(25))
  }

  private static func packetID() throws -> BenchRow {
    let packets = try (0..<256).map { try packet($0) }
    var identifier = try PacketIdentifier()
    let operations = 256 * 100
    var sum: UInt64 = 0
    var ours = Double.infinity
    var theirs = Double.infinity
    let context = unsafe EVP_MD_CTX_new()
    defer { unsafe EVP_MD_CTX_free(context) }
    unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil)
    var digest = [UInt8](repeating: 0, count: 32)
    // In turn and often, so that a change of the machine's pace meets both.
    for _ in 0..<25 {
      ours = min(
        ours,
        Stopwatch.best(rounds: 1, operations: operations) {
          for _ in 0..<100 { for packet in packets { sum &+= (try? identifier.id(of: packet).key) ?? 0 } }
        })
      theirs = min(
        theirs,
        Stopwatch.best(rounds: 1, operations: operations) {
          for _ in 0..<100 {
            for packet in packets {
              unsafe EVP_DigestInit_ex2(context, nil, nil)
              unsafe packet.encoded.withUnsafeBytes { bytes in
                _ = unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
              }
              unsafe EVP_DigestFinal_ex(context, &digest, nil)
            }
          }
        })
    }
    Stopwatch.keep(sum)
    return BenchRow(
      name: "PacketID of 200 bytes", value: ours, unit: "ns", rival: ("EVP SHA-256, reused context", theirs),
      goal: .ratioAtMost(1.2))
  }

  private static func relayState() -> RelayState {
    var state = RelayState(key: (1, 2), ownEntry: 0xFFFF_0000)
    for slot in 0..<8 { state.linkUp(slot, entry: UInt32(slot + 1)) }
    return state
  }

  /// Dedup, the tree of the origin, choice of links, queueing on each of them and the announcement for the others: over
  /// 10,000 remembered, 500 origins with a tree, 8 links of which four are left out, every second packet a duplicate.
  private static func relayDecision() throws -> BenchRow {
    let (remembered, fresh) = (11_000, 4_000)
    let packets = try (0..<remembered + fresh).map { try packet($0) }
    var identifier = try PacketIdentifier()
    let ids = try packets.map { try identifier.id(of: $0) }
    var best = Double.infinity
    for _ in 0..<9 {
      var state = relayState()
      var queues = (0..<8).map { _ in PacketQueue() }
      var trees = OriginTrees(own: Tag(rawValue: 1 << 40), secret: 0x9E37_79B9_7F4A_7C15)
      var news = TreeNews(seed: 1)
      func decide(_ index: Int, at time: MonotonicTime) {
        let decision = state.receive(packets[index], id: ids[index], from: index & 7, now: time, wallMilliseconds: nil)
        let origin = packets[index].header.origin
        guard decision.verdict == .accepted else {
          if trees.repeated(origin, from: index & 7, isLive: true) { news.prune(origin, on: index & 7, now: time) }
          return
        }
        let arrival = trees.arrived(origin, from: index & 7, isLive: true, linkCount: 8, now: time)
        let pushed = decision.forward.subtracting(arrival.quiet)
        enqueue(packets[index], ids[index], pushed, &queues)
        _ = news.announce(ids[index].key, to: decision.forward.subtracting(pushed), now: time)
      }
      func drain() {
        for slot in queues.indices { while queues[slot].popFirst() != nil {} }
        news.takePrunes(now: second(1_000)) { _, _ in }
        news.announced()
      }
      for index in 0..<remembered {
        decide(index, at: second(1))
        if index & 127 == 127 { drain() }
        if index == origins {
          for number in 0..<origins {
            for slot in [1, 3, 5, 7] { trees.pruned(Tag(rawValue: UInt64(number + 1)), by: slot) }
          }
        }
      }
      drain()
      let allocationsBefore = Allocations.count()
      var elapsed: UInt64 = 0
      for group in stride(from: 0, to: fresh, by: 125) {
        let start = Stopwatch.now()
        for index in group..<group + 125 {
          decide(index, at: second(2))
          decide(remembered + index, at: second(2))
        }
        elapsed += Stopwatch.now() - start
        // Emptying the queues is the links' work and not the decision's.
        drain()
      }
      best = min(best, Double(elapsed) / Double(2 * fresh))
      try Allocations.check(since: allocationsBefore, "a relay decision")
    }
    return BenchRow(
      name: "relay decision, 8 links, trees, half duplicates", value: best, unit: "ns", goal: .atMost(400))
  }

  @inline(__always)
  private static func enqueue(_ packet: Packet, _ id: PacketID, _ links: LinkSet, _ queues: inout [PacketQueue]) {
    var targets = links
    let outgoing = OutgoingPacket(
      key: id.key, bytes: packet.encoded, trafficClass: .personal, since: second(1), expiry: second(100))
    while let slot = targets.popFirst() {
      if !queues[slot].insertIfRoom(outgoing) { _ = queues[slot].insert(outgoing) }
    }
  }

  private static func duplicate() throws -> BenchRow {
    let packets = try (0..<10_000).map { try packet($0) }
    var identifier = try PacketIdentifier()
    let ids = try packets.map { try identifier.id(of: $0) }
    var state = relayState()
    for index in packets.indices {
      _ = state.receive(packets[index], id: ids[index], from: 0, now: second(1), wallMilliseconds: nil)
    }
    var refused = 0
    let time = Stopwatch.best(operations: packets.count) {
      for index in packets.indices {
        let decision = state.receive(packets[index], id: ids[index], from: 1, now: second(1), wallMilliseconds: nil)
        if decision.verdict == .duplicate { refused += 1 }
      }
    }
    precondition(refused == 9 * packets.count, "every copy is a duplicate")
    return BenchRow(name: "duplicate refused", value: time, unit: "ns", goal: .atMost(120))
  }

  private static func second(_ number: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: number * 1_000_000_000) }
}

/// Counts the heap allocations of the process.
enum Allocations {
  static func count() -> UInt64 { callocations_count() }

  /// Fails when there was even one: what is promised to allocate nothing allocates nothing.
  static func check(since before: UInt64, _ what: String) throws {
    let made = count() - before
    guard made == 0 else { throw RawPeer.Failure(what: "\(what) allocated \(made) times") }
  }
}
