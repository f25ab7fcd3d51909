internal import DBusKit
import Streams

/// What happens between the adapters.
extension FakeBlueZ {
  func take(_ step: Step) async {
    switch step {
    case .report(let number): await report(number)
    case .connected(let central, let peripheral, let call): await connected(central, peripheral, call)
    case .resolved(let one, let other): await resolved(one, other)
    case .forget(let adapter, let device): await forget(device, at: adapter)
    case .fail(let call, let name, let message): await refuse(call, name, message)
    case .answer(let call): await succeed(call)
    case .disconnect(let number, let call):
      if let link = state.links.first(where: { $0.number == number }) {
        await disconnect(link.central, link.peripheral)
      }
      await succeed(call)
    case .offer(let server): await offerServices(of: server)
    }
  }

  // MARK: Sightings

  /// Everybody in the air around a listening adapter is reported, again and again.
  private func report(_ number: Int) async {
    let adapter = state.adapters[number]
    guard adapter.isPlugged, adapter.isPowered, adapter.isDiscovering else { return }
    for other in state.adapters.indices where state.isInRange(number, other) {
      guard let advertised = state.advertisement(of: other) else { continue }
      let uuids = advertised.properties["ServiceUUIDs"]?.asStrings ?? []
      let isWanted = adapter.sessions.values.contains { session in
        session.isRunning && (session.uuids.isEmpty || !Set(session.uuids).isDisjoint(with: uuids))
      }
      guard isWanted else { continue }
      var properties: [String: DBusValue] = [
        "RSSI": .int16(-50), "UUIDs": .strings(uuids),
      ]
      if let data = advertised.properties["ManufacturerData"] { properties["ManufacturerData"] = data }
      if state.adapters[number].devices.contains(other) {
        guard !faults.isReportingOnce else { continue }
        await tell(state.device(other, of: number), Names.device, properties)
      } else {
        await addDevice(other, at: number, properties)
      }
    }
    work.offer(.later(pace.report, .report(number)))
  }

  func addDevice(_ other: Int, at number: Int, _ more: [String: DBusValue]) async {
    guard !state.adapters[number].devices.contains(other) else { return }
    state.adapters[number].devices.insert(other)
    var properties: [String: DBusValue] = [
      "Address": .string(state.adapters[other].address), "AddressType": .string("public"),
      "Adapter": .objectPath(FakeState.path(number)), "Connected": .boolean(state.link(number, other) != nil),
      "ServicesResolved": .boolean(false), "Paired": .boolean(false),
    ]
    properties.merge(more) { _, new in new }
    await add(
      state.device(other, of: number), Names.device, properties,
      ["Connect": ("", ""), "Disconnect": ("", ""), "Pair": ("", "")])
  }

  func forget(_ other: Int, at number: Int) async {
    guard state.link(number, other) == nil, state.adapters[number].devices.remove(other) != nil else { return }
    for path in servicePaths(of: other, at: number) { await remove(path.path, path.interface) }
    await remove(state.device(other, of: number), Names.device)
  }

  // MARK: Connections

  func connect(_ call: DBusMessage, _ central: Int, _ peripheral: Int) async {
    if faults.inProgressConnects > 0 {
      faults.inProgressConnects -= 1
      return await refuse(call, "Failed", "Operation already in progress")
    }
    if faults.vanishingDevices > 0 {
      faults.vanishingDevices -= 1
      await forget(peripheral, at: central)
      await bus?.answer(call, .error(name: DBusErrorName.unknownObject, message: "it is gone"))
      return
    }
    if faults.wrongBearers > 0 {
      faults.wrongBearers -= 1
      return await refuse(call, "Failed", "br-connection-page-timeout")
    }
    if faults.hangingConnects > 0 {
      faults.hangingConnects -= 1
      return
    }
    guard state.adapters[central].isPowered else {
      return await refuse(call, "Failed", "le-connection-adapter-not-powered")
    }
    guard state.link(central, peripheral) == nil else { return await succeed(call) }
    if faults.abortedConnects > 0 {
      faults.abortedConnects -= 1
      if faults.isAbortSeen {
        await tell(state.device(peripheral, of: central), Names.device, ["Connected": .boolean(true)])
        await tell(state.device(peripheral, of: central), Names.device, ["Connected": .boolean(false)])
      }
      work.offer(.later(pace.connect, .fail(call, name: "Failed", message: "le-connection-abort-by-local")))
      return
    }
    guard state.links.count(where: { $0.has(central) }) < faults.linkLimit,
      state.links.count(where: { $0.has(peripheral) }) < faults.linkLimit
    else { return await refuse(call, "Failed", "le-connection-concurrent-connection-limit") }
    work.offer(.later(pace.connect, .connected(central: central, peripheral: peripheral, call: call)))
  }

  private func connected(_ central: Int, _ peripheral: Int, _ call: DBusMessage) async {
    guard state.link(central, peripheral) == nil else { return await succeed(call) }
    guard state.isInRange(central, peripheral), state.advertisement(of: peripheral) != nil,
      state.adapters[central].isPowered, state.adapters[central].isPlugged
    else {
      work.offer(.later(40 * pace.connect, .fail(call, name: "Failed", message: "le-connection-abort-by-local")))
      return
    }
    let pair = [min(central, peripheral), max(central, peripheral)]
    state.open(central, peripheral, mtu: state.mtus[pair] ?? mtu)
    if isExtended { state.adapters[peripheral].isSilenced = true }
    for (one, other) in [(central, peripheral), (peripheral, central)] {
      if state.adapters[one].devices.contains(other) {
        await tell(state.device(other, of: one), Names.device, ["Connected": .boolean(true)])
      } else {
        await addDevice(other, at: one, [:])
      }
    }
    await succeed(call)
    if faults.unresolvedLinks > 0 {
      faults.unresolvedLinks -= 1
      return
    }
    work.offer(.later(pace.resolve, .resolved(central, peripheral)))
  }

  private func resolved(_ one: Int, _ other: Int) async {
    guard let index = state.link(one, other) else { return }
    state.links[index].isResolved = true
    let isEmpty = faults.emptyLinks > 0
    if isEmpty { faults.emptyLinks -= 1 }
    for (server, client) in [(one, other), (other, one)] {
      if !isEmpty { await addServices(of: server, at: client) }
      await tell(state.device(server, of: client), Names.device, ["ServicesResolved": .boolean(true)])
    }
  }

  package func disconnect(_ one: Int, _ other: Int) async {
    guard let index = state.link(one, other) else { return }
    let link = state.links.remove(at: index)
    for subscription in link.subscriptions { release(subscription) }
    for (server, client) in [(one, other), (other, one)] {
      for service in servicePaths(of: server, at: client) { closeWriter(service.path) }
    }
    for (number, device) in [(one, other), (other, one)] {
      state.adapters[number].isSilenced = false
      await tell(
        state.device(device, of: number), Names.device,
        ["ServicesResolved": .boolean(false), "Connected": .boolean(false)])
      work.offer(.later(30_000, .forget(adapter: number, device: device)))
    }
  }

  // MARK: Services of others

  func servicePaths(of server: Int, at client: Int) -> [(path: String, interface: String)] {
    state.adapters[server].applications.enumerated().flatMap { index, application in
      application.characteristics.indices.map {
        (state.characteristic(index, $0, of: server, at: client), Names.characteristic)
      } + [(state.service(index, of: server, at: client), Names.service)]
    }
  }

  func addServices(of server: Int, at client: Int) async {
    guard let link = state.link(server, client), state.links[link].isResolved else { return }
    let mtu = state.links[link].mtu
    for (index, application) in state.adapters[server].applications.enumerated() {
      let path = state.service(index, of: server, at: client)
      await add(
        path, Names.service,
        [
          "UUID": .string(application.serviceUUID), "Primary": .boolean(true),
          "Device": .objectPath(state.device(server, of: client)),
        ], [:])
      for (place, one) in application.characteristics.enumerated() {
        await add(
          state.characteristic(index, place, of: server, at: client), Names.characteristic,
          [
            "UUID": .string(one.uuid), "Service": .objectPath(path), "Flags": .strings(one.flags),
            "Notifying": .boolean(false), "MTU": .uint16(UInt16(mtu)),
          ],
          [
            "WriteValue": ("aya{sv}", ""), "StartNotify": ("", ""), "StopNotify": ("", ""),
            "ReadValue": ("a{sv}", "ay"), "AcquireWrite": ("a{sv}", "hq"),
          ])
      }
    }
  }

  func offerServices(of server: Int) async {
    for link in state.links where link.has(server) { await addServices(of: server, at: link.other(of: server)) }
  }

  func withdrawServices(of server: Int) async {
    for link in state.links where link.has(server) {
      for one in servicePaths(of: server, at: link.other(of: server)) { await remove(one.path, one.interface) }
    }
    for index in state.links.indices where state.links[index].has(server) {
      state.links[index].subscriptions = state.links[index].subscriptions.filter { $0.server != server }
    }
  }

  /// A call to the characteristic of another: it goes on to who has registered it.
  func gatt(_ call: DBusMessage) async {
    guard let bus, let found = characteristic(call.path) else {
      await bus?.answer(call, .error(name: DBusErrorName.unknownObject, message: "it is gone"))
      return
    }
    switch call.member {
    case "WriteValue":
      guard let value = call.argument(0)?.asBytes else { return }
      guard let path = call.path, writers[path] == nil else {
        return await refuse(call, "NotPermitted", "Write acquired")
      }
      guard value.count <= min(state.links[found.link].mtu - 3, 512) else {
        return await refuse(call, "Failed", "Failed to initiate write")
      }
      await pass(value, on: found)
      await succeed(call)
    case "AcquireWrite": await acquireWrite(call, found)
    case "StartNotify":
      let subscription = FakeState.Subscription(server: found.server, characteristic: found.characteristic.path)
      let isFirst = !state.links.contains { $0.subscriptions.contains(subscription) }
      state.links[found.link].subscriptions.insert(subscription)
      if found.characteristic.isAcquired {
        await acquire(
          found.characteristic.path, of: found.application.owner, server: found.server, client: found.client,
          isFirst: isFirst)
      } else if isFirst {
        _ = try? await bus.call(
          .call(found.application.owner, found.characteristic.path, Names.characteristic, "StartNotify"),
          timeout: .seconds(5))
      }
      await succeed(call)
    default: await succeed(call)
    }
  }

  struct Found {
    var link: Int
    var server: Int
    var client: Int
    var application: FakeState.Application
    var characteristic: FakeState.Characteristic
  }

  /// A value that one adapter has written goes to the program that has registered the characteristic at the other.
  private func pass(_ value: [UInt8], on found: Found) async {
    var write = DBusMessage.call(
      found.application.owner, found.characteristic.path, Names.characteristic, "WriteValue",
      [
        .bytes(value),
        .properties([
          "device": .objectPath(state.device(found.client, of: found.server)),
          "mtu": .uint16(UInt16(state.links[found.link].mtu)), "link": .string("LE"),
        ]),
      ])
    write.isReplyExpected = false
    if faults.bytesPerSecond > 0 { await pause(Int64(value.count * 1_000 / faults.bytesPerSecond)) }
    faults.writes &+= 1
    if faults.overtaken > 0, faults.writes % faults.overtaken == 0 {
      work.offer(.overtaken(write))
    } else {
      try? await bus?.send(write)
    }
  }

  /// What came over a socket that was handed out: too long a value is lost without a word.
  func take(_ written: WrittenValue) async {
    guard let bytes = written.bytes else {
      if writers[written.path] == written.socket { writers[written.path] = nil }
      return
    }
    guard let found = characteristic(written.path), bytes.count <= min(state.links[found.link].mtu - 3, 512) else {
      return
    }
    await pass(bytes, on: found)
  }

  private func characteristic(_ path: String?) -> Found? {
    for (link, one) in state.links.enumerated() where one.isResolved {
      for (server, client) in [(one.central, one.peripheral), (one.peripheral, one.central)] {
        for (index, application) in state.adapters[server].applications.enumerated() {
          for (place, characteristic) in application.characteristics.enumerated()
          where state.characteristic(index, place, of: server, at: client) == path {
            return Found(
              link: link, server: server, client: client, application: application, characteristic: characteristic)
          }
        }
      }
    }
    return nil
  }

  /// A value notified by a program goes to everybody who has subscribed, cut to what each takes.
  ///
  /// - Parameter only: the client that alone is meant.
  func notify(_ value: [UInt8], from path: String, of sender: String, only: Int? = nil) async {
    for link in state.links {
      for (server, client) in [(link.central, link.peripheral), (link.peripheral, link.central)] {
        guard only == nil || only == client,
          link.subscriptions.contains(FakeState.Subscription(server: server, characteristic: path))
        else {
          continue
        }
        for (index, application) in state.adapters[server].applications.enumerated() where application.owner == sender {
          guard let place = application.characteristics.firstIndex(where: { $0.path == path }) else { continue }
          let cut = Array(value.prefix(min(link.mtu - 5, 512)))
          await tell(
            state.characteristic(index, place, of: server, at: client), Names.characteristic, ["Value": .bytes(cut)])
        }
      }
    }
  }

  /// Milliseconds for which an adapter has listened so far.
  func listened(_ number: Int) -> Int64 {
    noteListening(number)
    return state.adapters[number].listenedMilliseconds
  }

  private func noteListening(_ number: Int) {
    let now = time.now()
    if let since = state.adapters[number].listeningSince {
      state.adapters[number].listenedMilliseconds += Int64(now.milliseconds(since: since))
    }
    state.adapters[number].listeningSince = state.adapters[number].isDiscovering ? now : nil
  }

  // MARK: Signals

  func tellAdapter(_ number: Int, _ changed: [String: DBusValue]) async {
    noteListening(number)
    await export(adapter: number)
    await signalChange(FakeState.path(number), Names.adapter, changed)
  }

  func tell(_ path: String, _ interface: String, _ changed: [String: DBusValue]) async {
    if interface == Names.device, values[path] != nil {
      values[path]!.merge(changed) { _, new in new }
      shelf.set(path, values[path])
    }
    await signalChange(path, interface, changed)
  }

  func signalChange(_ path: String, _ interface: String, _ changed: [String: DBusValue]) async {
    try? await bus?.send(
      .signal(
        path, Names.properties, "PropertiesChanged",
        [
          .string(interface),
          .dictionary(
            key: "s", value: "v",
            changed.sorted { $0.key < $1.key }.map { DBusEntry(.string($0.key), .variant($0.value)) }),
          .array(element: "s", []),
        ]))
  }

  private func add(
    _ path: String, _ interface: String, _ properties: [String: DBusValue], _ methods: [String: (String, String)]
  ) async {
    values[path] = properties
    let kept = shelf
    kept.set(path, properties)
    let object = DBusObject(
      path,
      interfaces: [
        DBusInterface(
          interface, properties: { kept[path] },
          methods: methods.mapValues { DBusInterface.Method($0.0, $0.1, isForwarded: true) { _ in .later } })
      ])
    await bus?.export(object)
    try? await bus?.send(
      .signal("/", Names.manager, "InterfacesAdded", [.objectPath(path), object.managed]))
  }

  func remove(_ path: String, _ interface: String) async {
    closeWriter(path)
    guard values.removeValue(forKey: path) != nil else { return }
    shelf.set(path, nil)
    await bus?.withdraw(path)
    try? await bus?.send(
      .signal("/", Names.manager, "InterfacesRemoved", [.objectPath(path), .strings([interface])]))
  }
}
