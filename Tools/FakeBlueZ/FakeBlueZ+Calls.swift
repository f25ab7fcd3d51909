import DBusKit
import Streams

/// What programs ask of BlueZ.
extension FakeBlueZ {
  func receive(_ event: DBusEvent) async {
    switch event {
    case .call(let call, _):
      if let member = call.member { called.insert(member) }
      if ["WriteValue", "AcquireWrite", "StartNotify", "StopNotify"].contains(call.member) {
        await gatt(call)
      } else {
        work.offer(.call(call))
      }
    case .signal(let signal, _): await receive(signal)
    case .missed: break
    }
  }

  private func receive(_ signal: DBusMessage) async {
    if signal.member == "NameOwnerChanged", let name = signal.argument(0)?.asString, signal.argument(2)?.asString == ""
    {
      await gone(name)
    } else if signal.member == "PropertiesChanged", let path = signal.path, let sender = signal.sender,
      sender != bus?.uniqueName, let value = signal.argument(1)?.asProperties?["Value"]?.asBytes
    {
      await notify(value, from: path, of: sender)
    }
  }

  /// A program has left the bus: what it had registered goes with it.
  private func gone(_ name: String) async {
    for number in state.adapters.indices {
      let had = state.adapters[number].applications.contains { $0.owner == name }
      state.adapters[number].sessions[name] = nil
      state.adapters[number].advertised.removeAll { $0.owner == name }
      if state.adapters[number].isPlugged { await export(adapter: number) }
      guard had else { continue }
      await withdrawServices(of: number)
      state.adapters[number].applications.removeAll { $0.owner == name }
      if state.adapters[number].isPlugged { await export(adapter: number) }
      await offerServices(of: number)
    }
  }

  func perform(_ work: Work) async {
    switch work {
    case .call(let call):
      if faults.lateMilliseconds > 0 { await pause(faults.lateMilliseconds) }
      await answer(call)
    case .later(let milliseconds, let step):
      await pause(milliseconds)
      await take(step)
    case .overtaken(let write):
      await pause(3)
      try? await bus?.send(write)
    }
  }

  func pause(_ milliseconds: Int64) async {
    guard milliseconds > 0 else { return }
    try? await time.sleep(time.now().advanced(by: .milliseconds(milliseconds)))
  }

  func succeed(_ call: DBusMessage, _ values: [DBusValue] = []) async { await bus?.answer(call, .values(values)) }

  func refuse(_ call: DBusMessage, _ name: String, _ message: String) async {
    await bus?.answer(call, .error(name: "org.bluez.Error.\(name)", message: message))
  }

  /// Number of the adapter a path belongs to, if it is plugged in.
  private func adapter(_ path: String?) -> Int? {
    guard let part = path?.split(separator: "/").dropFirst(2).first, part.hasPrefix("hci"),
      let number = Int(part.dropFirst(3)), state.adapters.indices.contains(number), state.adapters[number].isPlugged
    else { return nil }
    return number
  }

  /// The adapter behind a device path of another.
  private func device(_ path: String?, of number: Int) -> Int? {
    guard let path else { return nil }
    return state.adapters.indices.first { $0 != number && path.hasPrefix(state.device($0, of: number)) }
  }

  private func answer(_ call: DBusMessage) async {
    guard let number = adapter(call.path), let sender = call.sender else {
      await bus?.answer(call, .error(name: DBusErrorName.unknownObject, message: "it is gone"))
      return
    }
    switch (call.interface, call.member) {
    case (Names.adapter, "SetDiscoveryFilter"):
      var session = state.adapters[number].sessions[sender] ?? FakeState.Session()
      let filter = call.argument(0)?.asProperties ?? [:]
      session.uuids = filter["UUIDs"]?.asStrings ?? []
      session.isDuplicating = filter["DuplicateData"]?.asBool ?? false
      state.adapters[number].sessions[sender] = session
      await succeed(call)
    case (Names.adapter, "StartDiscovery"): await startDiscovery(call, number, sender)
    case (Names.adapter, "StopDiscovery"):
      guard state.adapters[number].sessions[sender]?.isRunning == true else {
        await refuse(call, "Failed", "No discovery started")
        return
      }
      state.adapters[number].sessions[sender]?.isRunning = false
      await tellAdapter(number, ["Discovering": .boolean(state.adapters[number].isDiscovering)])
      await succeed(call)
    case (Names.adapter, "RemoveDevice"):
      if let other = device(call.argument(0)?.asString, of: number) {
        await disconnect(number, other)
        await forget(other, at: number)
      }
      await succeed(call)
    case (Names.gattManager, "RegisterApplication"): await registerApplication(call, number, sender)
    case (Names.gattManager, "UnregisterApplication"):
      await withdrawServices(of: number)
      state.adapters[number].applications.removeAll { $0.owner == sender && $0.path == call.argument(0)?.asString }
      await export(adapter: number)
      await offerServices(of: number)
      await succeed(call)
    case (Names.advertisingManager, "RegisterAdvertisement"): await registerAdvertisement(call, number, sender)
    case (Names.advertisingManager, "UnregisterAdvertisement"):
      let path = call.argument(0)?.asString
      guard state.adapters[number].advertised.contains(where: { $0.owner == sender && $0.path == path }) else {
        await refuse(call, "DoesNotExist", "Does Not Exist")
        return
      }
      state.adapters[number].advertised.removeAll { $0.owner == sender && $0.path == path }
      await export(adapter: number)
      await succeed(call)
    case (Names.device, "Pair"):
      pairings += 1
      await refuse(call, "AuthenticationFailed", "Authentication Failed")
    case (Names.device, "Connect"):
      if let other = device(call.path, of: number) { await connect(call, number, other) }
    case (Names.device, "Disconnect"):
      if let other = device(call.path, of: number), let link = state.link(number, other) {
        // BlueZ lets what is on its way go first.
        work.offer(.later(pace.disconnect, .disconnect(link: state.links[link].number, call)))
      } else {
        await succeed(call)
      }
    default: await bus?.answer(call, .error(name: DBusErrorName.unknownMethod, message: call.member ?? ""))
    }
  }

  private func startDiscovery(_ call: DBusMessage, _ number: Int, _ sender: String) async {
    guard state.adapters[number].isPowered else {
      await refuse(call, "NotReady", "Resource Not Ready")
      return
    }
    guard faults.inProgressDiscoveries == 0, state.adapters[number].sessions[sender]?.isRunning != true else {
      faults.inProgressDiscoveries = max(0, faults.inProgressDiscoveries - 1)
      await refuse(call, "InProgress", "Operation already in progress")
      return
    }
    state.adapters[number].sessions[sender, default: FakeState.Session()].isRunning = true
    await tellAdapter(number, ["Discovering": .boolean(true)])
    await succeed(call)
    work.offer(.later(pace.report, .report(number)))
  }

  private func registerApplication(_ call: DBusMessage, _ number: Int, _ sender: String) async {
    guard let path = call.argument(0)?.asString, faults.refusedApplications == 0 else {
      faults.refusedApplications = max(0, faults.refusedApplications - 1)
      await refuse(call, "Failed", "Failed to create entry in database")
      return
    }
    guard !state.adapters[number].applications.contains(where: { $0.owner == sender && $0.path == path }) else {
      await refuse(call, "AlreadyExists", "Already Exists")
      return
    }
    let objects = try? await bus?.call(.call(sender, path, Names.manager, "GetManagedObjects"), timeout: .seconds(25))
    guard let application = Self.application(objects?.arguments.first, owner: sender, path: path) else {
      await refuse(call, "Failed", "No valid service object found")
      return
    }
    state.adapters[number].applications.append(application)
    await export(adapter: number)
    await offerServices(of: number)
    await succeed(call)
  }

  private static func application(_ objects: DBusValue?, owner: String, path: String) -> FakeState.Application? {
    let entries = objects?.asEntries ?? []
    func properties(_ interface: String) -> [(path: String, values: [String: DBusValue])] {
      entries.compactMap { entry in
        guard let path = entry.key.asString,
          let values = entry.value.asEntries?.first(where: { $0.key.asString == interface })?.value.asProperties
        else { return nil }
        return (path, values)
      }
    }
    guard let service = properties(Names.service).first, let uuid = service.values["UUID"]?.asString else { return nil }
    let known: Set<String> = ["read", "write", "write-without-response", "notify", "indicate"]
    let characteristics = properties(Names.characteristic).compactMap { one -> FakeState.Characteristic? in
      guard let uuid = one.values["UUID"]?.asString, let flags = one.values["Flags"]?.asStrings,
        flags.allSatisfy({ known.contains($0) })
      else { return nil }
      return FakeState.Characteristic(
        path: one.path, uuid: uuid, flags: flags, isAcquired: one.values["NotifyAcquired"] != nil)
    }
    guard !characteristics.isEmpty else { return nil }
    return FakeState.Application(
      owner: owner, path: path, servicePath: service.path, serviceUUID: uuid, characteristics: characteristics)
  }

  private func registerAdvertisement(_ call: DBusMessage, _ number: Int, _ sender: String) async {
    guard let path = call.argument(0)?.asString else { return }
    guard faults.refusedAdvertisements == 0, state.adapters[number].isPowered else {
      faults.refusedAdvertisements = max(0, faults.refusedAdvertisements - 1)
      await refuse(call, "Failed", "Failed to register advertisement")
      return
    }
    guard !state.adapters[number].advertised.contains(where: { $0.owner == sender && $0.path == path }) else {
      await refuse(call, "AlreadyExists", "Already Exists")
      return
    }
    guard state.adapters[number].advertised.count + state.adapters[number].foreignAdvertisements < 5 else {
      await refuse(call, "NotPermitted", "Maximum advertisements reached")
      return
    }
    let reply = try? await bus?.call(
      .call(sender, path, Names.properties, "GetAll", [.string(Names.advertisement)]), timeout: .seconds(25))
    guard let properties = reply?.arguments.first?.asProperties, properties["Type"]?.asString == "peripheral",
      Self.size(of: properties) <= 31
    else {
      await refuse(call, "Failed", "Failed to parse advertisement.")
      return
    }
    state.adapters[number].advertised.append(
      FakeState.Advertised(owner: sender, path: path, properties: properties))
    state.adapters[number].isSilenced = false
    await export(adapter: number)
    await succeed(call)
  }

  /// Bytes in the air: flags, UUIDs of 128 bits, manufacturer data.
  private static func size(of properties: [String: DBusValue]) -> Int {
    var size = properties["Discoverable"]?.asBool == true ? 3 : 0
    let uuids = properties["ServiceUUIDs"]?.asStrings ?? []
    if !uuids.isEmpty { size += 2 + 16 * uuids.count }
    for entry in properties["ManufacturerData"]?.asEntries ?? [] { size += 4 + (entry.value.asBytes?.count ?? 0) }
    return size
  }
}
