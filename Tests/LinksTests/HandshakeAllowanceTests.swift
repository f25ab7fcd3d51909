import Streams
import Testing
import Transports

@testable import Links

@Suite struct HandshakeAllowanceTests {
  private func key(_ name: String) -> DialPlan.Key { DialPlan.Key(transport: 0, address: TransportAddress(name)) }

  @Test func addressHasItsShareOfEveryMinute() {
    var allowance = HandshakeAllowance()
    var now = MonotonicTime.start
    var granted: [Int] = []
    for second in 0..<180 {
      if allowance.begin(key("one"), now: now) { granted.append(second) }
      now = now.advanced(by: .seconds(1))
    }
    #expect(granted == Array(0..<10) + Array(60..<70) + Array(120..<130))
    let isGranted = allowance.begin(key("another"), now: now)
    #expect(isGranted)
  }

  @Test func addressesAreBoundedAndTheOldestGoes() {
    var allowance = HandshakeAllowance()
    var now = MonotonicTime.start
    for number in 0..<10 * LinksLimits.countedAddresses {
      let isGranted = allowance.begin(key("\(number)"), now: now)
      #expect(isGranted)
      now = now.advanced(by: .milliseconds(1))
    }
    #expect(allowance.count == LinksLimits.countedAddresses)
  }
}
