import Streams
import TestKit
import Testing
import Transports

@testable import Scanning

@Suite struct SightingFilterTests {
  let now = MonotonicTime(nanoseconds: 1_000_000_000)

  func sighting(_ name: String = "a", hint: UInt32? = 1, signal: Int8? = -60) -> Sighting {
    Sighting(
      address: TransportAddress(name), advertisement: hint.map { Advertisement(hint: $0, digest: 0) },
      signalStrength: signal)
  }

  @Test func aNewAddressIsToldAtOnceAndThenAfterAWhile() {
    var filter = SightingFilter()
    let first = filter.heard(sighting(), transport: 3, now: now)
    let key = Candidate.Key(transport: 3, address: TransportAddress("a"))
    #expect(first == Candidate(key: key, signalStrength: -60, hint: 1))
    let end = now.advanced(by: ScanningLimits.repeatAfter)
    let early = filter.heard(sighting(), transport: 3, now: MonotonicTime(nanoseconds: end.nanoseconds - 1))
    let due = filter.heard(sighting(), transport: 3, now: end)
    let again = filter.heard(sighting(), transport: 3, now: end)
    #expect(early == nil && due != nil && again == nil)
    let other = filter.heard(sighting(), transport: 4, now: end)
    #expect(other != nil && filter.count == 2)
  }

  @Test func anotherBootOfThePeerIsToldAtOnce() {
    var filter = SightingFilter()
    _ = filter.heard(sighting(hint: 1), transport: 0, now: now)
    let same = filter.heard(sighting(hint: 1), transport: 0, now: now)
    let unread = filter.heard(sighting(hint: nil), transport: 0, now: now)
    let other = filter.heard(sighting(hint: 2), transport: 0, now: now)
    #expect(same == nil && unread == nil && other?.hint == 2)
  }

  @Test func anAdvertisementThatCannotBeReadIsHeardToo() {
    var filter = SightingFilter()
    let heard = filter.heard(sighting(hint: nil, signal: nil), transport: 0, now: now)
    #expect(heard != nil && heard?.hint == nil && heard?.signalStrength == nil)
  }

  @Test func theSignalIsSmoothedAndAStepIsTold() {
    var filter = SightingFilter()
    _ = filter.heard(sighting(signal: -60), transport: 0, now: now)
    // A quarter of 20 dB is 5: not enough; of 24 dB it is 6.
    let small = filter.heard(sighting(signal: -80), transport: 0, now: now)
    #expect(small == nil)
    var fresh = SightingFilter()
    _ = fresh.heard(sighting(signal: -60), transport: 0, now: now)
    let step = fresh.heard(sighting(signal: -84), transport: 0, now: now)
    #expect(step?.signalStrength == -66)
  }

  @Test func aSignalTooWeakForALinkIsNotTold() {
    for (signal, isTold) in [(Int8(-94), true), (-95, true), (-96, false), (-128, false), (127, true)] {
      var filter = SightingFilter()
      let told = filter.heard(sighting(signal: signal), transport: 0, now: now) != nil
      #expect(told == isTold, "\(signal) dBm")
    }
  }

  @Test func aPeerThatComesNearerThanTheLimitIsToldWithoutDelay() {
    var filter = SightingFilter()
    _ = filter.heard(sighting(signal: -100), transport: 0, now: now)
    var told: Candidate?
    for _ in 0..<10 where told == nil { told = filter.heard(sighting(signal: -50), transport: 0, now: now) }
    #expect(told != nil)
  }

  @Test func addressesAreBoundedAndTheOneHeardLongestAgoGoes() {
    var filter = SightingFilter()
    for number in 0..<ScanningLimits.addresses {
      _ = filter.heard(sighting("\(number)"), transport: 0, now: now.advanced(by: .milliseconds(number)))
    }
    let later = now.advanced(by: .milliseconds(ScanningLimits.addresses))
    _ = filter.heard(sighting("new"), transport: 0, now: later)
    #expect(filter.count == ScanningLimits.addresses)
    let first = filter.heard(sighting("0"), transport: 0, now: later)
    let second = filter.heard(sighting("2"), transport: 0, now: later)
    #expect(first != nil && second == nil)
  }
}
