import Bytes
import Streams
import TestKit
import Testing
import WireFormat

@testable import Routing

/// Two nodes with a set each, over a link that takes 20 ms and may lose frames.
private struct Neighbours {
  var reconcilers: [Reconciler]
  var sets: [PacketSet]
  var keys: [[UInt64: UInt32]]
  /// By time, then order.
  var air: [(at: MonotonicTime, to: Int, frame: ReconciliationFrame)] = []
  var now = MonotonicTime.start
  var random: SeededGenerator
  var loss = 0.0
  var bytes = 0
  var counts: [RelayCount: UInt64] = [:]
  var pushed = 0
  static let wall: UInt64 = 1_700_000_000_000

  init(_ one: [UInt64: UInt32], _ other: [UInt64: UInt32], seed: UInt64) {
    keys = [one, other]
    sets = [one, other].map { keys in
      var set = PacketSet()
      for (key, unit) in keys.sorted(by: { $0.key < $1.key }) { set.insert(key, unit: unit) }
      return set
    }
    reconcilers = [Reconciler(key: (1, seed)), Reconciler(key: (2, seed))]
    random = SeededGenerator(seed: seed)
    for end in 0..<2 {
      reconcilers[end].setLeading(0, end == 0)
      reconcilers[end].up(0, now: now)
    }
  }

  mutating func run(until end: MonotonicTime) throws {
    while true {
      let next = min(air.first?.at ?? .never, reconcilers[0].deadline, reconcilers[1].deadline)
      guard next <= end else { break }
      now = max(now, next)
      for side in 0..<2 {
        var actions: [Reconciler.Action] = []
        reconcilers[side].tick(sets[side], now: now, wallMilliseconds: Self.wall, into: &actions)
        carryOut(actions, of: side)
      }
      while let first = air.first, first.at <= now {
        air.removeFirst()
        let copy = first.frame.encoded
        bytes += copy.count
        let frame = try ReconciliationFrame(decoding: copy.rawSpan)
        #expect(frame == first.frame)
        var actions: [Reconciler.Action] = []
        reconcilers[first.to].receive(
          frame, from: 0, sets[first.to], now: now, isKnown: { _ in false }, into: &actions)
        carryOut(actions, of: first.to)
      }
    }
    now = end
  }

  private mutating func carryOut(_ actions: [Reconciler.Action], of side: Int) {
    for action in actions {
      switch action {
      case .send(let frame, _):
        let isLost = Double(random.next() >> 11) / 0x1p53 < loss
        if !isLost { air.append((now.advanced(by: .milliseconds(20)), 1 - side, frame)) }
      case .push(let wanted, _, _):
        for key in wanted {
          guard let unit = keys[side][key], keys[1 - side][key] == nil else { continue }
          pushed += 1
          keys[1 - side][key] = unit
          sets[1 - side].insert(key, unit: unit)
        }
      case .count(let reason, let number): counts[reason, default: 0] += number
      }
    }
  }

  static func keys(_ count: Int, seed: UInt64) -> [UInt64: UInt32] {
    var random = SeededGenerator(seed: seed)
    let unit = PacketSet.unit(wall)
    // Most are of the last hours, a few of a node whose clock stands at 1970 and of one that is a day ahead.
    return Dictionary(
      uniqueKeysWithValues: (0..<count).map { number in
        let back = UInt32(truncatingIfNeeded: random.next() % 36)
        return (random.next(), number % 50 == 0 ? 3 : number % 50 == 1 ? unit + 144 : unit - back)
      })
  }
}

@Suite struct ReconcilerTests {
  @Test(arguments: [0.0, 0.1], [1, 2, 3] as [UInt64])
  func whatEitherLacksIsThereAfterTheFirstRounds(_ loss: Double, _ seed: UInt64) throws {
    let both = Neighbours.keys(400, seed: seed)
    let (mine, yours) = (Neighbours.keys(60, seed: seed + 100), Neighbours.keys(90, seed: seed + 200))
    var pair = Neighbours(
      both.merging(mine) { one, _ in one }, both.merging(yours) { one, _ in one }, seed: seed)
    pair.loss = loss
    try pair.run(until: .start.advanced(by: .seconds(loss > 0 ? 120 : 5)))
    #expect(pair.keys[0] == pair.keys[1] && pair.keys[0].count == 550, "seed \(seed)")
    #expect(pair.pushed == 150)
  }

  @Test func neighboursInStepSayFortyFiveBytesAMinute() throws {
    let keys = Neighbours.keys(500, seed: 9)
    var pair = Neighbours(keys, keys, seed: 9)
    try pair.run(until: .start.advanced(by: .seconds(600)))
    let before = pair.bytes
    try pair.run(until: .start.advanced(by: .seconds(1_200)))
    // The rounds are up to a quarter early.
    #expect(pair.bytes - before <= 14 * (43 + 2), "\(pair.bytes - before) bytes in ten minutes")
    #expect(pair.counts.isEmpty)
  }

  @Test func twoHundredOnEitherSideCostTwentySixBytesEach() throws {
    var pair = Neighbours(Neighbours.keys(200, seed: 4), Neighbours.keys(200, seed: 5), seed: 6)
    try pair.run(until: .start.advanced(by: .seconds(10)))
    #expect(pair.keys[0].count == 400 && pair.keys[1].count == 400)
    // Beside the symbols, eight bytes for each key that is asked for.
    #expect(pair.bytes <= 2 * 13 * 400, "\(pair.bytes) bytes")
  }

  @Test(arguments: [(false, false), (true, true)])
  func whoeverLeadsBothHaveEverything(_ leading: (Bool, Bool)) throws {
    // As two nodes may see it whose frames are carried to each other by somebody else.
    let both = Neighbours.keys(50, seed: 3)
    var pair = Neighbours(
      both.merging(Neighbours.keys(20, seed: 4)) { one, _ in one },
      both.merging(Neighbours.keys(20, seed: 5)) { one, _ in one }, seed: 6)
    for (end, isLeading) in [leading.0, leading.1].enumerated() {
      pair.reconcilers[end] = Reconciler(key: (1, 1))
      pair.reconcilers[end].setLeading(0, isLeading)
      pair.reconcilers[end].up(0, now: .start)
    }
    try pair.run(until: .start.advanced(by: .seconds(20)))
    #expect(pair.keys[0] == pair.keys[1] && pair.keys[0].count == 90)
  }

  @Test func aNeighbourThatDoesNotAnswerIsAskedSeldom() {
    var reconciler = Reconciler(key: (3, 4))
    reconciler.setLeading(5, true)
    reconciler.up(5, now: .start)
    var sent = 0
    var now = MonotonicTime.start
    while now < MonotonicTime.start.advanced(by: .seconds(600)) {
      var actions: [Reconciler.Action] = []
      reconciler.tick(PacketSet(), now: now, wallMilliseconds: 0, into: &actions)
      sent += actions.count { if case .send = $0 { true } else { false } }
      now = max(now.advanced(by: .milliseconds(1)), reconciler.deadline)
    }
    #expect(sent <= 3 * 14, "three each time, at most a minute apart")
  }

  @Test func requestsBeyondTheAllowanceAreNotAnswered() {
    var reconciler = Reconciler(key: (3, 4))
    reconciler.up(1, now: .start)
    var set = PacketSet()
    for key in 0..<1_000 as Range<UInt64> { set.insert(key, unit: 1) }
    var symbols = 0
    for number in 0..<1_000 as Range<UInt16> {
      var actions: [Reconciler.Action] = []
      let request = ReconciliationFrame.SymbolRequest(
        number: number, salt: 1, start: 0, end: .max, first: 0, count: 255)
      reconciler.receive(
        .symbolRequest(request), from: 1, set, now: .start, isKnown: { _ in false }, into: &actions)
      for case .send(.symbols(_, _, let some), _) in actions { symbols += some.count }
    }
    #expect(symbols <= RoutingLimits.symbolsAtOnce && symbols > 0)
  }

  @Test func anyFramesAreTakenWithoutHarm() throws {
    var random = SeededGenerator(seed: 8)
    var reconciler = Reconciler(key: (3, 4))
    var set = PacketSet()
    for key in Neighbours.keys(300, seed: 1) { set.insert(key.key, unit: key.value) }
    reconciler.setLeading(1, true)
    reconciler.up(1, now: .start)
    var now = MonotonicTime.start
    for _ in 0..<3_000 {
      var actions: [Reconciler.Action] = []
      var bytes = (0..<Int(random.next() % 120)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      if !bytes.isEmpty { bytes[0] = 68 + UInt8(random.next() % 5) }
      if let frame = try? ReconciliationFrame(decoding: bytes.rawSpan) {
        reconciler.receive(frame, from: Int(random.next() % 2), set, now: now, isKnown: { _ in false }, into: &actions)
      }
      // The answer to what was asked, but with noise in it.
      if let session = reconciler.session {
        let noise = (0..<8).map { _ in CodedSymbol(count: 1, sum: random.next(), check: 5) }
        reconciler.receive(
          .symbols(number: session.number, first: UInt16(session.decoder.taken), noise), from: 1, set, now: now,
          isKnown: { _ in false }, into: &actions)
      }
      reconciler.receive(.difference(7), from: 1, set, now: now, isKnown: { _ in false }, into: &actions)
      now = now.advanced(by: .milliseconds(Int64(random.next() % 3_000)))
      reconciler.tick(set, now: now, wallMilliseconds: Neighbours.wall, into: &actions)
    }
  }

  @Test func setsKeepTheirSumsWhateverComesAndGoes() {
    var random = SeededGenerator(seed: 2)
    var set = PacketSet()
    var model: [UInt64: UInt32] = [:]
    for _ in 0..<5_000 {
      if random.next() % 3 > 0 || model.isEmpty {
        let (key, unit) = (random.next() as UInt64, UInt32(random.next() % 40))
        model[key] = unit
        set.insert(key, unit: unit)
      } else if let key = model.keys.sorted().first, let unit = model.removeValue(forKey: key) {
        set.remove(key, unit: unit)
      }
    }
    #expect(set.count == model.count)
    for (start, end) in [(0, 40), (5, 6), (39, 40), (10, 30), (40, 50)] as [(UInt32, UInt32)] {
      let inside = model.filter { $0.value >= start && $0.value < end }.keys
      let window = set.window(from: start, to: end)
      #expect(window.sum == inside.reduce(0, &+) && Int(window.count) == inside.count)
      #expect(Set(set.keys(from: start, to: end)) == Set(inside))
    }
  }
}
