import DBusKit
import Streams
import TestKit
import Testing

@testable import BlueZTransport

/// What is registered, started and stopped, whatever comes in whatever order.
@Suite struct PlanTests {
  private let start = MonotonicTime(nanoseconds: 1_000_000_000)
  private let adapter = "/org/bluez/hci0"

  private func ready() -> (plan: AdapterPlan, now: MonotonicTime) {
    var plan = AdapterPlan(mayPower: false)
    plan.isAdvertising = true
    plan.isScanning = true
    plan.observe(adapter: adapter, isUsable: true, isPowered: true, isNewOwner: true, now: start)
    return (plan, start.advanced(by: BlueZLimits.afterPowerOn))
  }

  @Test func serviceComesBeforeAdvertisementAndDiscovery() {
    var (plan, now) = ready()
    #expect(plan.next(now: start).isEmpty, "the kernel needs a moment")
    #expect(plan.next(now: now) == [.registerApplication(adapter)])
    #expect(plan.next(now: now).isEmpty, "one at a time")
    plan.completed(.registerApplication(adapter), .done, now: now)
    #expect(plan.isReady)
    #expect(plan.next(now: now) == [.registerAdvertisement(adapter, isBare: false), .startDiscovery(adapter)])
  }

  private func running() -> (plan: AdapterPlan, now: MonotonicTime) {
    var (plan, now) = ready()
    for action in plan.next(now: now) { plan.completed(action, .done, now: now) }
    for action in plan.next(now: now) { plan.completed(action, .done, now: now) }
    return (plan, now)
  }

  @Test func aDialStopsDiscoveryAndItComesBack() {
    var (plan, now) = running()
    plan.isDialling = true
    #expect(plan.next(now: now) == [.stopDiscovery(adapter)])
    #expect(!plan.isQuiet)
    plan.completed(.stopDiscovery(adapter), .done, now: now)
    #expect(plan.isQuiet && plan.next(now: now).isEmpty)
    plan.isDialling = false
    #expect(plan.next(now: now) == [.startDiscovery(adapter)])
  }

  @Test func powerThatComesBackRestoresDiscoveryAndAdvertisement() {
    var (plan, now) = running()
    plan.observe(adapter: adapter, isUsable: true, isPowered: false, isNewOwner: false, now: now)
    #expect(plan.next(now: now).isEmpty && !plan.isReady, "an adapter that a person switched off stays off")
    now = now.advanced(by: .seconds(5))
    plan.observe(adapter: adapter, isUsable: true, isPowered: true, isNewOwner: false, now: now)
    now = now.advanced(by: BlueZLimits.afterPowerOn)
    #expect(plan.next(now: now) == [.unregisterAdvertisement(adapter), .startDiscovery(adapter)])
    plan.completed(.unregisterAdvertisement(adapter), .done, now: now)
    #expect(plan.next(now: now) == [.registerAdvertisement(adapter, isBare: false)])
  }

  @Test func powerThatDropsWhileItIsRestoredStartsOver() {
    var (plan, now) = ready()
    let first = plan.next(now: now)
    plan.observe(adapter: adapter, isUsable: true, isPowered: false, isNewOwner: false, now: now)
    for action in first { plan.completed(action, .refused, now: now) }
    #expect(plan.next(now: now).isEmpty)
    now = now.advanced(by: .seconds(2))
    plan.observe(adapter: adapter, isUsable: true, isPowered: true, isNewOwner: false, now: now)
    now = now.advanced(by: .seconds(1))
    #expect(plan.next(now: now) == [.registerApplication(adapter)])
  }

  @Test func anotherOwnerIsABeginning() {
    var (plan, now) = running()
    plan.observe(adapter: nil, isUsable: false, isPowered: false, isNewOwner: true, now: now)
    #expect(plan.next(now: now).isEmpty && plan.deadline(now: now) == nil)
    plan.observe(adapter: adapter, isUsable: true, isPowered: true, isNewOwner: false, now: now)
    now = now.advanced(by: BlueZLimits.afterPowerOn)
    #expect(plan.next(now: now) == [.registerApplication(adapter)])
    // What was begun under the former owner is void.
    plan.completed(.startDiscovery(adapter), .done, now: now)
    #expect(!plan.isDiscovering)
  }

  @Test func refusedAdvertisementsAreTriedWithLessAndLater() {
    var (plan, now) = ready()
    plan.isScanning = false
    for action in plan.next(now: now) { plan.completed(action, .done, now: now) }
    var tried: [AdapterPlan.Action] = []
    for _ in 0..<5 {
      let actions = plan.next(now: now)
      tried += actions
      for action in actions { plan.completed(action, .refused, now: now) }
      now = plan.deadline(now: now) ?? now
    }
    #expect(tried.prefix(2).allSatisfy { $0 == .registerAdvertisement(adapter, isBare: false) })
    #expect(tried.dropFirst(2).allSatisfy { $0 == .registerAdvertisement(adapter, isBare: true) })
    #expect(plan.cannotAdvertise && tried.count == 5)
  }

  @Test func instancesThatOthersHoldAreWaitedForWithoutLeavingAnythingOut() {
    var (plan, now) = ready()
    plan.isScanning = false
    for _ in 0..<4 {
      let actions = plan.next(now: now)
      for action in actions { plan.completed(action, action.isAdvertisement ? .exhausted : .done, now: now) }
      now = plan.deadline(now: now) ?? now
    }
    #expect(!plan.cannotAdvertise)
    #expect(plan.next(now: now) == [.registerAdvertisement(adapter, isBare: false)])
    plan.completed(.registerAdvertisement(adapter, isBare: false), .exhausted, now: now)
    #expect(plan.next(now: now).isEmpty)
    let isTried = plan.instancesChanged(now: now)
    #expect(isTried && plan.next(now: now) == [.registerAdvertisement(adapter, isBare: false)])
  }

  /// Runs a plan whose discovery is always refused for twenty minutes, and tells how often the power was cycled.
  private func cycles(mayPower: Bool) -> Int {
    var plan = AdapterPlan(mayPower: mayPower)
    plan.isScanning = true
    var now = start
    var isPowered = true
    var cycles = 0
    while now < start.advanced(by: .seconds(1_200)) {
      plan.observe(adapter: adapter, isUsable: true, isPowered: isPowered, isNewOwner: now == start, now: now)
      for action in plan.next(now: now) {
        switch action {
        case .powerOff:
          cycles += 1
          isPowered = false
          plan.completed(action, .done, now: now)
        case .power:
          isPowered = true
          plan.completed(action, .done, now: now)
        case .startDiscovery: plan.completed(action, .refused, now: now)
        default: plan.completed(action, .done, now: now)
        }
      }
      now = now.advanced(by: .seconds(1))
    }
    #expect(plan.isStuck(now))
    return cycles
  }

  @Test func discoveryThatIsStuckCyclesThePowerSeldomAndOnlyWhenAllowed() {
    #expect(cycles(mayPower: true) == 2)
    #expect(cycles(mayPower: false) == 0)
  }

  @Test func adapterIsSwitchedOnOnlyWhenAllowed() {
    var plan = AdapterPlan(mayPower: true)
    plan.observe(adapter: adapter, isUsable: true, isPowered: false, isNewOwner: true, now: start)
    #expect(plan.next(now: start) == [.power(adapter)])
    plan.completed(.power(adapter), .forbidden, now: start)
    #expect(plan.next(now: start.advanced(by: .seconds(2))).isEmpty, "rfkill: no loop")
    #expect(plan.next(now: start.advanced(by: BlueZLimits.lastRetry)) == [.power(adapter)])
  }

  @Test func powerThatIsGrantedAndDoesNotComeIsTriedLessAndLessOften() {
    var plan = AdapterPlan(mayPower: true)
    var tries = 0
    for second in 0..<300 {
      let now = start.advanced(by: .seconds(second))
      plan.observe(adapter: adapter, isUsable: true, isPowered: false, isNewOwner: false, now: now)
      for action in plan.next(now: now) {
        tries += 1
        plan.completed(action, .done, now: now)
      }
    }
    #expect((5...16).contains(tries), "\(tries)")
    let now = start.advanced(by: .seconds(400))
    plan.observe(adapter: adapter, isUsable: true, isPowered: true, isNewOwner: false, now: now)
    plan.observe(adapter: adapter, isUsable: true, isPowered: false, isNewOwner: false, now: now)
    #expect(plan.next(now: now) == [.power(adapter)], "one that was on is tried at once")
  }

  @Test func windowArithmeticHoldsOverEveryWrap() {
    var window = CreditWindow()
    var generator = SeededGenerator(seed: 82)
    var receiver = CreditWindow()
    var now = start
    var heard: [Int] = []
    var sent = 0
    for _ in 0..<5_000 {
      // Three bearers, none of which keeps pace with the others; one frame in ten is lost.
      var bearers: [[(UInt8, Int)]] = [[], [], []]
      while window.isOpen, generator.next() % 8 != 0 {
        let sequence = window.send(now: now)
        if generator.next() % 10 != 0 { bearers[Int(generator.next() % 3)].append((sequence, sent)) }
        sent += 1
      }
      while let bearer = bearers.indices.filter({ !bearers[$0].isEmpty }).randomElement(using: &generator) {
        let (sequence, number) = bearers[bearer].removeFirst()
        receiver.receive(sequence, [UInt8](number.description.utf8), now: now)
        while let frame = receiver.next() { heard.append(Int(String(decoding: frame, as: UTF8.self)) ?? -1) }
      }
      if let grant = receiver.grant(hasRoom: generator.next() % 5 != 0) { window.receiveGrant(grant) }
      #expect((0...BlueZLimits.window).contains(window.inFlight))
      guard !window.isOpen else { continue }
      window.receiveGrant(receiver.receiveProbe(window.lastSent, hasRoom: true, now: now))
      now = now.advanced(by: BlueZLimits.reorderTime)
      repeat {
        while let frame = receiver.next() { heard.append(Int(String(decoding: frame, as: UTF8.self)) ?? -1) }
      } while receiver.giveUpMissing(now: now)
      window.receiveGrant(receiver.receiveProbe(window.lastSent, hasRoom: true, now: now))
      #expect(window.inFlight == 0)
    }
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $0 < $1 }, "in order and once")
    #expect(receiver.reorderedFrames > 1_000 && sent - heard.count - Int(receiver.lostFrames) < BlueZLimits.window)
  }

  @Test func ceilingIsLearned() {
    var ceiling = LinkCeiling(now: start)
    #expect(ceiling.links == 5 && ceiling.mayDial(open: 2) && !ceiling.mayDial(open: 3))
    var hasChanged = ceiling.opened(open: 7)
    #expect(hasChanged && ceiling.links == 7)
    hasChanged = ceiling.failed(open: 4, isLimit: true, now: start)
    #expect(hasChanged && ceiling.links == 4)
    hasChanged = ceiling.tick(open: 3, now: start.advanced(by: .seconds(60)))
    #expect(!hasChanged)
    hasChanged = ceiling.tick(open: 1, now: start.advanced(by: BlueZLimits.ceilingHold))
    #expect(!hasChanged, "nothing was held back")
    hasChanged = ceiling.tick(open: 2, now: start.advanced(by: BlueZLimits.ceilingHold))
    #expect(hasChanged && ceiling.links == 5)
    hasChanged = ceiling.failed(open: 2, isLimit: false, now: start)
    #expect(!hasChanged, "once may be chance")
    hasChanged = ceiling.failed(open: 2, isLimit: false, now: start)
    #expect(hasChanged && ceiling.links == 2)
  }

  @Test func theSmallerHintDialsAndOneAtATime() throws {
    var queue = DialQueue()
    let patient = queue.add("A", ownAddress: "Z", ownHint: 9, peerHint: 3, spread: 0.5, now: start)
    let eager = queue.add("B", ownAddress: "Z", ownHint: 9, peerHint: 12, spread: 0.5, now: start)
    let first = queue.next(now: start)
    let second = queue.next(now: start)
    #expect(first?.number == eager && second == nil)
    if let eager { _ = queue.remove(eager) }
    let third = queue.next(now: start)
    #expect(third == nil)
    let due = try #require(queue.deadline(now: start))
    #expect(due == start.advanced(by: BlueZLimits.yieldTime + BlueZLimits.yieldJitter * 0.5))
    let last = queue.next(now: due)
    #expect(last?.number == patient)
  }

  @Test func whereAHintIsMissingTheSmallerAddressDials() {
    func begin(_ address: String, of own: String) -> MonotonicTime? {
      var queue = DialQueue()
      _ = queue.add(address, ownAddress: own, ownHint: 9, peerHint: nil, spread: 0.5, now: start)
      return queue.deadline(now: start)
    }
    #expect(begin("00:B1", of: "00:B0") == start)
    let late = start.advanced(by: BlueZLimits.shortYieldTime + BlueZLimits.yieldJitter * 0.5)
    #expect(begin("00:B0", of: "00:B1") == late)
  }
}

extension AdapterPlan.Action {
  fileprivate var isAdvertisement: Bool {
    if case .registerAdvertisement = self { return true }
    return false
  }
}
