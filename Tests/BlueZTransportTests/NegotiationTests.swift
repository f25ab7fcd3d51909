import Streams
import TestKit
import Testing
import Transports

@testable import BlueZTransport

/// Two negotiations that speak to each other, in every order that a radio can bring.
@Suite struct NegotiationTests {
  private let start = MonotonicTime(nanoseconds: 1_000_000_000)

  /// Carries what both say to the other until nobody says anything; answers what is left.
  private func converse(
    _ one: inout LinkNegotiation, _ other: inout LinkNegotiation, first: [LinkNegotiation.Action], now: MonotonicTime
  ) -> (one: [LinkNegotiation.Action], other: [LinkNegotiation.Action]) {
    var (left, right): ([LinkNegotiation.Action], [LinkNegotiation.Action]) = ([], [])
    var toOther: [LinkNegotiation.Action] = first
    while !toOther.isEmpty {
      var next: [LinkNegotiation.Action] = []
      for action in toOther {
        left.append(action)
        guard case .say(let message) = action else { continue }
        next += other.received(message.bytes, hasRoom: true, now: now)
      }
      toOther = []
      for action in next {
        right.append(action)
        guard case .say(let message) = action else { continue }
        toOther += one.received(message.bytes, hasRoom: true, now: now)
      }
    }
    return (left, right)
  }

  private func made() -> (
    dialler: LinkNegotiation, other: LinkNegotiation,
    actions: (
      one: [LinkNegotiation.Action], other: [LinkNegotiation.Action]
    )
  ) {
    var dialler = LinkNegotiation(isDialler: true, token: 1, now: start)
    var other = LinkNegotiation(isDialler: false, token: 2, now: start)
    var actions = dialler.resolved("/c", mtu: 517, now: start)
    _ = other.resolved("/d", mtu: 517, now: start)
    actions += dialler.subscribed(now: start)
    let rest = converse(&dialler, &other, first: actions, now: start)
    return (dialler, other, rest)
  }

  @Test func whoeverWritesGarbageAgainAndAgainIsSentAway() {
    for isOpen in [false, true] {
      var one = isOpen ? made().other : LinkNegotiation(isDialler: false, token: 3, now: start)
      var said: [LinkNegotiation.Action] = []
      for number in 0..<20 { said += one.received([0xE0, UInt8(number)], hasRoom: true, now: start) }
      #expect(said == [.refuse] && one.garbage == BlueZLimits.garbage)
    }
  }

  @Test func bothEndsAgreeOnALink() {
    let (dialler, other, actions) = made()
    #expect(dialler.isOpen && other.isOpen)
    #expect(actions.one.contains(.open(.central)) && actions.other.contains(.open(.peripheral)))
    let steps = actions.one.compactMap { action -> DialStep? in
      if case .step(let step) = action { return step }
      return nil
    }
    #expect(steps == [.discoverService, .discoverCharacteristic, .subscribe])
    #expect(dialler.frameSize == 507 && other.frameSize == 507)
  }

  @Test func whenBothDialTheSmallerTokenIsTheCentral() {
    var one = LinkNegotiation(isDialler: true, token: 7, now: start)
    var other = LinkNegotiation(isDialler: true, token: 5, now: start)
    _ = one.resolved("/c", mtu: 517, now: start)
    _ = other.resolved("/d", mtu: 517, now: start)
    var first = one.subscribed(now: start)
    // The hello comes before the other is subscribed.
    for case .say(let message) in first { _ = other.received(message.bytes, hasRoom: true, now: start) }
    first = other.subscribed(now: start)
    let rest = converse(&other, &one, first: first, now: start)
    #expect(rest.one.contains(.open(.central)) && rest.other.contains(.open(.peripheral)))
  }

  @Test func whoCannotWriteAnswersByNotification() {
    var dialler = LinkNegotiation(isDialler: true, token: 1, now: start)
    var other = LinkNegotiation(isDialler: false, token: 2, now: start)
    _ = dialler.resolved("/c", mtu: 247, now: start)
    other.learn(247)
    for case .say(let message) in dialler.subscribed(now: start) {
      #expect(other.received(message.bytes, hasRoom: true, now: start).isEmpty, "it waits for a characteristic")
    }
    let later = start.advanced(by: BlueZLimits.answerWithin)
    let answer = other.tick(now: later)
    #expect(answer.contains(.open(.peripheral)) && other.target == nil && other.peerToken == 1)
    #expect(other.frameSize == 247 - 5 - 7)
    for case .say(let message) in answer {
      let tagged = LinkMessage.tagged(9, message)
      #expect(dialler.received(tagged.bytes, hasRoom: true, now: later).isEmpty, "for somebody else")
      #expect(
        dialler.received(LinkMessage.tagged(1, message).bytes, hasRoom: true, now: later).contains(.open(.central)))
    }
    // The characteristic comes after all: from now on it is written to.
    _ = other.resolved("/d", mtu: 247, now: later)
    #expect(other.target == "/d" && other.frameSize == 240)
  }

  @Test func framesFlowAndRoomIsGranted() {
    var (dialler, other, _) = made()
    var delivered: [[UInt8]] = []
    for number in 0..<1_000 {
      var first: [LinkNegotiation.Action] = []
      #expect(dialler.maySend, "room is granted in time")
      first.append(.say(dialler.message(carrying: [UInt8(truncatingIfNeeded: number), 1], now: start)))
      let (_, right) = converse(&dialler, &other, first: first, now: start)
      for case .deliver(let frame) in right { delivered.append(frame) }
    }
    #expect(delivered.count == 1_000 && other.lostFrames == 0)
  }

  @Test func framesThatOvertakeEachOtherAreHandedOnInOrder() {
    var (dialler, other, _) = made()
    let values = (0..<4).map { dialler.message(carrying: [UInt8($0)], now: start).bytes }
    #expect(other.received(values[2], hasRoom: true, now: start).isEmpty)
    #expect(other.received(values[0], hasRoom: true, now: start) == [.deliver([0])])
    #expect(other.received(values[2], hasRoom: true, now: start).isEmpty, "twice")
    #expect(other.received(values[1], hasRoom: true, now: start) == [.deliver([1]), .deliver([2])])
    #expect(other.received(values[1], hasRoom: true, now: start).isEmpty, "late, or again")
    #expect(other.received(values[3], hasRoom: true, now: start) == [.deliver([3])])
    #expect(other.lostFrames == 0 && other.reorderedFrames == 2)
  }

  @Test func frameThatDoesNotComeHoldsOthersUpForASecond() {
    var (dialler, other, _) = made()
    let values = (0..<3).map { dialler.message(carrying: [UInt8($0)], now: start).bytes }
    #expect(other.received(values[1], hasRoom: true, now: start).isEmpty)
    let due = start.advanced(by: BlueZLimits.reorderTime)
    #expect(other.deadline == due)
    #expect(other.tick(now: due) == [.deliver([1])] && other.lostFrames == 1)
    #expect(other.received(values[0], hasRoom: true, now: due).isEmpty, "too late")
    #expect(other.received(values[2], hasRoom: true, now: due) == [.deliver([2])])
  }

  @Test func whatWaitsForAMissingFrameGoesBeforeTheEnd() {
    var (dialler, other, _) = made()
    let values = (0..<2).map { dialler.message(carrying: [UInt8($0)], now: start).bytes }
    _ = other.received(values[1], hasRoom: true, now: start)
    #expect(other.received(LinkMessage.bye.bytes, hasRoom: true, now: start).isEmpty)
    let due = start.advanced(by: BlueZLimits.byeTime)
    #expect(!other.maySend && other.deadline == due)
    #expect(other.tick(now: due) == [.deliver([1]), .end(.closedByPeer, reason: EndReason.closed)])
  }

  @Test func frameThatOvertakesTheAnswerToAHelloIsKept() {
    var dialler = LinkNegotiation(isDialler: true, token: 1, now: start)
    var other = LinkNegotiation(isDialler: false, token: 2, now: start)
    _ = other.resolved("/d", mtu: 517, now: start)
    _ = dialler.resolved("/c", mtu: 517, now: start)
    var answers: [LinkMessage] = []
    for case .say(let message) in dialler.subscribed(now: start) {
      for case .say(let answer) in other.received(message.bytes, hasRoom: true, now: start) { answers.append(answer) }
    }
    let frame = other.message(carrying: [7], now: start)
    #expect(dialler.received(frame.bytes, hasRoom: true, now: start).isEmpty)
    let opened = answers.flatMap { dialler.received($0.bytes, hasRoom: true, now: start) }
    #expect(opened.contains(.open(.central)) && opened.last == .deliver([7]) && dialler.garbage == 0)
  }

  @Test func aFullWindowIsProbedAndGivenUpInTheEnd() {
    var (dialler, other, _) = made()
    var count = 0
    while dialler.maySend {
      _ = dialler.message(carrying: [1], now: start)
      count += 1
    }
    #expect(count == BlueZLimits.window, "all of them are lost")
    let later = start.advanced(by: BlueZLimits.probeAfter)
    let probes = dialler.tick(now: later)
    #expect(probes.count == 1)
    _ = converse(&dialler, &other, first: probes, now: later)
    #expect(!dialler.maySend && other.lostFrames == 0, "they may have been overtaken")
    var now = later.advanced(by: BlueZLimits.reorderTime)
    #expect(other.deadline <= now)
    for case .say(let grant) in other.tick(now: now) { _ = dialler.received(grant.bytes, hasRoom: true, now: now) }
    #expect(dialler.maySend && other.lostFrames == UInt64(BlueZLimits.window))
    while dialler.maySend { _ = dialler.message(carrying: [1], now: now) }
    var last: [LinkNegotiation.Action] = []
    for _ in 0...BlueZLimits.probes {
      now = now.advanced(by: BlueZLimits.probeAfter)
      last = dialler.tick(now: now)
    }
    #expect(last == [.end(.lost, reason: "the peer grants no more room")])
  }

  @Test func aPeerThatBeginsAnewEndsTheLink() {
    var (dialler, _, _) = made()
    let hello = LinkMessage.hello(.init(isDialler: false, mtu: 517, token: 3, heard: 0))
    let actions = dialler.received(hello.bytes, hasRoom: true, now: start)
    #expect(actions == [.restart(hello.bytes)] && !dialler.isOpen)
  }

  @Test func aServiceThatGoesHasAMomentToComeBack() {
    for comesBack in [true, false] {
      var (dialler, other, _) = made()
      #expect(dialler.resolved(nil, mtu: nil, now: start).isEmpty)
      let later = start.advanced(by: BlueZLimits.serviceGrace)
      if comesBack {
        let actions = dialler.resolved("/e", mtu: 517, now: start)
        #expect(actions.first == .subscribe("/e"))
        _ = converse(&dialler, &other, first: actions, now: start)
        #expect(dialler.tick(now: later).isEmpty && dialler.isOpen && other.isOpen)
      } else {
        #expect(dialler.tick(now: later) == [.end(.lost, reason: "the peer's service has gone")])
      }
    }
  }

  @Test func aQuietPeerIsAskedAndOneThatHasDiedIsNoticed() {
    var (dialler, other, _) = made()
    var now = start.advanced(by: BlueZLimits.quietTime)
    for _ in 0..<20 {
      _ = converse(&dialler, &other, first: dialler.tick(now: now), now: now)
      #expect(dialler.isOpen && other.isOpen, "ten idle minutes end no link")
      now = now.advanced(by: .seconds(30))
      _ = converse(&other, &dialler, first: other.tick(now: now), now: now)
    }
    var ends: [LinkNegotiation.Action] = []
    let died = now
    while ends.isEmpty, now.since(died) < .seconds(60) {
      now = max(now, dialler.deadline)
      ends = dialler.tick(now: now).filter { if case .end = $0 { true } else { false } }
    }
    #expect(ends == [.end(.lost, reason: "no sign of life")] && now.since(died) <= .seconds(35))
  }

  @Test func strangersAreLeftAlone() {
    var other = LinkNegotiation(isDialler: false, token: 2, now: start)
    #expect(other.received([0xFF, 1, 2], hasRoom: true, now: start).isEmpty)
    #expect(other.received(LinkMessage.data(sequence: 0, frame: [1]).bytes, hasRoom: true, now: start).isEmpty)
    #expect(other.garbage + other.early == 2)
    #expect(other.tick(now: start.advanced(by: BlueZLimits.silentAfter)) == [.silent])
    #expect(!other.isOpen && other.deadline == .never)
  }

  @Test func diallingEndsByItsDeadlines() {
    var dialler = LinkNegotiation(isDialler: true, token: 1, now: start)
    let late = start.advanced(by: BlueZLimits.resolveDeadline)
    #expect(dialler.tick(now: late) == [.end(.lost, reason: "our characteristic did not show")])
    var greeting = LinkNegotiation(isDialler: true, token: 1, now: start)
    _ = greeting.resolved("/c", mtu: 100, now: start)
    _ = greeting.subscribed(now: start)
    var now = start
    // The first was said when it was subscribed.
    var hellos = 1
    while greeting.deadline != .never {
      now = greeting.deadline
      for action in greeting.tick(now: now) {
        if case .say(.hello) = action { hellos += 1 }
        if case .end(_, let reason) = action { #expect(reason == "no answer to the hello") }
      }
      if now.since(start) > .seconds(60) { break }
    }
    // One each two seconds, and none when it is over.
    #expect((3...4).contains(hellos) && now.since(start) == BlueZLimits.helloDeadline)
  }

  @Test func anyBytesAreAMessageThatComesBackOrNone() {
    var generator = SeededGenerator(seed: 81)
    for _ in 0..<20_000 {
      let count = Int.random(in: 0...24, using: &generator)
      var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      if !bytes.isEmpty { bytes[0] &= 7 }
      guard let message = LinkMessage(decoding: bytes) else { continue }
      #expect(LinkMessage(decoding: message.bytes) == message)
    }
  }
}
