internal import DBusKit
import Streams

/// What a test, or a person, makes happen.
extension FakeBlueZ {
  package func setFaults(_ change: @Sendable (inout FakeFaults) -> Void) { change(&faults) }

  func isBlocked(_ number: Int) -> Bool { state.adapters[number].isBlocked }

  /// rfkill: the adapter goes off and cannot be switched on.
  package func block(_ number: Int, _ isBlocked: Bool) async {
    state.adapters[number].isBlocked = isBlocked
    if isBlocked { await power(number, false) }
    if state.adapters[number].isPlugged { await export(adapter: number) }
  }

  package func power(_ number: Int, _ isPowered: Bool) async {
    guard state.adapters[number].isPowered != isPowered else { return }
    if !isPowered {
      for link in state.links where link.has(number) { await disconnect(link.central, link.peripheral) }
      state.adapters[number].sessions = [:]
      for other in state.adapters[number].devices.sorted() { await forget(other, at: number) }
    }
    state.adapters[number].isPowered = isPowered
    // Still registered, and on a controller with advertising sets no longer in the air.
    state.adapters[number].isSilenced = isExtended
    await tellAdapter(number, ["Powered": .boolean(isPowered), "Discovering": .boolean(false)])
  }

  /// - Parameter isOrderly: whether what is below the adapter is said goodbye to.
  package func unplug(_ number: Int, isOrderly: Bool = true) async {
    for link in state.links where link.has(number) {
      let other = link.other(of: number)
      state.links.removeAll { $0.has(number) && $0.has(other) }
      await tell(state.device(number, of: other), Names.device, ["Connected": .boolean(false)])
    }
    for other in state.adapters[number].devices.sorted() where isOrderly { await forget(other, at: number) }
    state.adapters[number] = FakeState.Adapter(address: state.adapters[number].address)
    state.adapters[number].isPlugged = false
    let path = FakeState.path(number)
    await bus?.withdraw(path)
    try? await bus?.send(
      .signal(
        "/", Names.manager, "InterfacesRemoved",
        [.objectPath(path), .strings([Names.adapter, Names.gattManager, Names.advertisingManager])]))
  }

  package func plug(_ number: Int) async {
    state.adapters[number].isPlugged = true
    await export(adapter: number)
    guard let bus, let object = await bus.object(FakeState.path(number)) else { return }
    try? await bus.send(
      .signal("/", Names.manager, "InterfacesAdded", [.objectPath(FakeState.path(number)), object.managed]))
  }

  package func setRange(_ one: Int, _ other: Int, _ isInRange: Bool) async {
    let pair = [min(one, other), max(one, other)]
    if isInRange {
      state.apart.remove(pair)
    } else {
      state.apart.insert(pair)
      await disconnect(one, other)
    }
  }

  /// Of one pair, also of the link that stands: an MTU only grows there, as ATT has it.
  package func setMTU(_ one: Int, _ other: Int, _ mtu: Int) async {
    state.mtus[[min(one, other), max(one, other)]] = mtu
    guard let index = state.link(one, other) else { return }
    state.links[index].mtu = mtu
    for (server, client) in [(one, other), (other, one)] {
      for (number, application) in state.adapters[server].applications.enumerated() {
        for place in application.characteristics.indices {
          await tell(
            state.characteristic(number, place, of: server, at: client), Names.characteristic,
            ["MTU": .uint16(UInt16(mtu))])
        }
      }
    }
  }

  /// The connection between two is lost.
  package func drop(_ one: Int, _ other: Int) async { await disconnect(one, other) }

  /// One line of a control file. - Returns: `ok`, or what is wrong with it.
  package func control(_ line: String) async -> String {
    let words = line.split(separator: " ").map(String.init)
    func number(_ index: Int) -> Int? {
      guard words.indices.contains(index), let number = Int(words[index]), number >= 0 else { return nil }
      return number
    }
    let isOn = words.last == "on"
    switch words.first {
    case "range":
      guard let one = number(1), let other = number(2) else { return "range I J on|off" }
      await setRange(one, other, isOn)
    case "drop":
      guard let one = number(1), let other = number(2) else { return "drop I J" }
      await drop(one, other)
    case "mtu":
      guard let one = number(1), let other = number(2), let mtu = number(3) else { return "mtu I J BYTES" }
      await setMTU(one, other, mtu)
    case "power":
      guard let one = number(1) else { return "power I on|off" }
      await power(one, isOn)
    case "block":
      guard let one = number(1) else { return "block I on|off" }
      await block(one, isOn)
    case "unplug":
      guard let one = number(1) else { return "unplug I" }
      await unplug(one, isOrderly: words.last != "rudely")
    case "plug":
      guard let one = number(1) else { return "plug I" }
      await plug(one)
    case "ability":
      guard let one = number(1), let ability = FakeState.Ability(rawValue: words.last ?? "") else {
        return "ability I full|classic|silent|central"
      }
      state.adapters[one].ability = ability
      await export(adapter: one)
    case "occupy":
      guard let one = number(1), let count = number(2) else { return "occupy I COUNT" }
      state.adapters[one].foreignAdvertisements = count
      await tellInstances(one)
    case "fault":
      guard words.count == 3, let count = number(2) else { return "fault NAME COUNT" }
      guard set(fault: words[1], to: count) else { return "there is no fault \(words[1])" }
    case "remove":
      guard let one = number(1), let other = number(2) else { return "remove I DEVICE" }
      await removeDevice(other, at: one)
    case "service-changed":
      guard let one = number(1) else { return "service-changed I" }
      await changeServices(of: one)
    case "stale":
      guard let one = number(1), let other = number(2), words.count == 4 else { return "stale I J UUID" }
      await leaveStale(one, other, uuid: words[3])
    case "foreign":
      guard let device = number(1), let one = number(2) else { return "foreign DEVICE I" }
      await connectForeign(device, to: one)
    case "services":
      guard let one = number(1), let server = number(2) else { return "services I SERVER" }
      await showServices(of: server, at: one)
    case "garbage":
      guard let device = number(1), let one = number(2), let count = number(3) else { return "garbage DEVICE I COUNT" }
      await writeGarbage(from: device, to: one, count: count)
    case "linked":
      guard let one = number(1), let other = number(2) else { return "linked I J" }
      return state.link(one, other) == nil ? "no" : "yes"
    case "listened":
      guard let one = number(1) else { return "listened I" }
      return "\(listened(one))"
    case "stop": await stop()
    case "calls": return called.isEmpty ? "none" : called.sorted().joined(separator: " ")
    case "inventory":
      let all = await inventory()
      return "links=\(all.links) devices=\(all.devices) objects=\(all.objects) applications=\(all.applications)"
        + " pairings=\(pairings)"
    default:
      return "range, drop, mtu, power, block, unplug, plug, ability, occupy, fault, remove, "
        + "service-changed, stale, foreign, services, garbage, linked, listened, stop, calls, inventory"
    }
    return "ok"
  }

  private func set(fault: String, to count: Int) -> Bool {
    switch fault {
    case "refused-sockets": faults.refusedSockets = count
    case "abort": faults.abortedConnects = count
    case "abort-seen": (faults.abortedConnects, faults.isAbortSeen) = (count, true)
    case "discovery-in-progress": faults.inProgressDiscoveries = count
    case "connect-in-progress": faults.inProgressConnects = count
    case "unresolved": faults.unresolvedLinks = count
    case "empty": faults.emptyLinks = count
    case "advertisement-refused": faults.refusedAdvertisements = count
    case "application-refused": faults.refusedApplications = count
    case "late": faults.lateMilliseconds = Int64(count)
    case "limit": faults.linkLimit = count
    case "wrong-bearer": faults.wrongBearers = count
    case "hang": faults.hangingConnects = count
    case "report-once": faults.isReportingOnce = count > 0
    case "rate": faults.bytesPerSecond = count
    case "overtake": faults.overtaken = count
    case "vanish": faults.vanishingDevices = count
    default: return false
    }
    return true
  }

  /// What there is, for the search for leaks.
  package func inventory() async -> (links: Int, devices: Int, objects: Int, applications: Int) {
    (
      state.links.count, state.adapters.reduce(0) { $0 + $1.devices.count }, values.count,
      state.adapters.reduce(0) { $0 + $1.applications.count }
    )
  }

  package func linkCount(_ number: Int) -> Int { state.links.count { $0.has(number) } }
}
