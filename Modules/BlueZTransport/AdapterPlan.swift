package import Streams

/// What is to be registered, started and stopped at an adapter, compared with what is: level-triggered, so that it does
/// not matter in which order power, owners and wishes change. One operation for each resource at a time. Pure.
package struct AdapterPlan: Sendable {
  package enum Action: Sendable, Hashable {
    case power(String)
    /// For a moment, because nothing else helps; switched on again at once.
    case powerOff(String)
    case registerApplication(String)
    case registerAdvertisement(String, isBare: Bool)
    case unregisterAdvertisement(String)
    case startDiscovery(String)
    case stopDiscovery(String)
  }

  /// What became of an action.
  package enum Outcome: Sendable, Hashable {
    case done
    /// It was so already.
    case already
    case refused
    /// Other programs hold every advertising instance.
    case exhausted
    /// rfkill, or no right: only a person can help.
    case forbidden
  }

  private enum Stage: Sendable, Hashable { case off, starting, on, stopping }

  private struct Resource: Sendable {
    var stage = Stage.off
    var retryAt = MonotonicTime.start
    var delay = BlueZLimits.firstRetry
    var refusals = 0
    var refusedSince: MonotonicTime?

    mutating func refused(now: MonotonicTime) {
      stage = .off
      refusals += 1
      refusedSince = refusedSince ?? now
      retryAt = now.advanced(by: delay)
      delay = min(delay * 2, BlueZLimits.lastRetry)
    }

    mutating func succeeded() { self = Resource(stage: .on) }
    func isDue(_ now: MonotonicTime) -> Bool { stage == .off && retryAt <= now }
  }

  /// Whether an adapter that is off is to be switched on.
  private let mayPower: Bool
  private var adapter: String?
  private var isUsable = false
  private var isPowered = false
  private var readyAt = MonotonicTime.never
  private var power = Resource()
  private var application = Resource()
  private var advertising = Resource()
  private var discovery = Resource()
  private var isAdvertisementStale = false
  private var mayCycleAt = MonotonicTime.start

  /// What is wanted.
  package var isAdvertising = false
  package var isScanning = false
  /// A dial needs the radio: no discovery meanwhile.
  package var isDialling = false

  package init(mayPower: Bool) { self.mayPower = mayPower }

  package var isReady: Bool { adapter != nil && isUsable && isPowered && application.stage == .on }
  package var isDiscovering: Bool { discovery.stage == .on }
  /// Whether nothing of discovery is under way: a dial may begin.
  package var isQuiet: Bool { discovery.stage == .off }
  /// The controller refuses to advertise, whatever we leave out.
  package var cannotAdvertise: Bool { advertising.refusals >= 3 }

  /// What is there now. A change of adapter, or of the owner of BlueZ, forgets everything.
  package mutating func observe(
    adapter: String?, isUsable: Bool, isPowered: Bool, isNewOwner: Bool, now: MonotonicTime
  ) {
    if adapter != self.adapter || isNewOwner {
      let (isAdvertising, isScanning, isDialling) = (isAdvertising, isScanning, isDialling)
      let mayCycleAt = mayCycleAt
      defer { self.mayCycleAt = mayCycleAt }
      self = AdapterPlan(mayPower: mayPower)
      (self.isAdvertising, self.isScanning, self.isDialling) = (isAdvertising, isScanning, isDialling)
      self.adapter = adapter
    }
    self.isUsable = isUsable
    if isPowered, !self.isPowered {
      readyAt = now.advanced(by: BlueZLimits.afterPowerOn)
      // Registered it may still be, and yet not in the air: begin anew.
      isAdvertisementStale = true
    }
    if !isPowered, self.isPowered, discovery.stage != .off {
      // BlueZ has dropped the session with the power.
      discovery = Resource()
    }
    if isPowered { power = Resource() }
    self.isPowered = isPowered
  }

  /// A controller with advertising sets stays silent after an inbound connection though it says otherwise.
  package mutating func refreshAdvertisement() { isAdvertisementStale = true }

  /// Whether listening has been refused for so long that only power helps.
  package func isStuck(_ now: MonotonicTime) -> Bool {
    discovery.refusedSince.map { $0.advanced(by: BlueZLimits.stuckAfter) <= now } ?? false
  }

  /// Another program has given back, or taken, an advertising instance. - Returns: whether ours is tried at once.
  package mutating func instancesChanged(now: MonotonicTime) -> Bool {
    guard advertising.stage == .off, isAdvertising else { return false }
    advertising.retryAt = now
    return true
  }

  /// What is to be done now.
  package mutating func next(now: MonotonicTime) -> [Action] {
    guard let adapter else { return [] }
    guard isPowered else {
      guard mayPower, power.isDue(now) else { return [] }
      power.stage = .starting
      return [.power(adapter)]
    }
    guard isUsable, readyAt <= now else { return [] }
    guard application.stage == .on else {
      guard application.isDue(now) else { return [] }
      application.stage = .starting
      return [.registerApplication(adapter)]
    }
    var actions: [Action] = []
    switch advertising.stage {
    case .off where isAdvertising && advertising.isDue(now):
      advertising.stage = .starting
      isAdvertisementStale = false
      actions.append(.registerAdvertisement(adapter, isBare: advertising.refusals >= 2))
    case .on where !isAdvertising || isAdvertisementStale:
      advertising.stage = .stopping
      actions.append(.unregisterAdvertisement(adapter))
    default: break
    }
    let wantsDiscovery = isScanning && !isDialling
    switch discovery.stage {
    case .off where wantsDiscovery && isStuck(now) && mayPower && mayCycleAt <= now:
      mayCycleAt = now.advanced(by: BlueZLimits.powerCycleEvery)
      return [.powerOff(adapter)]
    case .off where wantsDiscovery && discovery.isDue(now):
      discovery.stage = .starting
      actions.append(.startDiscovery(adapter))
    case .on where !wantsDiscovery:
      discovery.stage = .stopping
      actions.append(.stopDiscovery(adapter))
    default: break
    }
    return actions
  }

  package mutating func completed(_ action: Action, _ outcome: Outcome, now: MonotonicTime) {
    let isDone = outcome == .done || outcome == .already
    switch action {
    case .power(let path) where path == adapter:
      // Done is done when the adapter says so: until then it is tried less and less often.
      power.refused(now: now)
      if outcome == .forbidden { power.retryAt = now.advanced(by: BlueZLimits.lastRetry) }
    case .registerApplication(let path) where path == adapter && application.stage == .starting:
      if isDone { application.succeeded() } else { application.refused(now: now) }
    case .registerAdvertisement(let path, _) where path == adapter && advertising.stage == .starting:
      if isDone {
        advertising.succeeded()
      } else if outcome == .exhausted {
        // Leaving something out would not help.
        advertising.stage = .off
        advertising.retryAt = now.advanced(by: BlueZLimits.lastRetry)
      } else {
        advertising.refused(now: now)
      }
    case .unregisterAdvertisement(let path) where path == adapter && advertising.stage == .stopping:
      advertising.stage = .off
      advertising.retryAt = now
    case .startDiscovery(let path) where path == adapter && discovery.stage == .starting:
      if isDone { discovery.succeeded() } else { discovery.refused(now: now) }
    case .stopDiscovery(let path) where path == adapter && discovery.stage == .stopping:
      discovery = Resource()
    default: break
    }
  }

  /// When `next` may have something to do that it has not now.
  package func deadline(now: MonotonicTime) -> MonotonicTime? {
    guard adapter != nil else { return nil }
    if !isPowered { return mayPower && power.stage == .off ? power.retryAt : nil }
    if readyAt > now { return readyAt }
    let waiting = [application, advertising, discovery].filter { $0.stage == .off && $0.retryAt > now }
    return waiting.map(\.retryAt).min()
  }
}
