import Identities
import Streams
import TestKit
import Testing
import Transports

@testable import Links

@Suite struct DialPlanTests {
  let now = MonotonicTime(nanoseconds: 1_000_000_000_000)

  func key(_ name: String, transport: Int = 0) -> Candidate.Key {
    Candidate.Key(transport: transport, address: TransportAddress(name))
  }

  func dials(_ plan: inout DialPlan, at time: MonotonicTime? = nil, links: Int = 0, linked: Set<PeerID> = [])
    -> [String]
  {
    plan.dials(now: time ?? now, links: { _ in links }, isLinked: { linked.contains($0) }).map(\.address.description)
  }

  func plan(_ names: String..., linkLimit: Int = 8) -> DialPlan {
    var plan = DialPlan(linkLimits: [linkLimit])
    plan.powered(0, isOn: true, now: now)
    for name in names { plan.heard(key(name), signalStrength: -60, hint: 1, now: now, random: 0) }
    return plan
  }

  @Test func nothingIsDialledBeforeThePower() {
    var plan = plan("a")
    plan.powered(0, isOn: false, now: now)
    #expect(dials(&plan).isEmpty && plan.deadline(after: now) == nil)
    plan.powered(0, isOn: true, now: now)
    #expect(dials(&plan) == ["a"])
    #expect(dials(&plan).isEmpty)
  }

  @Test func whoWasKnownBeforeARestartIsDialledFirstWithSpread() {
    var plan = DialPlan(linkLimits: [8])
    plan.expect(["far friend", "other friend", "third friend"].map { key($0) })
    plan.heard(key("stranger"), signalStrength: -30, hint: 1, now: now, random: 0)
    #expect(dials(&plan).isEmpty, "nothing before the power")
    plan.powered(0, isOn: true, now: now)
    plan.heard(key("near stranger"), signalStrength: -30, hint: 1, now: now, random: 0)
    plan.heard(key("far friend"), signalStrength: -90, hint: 1, now: now, random: .max / 2)
    plan.heard(key("other friend"), signalStrength: -91, hint: 1, now: now, random: .max)
    let half = now.advanced(by: LinksLimits.reconnectSpread / 2)
    #expect(plan.deadline(after: now).map { $0 <= half } == true)
    #expect(dials(&plan, at: half) == ["far friend"])
    #expect(dials(&plan, at: now.advanced(by: LinksLimits.reconnectSpread)) == ["other friend"])
    for name in ["far friend", "other friend"] { plan.linked(key(name), now: half) }
    #expect(dials(&plan, at: now.advanced(by: LinksLimits.headStart - .milliseconds(1))).isEmpty)
    #expect(dials(&plan, at: now.advanced(by: LinksLimits.headStart)) == ["near stranger", "stranger"])
  }

  @Test func withNobodyKnownNobodyWaits() {
    var plan = plan("a")
    plan.powered(0, isOn: false, now: now)
    plan.powered(0, isOn: true, now: now)
    #expect(dials(&plan) == ["a"])
  }

  @Test func anAddressOfAnEarlierRunThatFailsThriceIsAStrangers() {
    var plan = DialPlan(linkLimits: [8])
    plan.expect([key("friend")])
    plan.powered(0, isOn: true, now: now)
    plan.heard(key("friend"), signalStrength: -60, hint: 1, now: now, random: 0)
    var time = now
    for failure in 1...LinksLimits.expectedFailures {
      #expect(plan.candidates[key("friend")]?.isFamiliar == true, "\(failure)")
      time = time.advanced(by: .seconds(100))
      plan.heard(key("friend"), signalStrength: -60, hint: 1, now: time, random: 0)
      #expect(dials(&plan, at: time) == ["friend"])
      plan.failed(key("friend"), step: .connect, reason: "x", now: time, random: 0)
    }
    #expect(plan.candidates[key("friend")]?.isFamiliar == false)
  }

  @Test func addressesThatLedToAPeerAreToldTheLinkedFirst() {
    var plan = plan("a", "b", "c", "d")
    for (name, number) in [("a", UInt64(1)), ("b", 2), ("c", 3)] {
      plan.linked(key(name), now: now)
      plan.identified(key(name), as: PeerID(high: number, low: 1))
    }
    for name in ["b", "c"] { plan.unlinked(key(name), hasFailed: false, reason: "x", now: now, random: 0) }
    plan.heard(key("c"), signalStrength: -60, hint: 1, now: now.advanced(by: .seconds(1)), random: 0)
    #expect(plan.proved(on: 0).map(\.description) == ["a", "c", "b"])
  }

  @Test func theNearestAreDialledFirstAndTwoAtATime() {
    var plan = plan()
    for (name, signal) in [("far", -90), ("near", -40), ("unknown", nil), ("middle", -60)] as [(String, Int8?)] {
      plan.heard(key(name), signalStrength: signal, hint: nil, now: now, random: 0)
    }
    #expect(dials(&plan) == ["near", "middle"])
    plan.failed(key("near"), step: .connect, reason: "x", now: now, random: 0)
    #expect(dials(&plan) == ["far"])
  }

  @Test func addressesThatSomebodyMakesUpCostOneDialASecond() throws {
    var plan = plan("friend")
    let friend = key("friend")
    _ = dials(&plan)
    plan.linked(friend, now: now)
    plan.identified(friend, as: PeerID(high: 1, low: 1))
    plan.unlinked(friend, hasFailed: false, reason: "x", now: now, random: 0)
    var (time, dialled) = (now, 0)
    let end = now.advanced(by: .seconds(120))
    while time < end {
      plan.heard(key("invented \(time.nanoseconds)"), signalStrength: -40, hint: nil, now: time, random: 0)
      for name in dials(&plan, at: time) where name != "friend" {
        dialled += 1
        plan.failed(key(name), step: .connect, reason: "x", now: time, random: 0)
      }
      time = time.advanced(by: .milliseconds(20))
    }
    #expect(dialled == 2 * LinksLimits.failedDials)
    plan.heard(friend, signalStrength: -80, hint: 1, now: time, random: 0)
    plan.failed(friend, step: .connect, reason: "x", now: time, random: 0)
    plan.heard(friend, signalStrength: -80, hint: 2, now: time, random: 0)
    #expect(dials(&plan, at: time).contains("friend"), "who has proved a key is dialled as ever")
  }

  @Test func whatStrangersCauseIsSaidOnceAMinuteWithItsNumber() {
    var sampler = LogSampler()
    var said: [UInt64] = []
    for second in 0..<150 {
      if let unsaid = sampler.happened(now: now.advanced(by: .seconds(second))) { said.append(unsaid) }
    }
    #expect(said == [0, 59, 59])
  }

  @Test func thereIsRoomForAsManyAsTheTransportHolds() {
    var plan = plan("a", "b", linkLimit: 3)
    #expect(dials(&plan, links: 3).isEmpty)
    #expect(dials(&plan, links: 2) == ["a"])
  }

  @Test func failuresDoubleTheWaitWithinAQuarter() {
    for random: UInt64 in [0, .max / 2, .max] {
      var plan = plan("a")
      var time = now
      for failure in 0..<12 {
        #expect(dials(&plan, at: time) == ["a"])
        plan.failed(key("a"), step: .connect, reason: "x", now: time, random: random)
        let seconds = min(Double(1 << failure), 60)
        let wait = plan.candidates[key("a")]!.notBefore.since(time)
        #expect(wait >= .seconds(seconds * 0.75) && wait <= .seconds(seconds * 1.2501), "failure \(failure): \(wait)")
        let notBefore = plan.candidates[key("a")]!.notBefore
        plan.heard(key("a"), signalStrength: -60, hint: 1, now: notBefore, random: 0)
        #expect(dials(&plan, at: MonotonicTime(nanoseconds: notBefore.nanoseconds - 1)).isEmpty)
        time = notBefore
      }
    }
  }

  @Test func whoIsNotInTheAirIsDialledWhenHeardAgainAndNothingHasFailed() {
    var plan = plan("a")
    #expect(dials(&plan) == ["a"])
    plan.failed(key("a"), step: .scan, reason: "gone", now: now, random: 0)
    #expect(plan.candidates[key("a")]?.failures == 0 && plan.deadline(after: now) == nil)
    let later = now.advanced(by: .seconds(5))
    #expect(dials(&plan, at: later).isEmpty, "not by itself")
    plan.heard(key("a"), signalStrength: -60, hint: 1, now: later, random: 0)
    #expect(dials(&plan, at: later) == ["a"])
  }

  @Test func powerThatComesBackEndsTheWait() {
    var plan = plan("a")
    for _ in 0..<3 {
      _ = dials(&plan, at: now.advanced(by: .seconds(100)))
      plan.failed(key("a"), step: .connect, reason: "no power", now: now, random: 0)
    }
    #expect(dials(&plan, at: now.advanced(by: .milliseconds(1))).isEmpty)
    plan.powered(0, isOn: false, now: now)
    plan.powered(0, isOn: true, now: now)
    #expect(dials(&plan) == ["a"])
  }

  @Test func anotherBootOfThePeerEndsTheWait() {
    var plan = plan("a")
    _ = dials(&plan)
    plan.failed(key("a"), step: .connect, reason: "x", now: now, random: 0)
    plan.heard(key("a"), signalStrength: -60, hint: 1, now: now, random: 0)
    plan.heard(key("a"), signalStrength: -60, hint: nil, now: now, random: 0)
    #expect(dials(&plan).isEmpty)
    plan.heard(key("a"), signalStrength: -60, hint: 2, now: now, random: 0)
    #expect(dials(&plan) == ["a"])
  }

  @Test func whoIsLinkedIsNotDialledWhateverTheAddress() {
    var plan = plan("a", "b")
    let peer = PeerID(high: 1, low: 1)
    plan.linked(key("a"), now: now)
    plan.identified(key("a"), as: peer)
    plan.identified(key("b"), as: peer)
    #expect(dials(&plan, linked: [peer]).isEmpty)
    #expect(dials(&plan) == ["b"])
  }

  @Test func aLostLinkIsTriedAgainAtOnceAndARefusedOneLater() {
    var plan = plan("a", "b")
    for name in ["a", "b"] { plan.linked(key(name), now: now) }
    plan.unlinked(key("a"), hasFailed: false, reason: "lost", now: now, random: .max)
    plan.unlinked(key("b"), hasFailed: true, reason: "refused", now: now, random: .max)
    #expect(plan.candidates[key("a")]!.notBefore.since(now) <= LinksLimits.reconnectSpread)
    #expect(plan.candidates[key("b")]!.notBefore.since(now) >= .milliseconds(750))
    #expect(plan.candidates[key("b")]!.lastFailure == .init(step: .subscribe, reason: "refused"))
  }

  @Test func anAddressNotHeardForLongIsNotDialled() {
    var plan = plan("a")
    let end = now.advanced(by: LinksLimits.candidateLifetime)
    #expect(dials(&plan, at: end).isEmpty)
    #expect(dials(&plan, at: MonotonicTime(nanoseconds: end.nanoseconds - 1)) == ["a"])
  }

  @Test func addressesAreBoundedAndTheOneHeardLongestAgoGoes() {
    var plan = plan()
    for number in 0..<LinksLimits.candidates {
      plan.heard(key("\(number)"), signalStrength: nil, hint: nil, now: now.advanced(by: .seconds(number)), random: 0)
    }
    plan.heard(key("new"), signalStrength: nil, hint: nil, now: now, random: 0)
    #expect(plan.candidates.count == LinksLimits.candidates)
    #expect(plan.candidates[key("0")] == nil && plan.candidates[key("1")] != nil && plan.candidates[key("new")] != nil)
  }
}
