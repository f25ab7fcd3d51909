package import DBusKit
package import Streams

/// A stand-in for `bluetoothd` on a bus of its own: adapters that hear each other, links between them, and the faults of
/// the real one on request. It calls back into applications and advertisements as BlueZ does, so real nodes talk
/// through it.
///
/// What is modelled and what not stands in the README beside this file. Contract: `run` returns when its task is cancelled or
/// the bus is gone.
package actor FakeBlueZ {
  let time: TimeSource
  let address: DBusConnection.Bus
  var state: FakeState
  var faults = FakeFaults()
  let generation: Generation
  /// Sockets that programs have handed out for their characteristics, in the order in which they came.
  var acquired: [FakeState.Subscription: [Acquired]] = [:]
  let acquiredValues = Channel<AcquiredValue>(capacity: 1_024)
  /// Our ends of the sockets handed out for writing, by the path of the characteristic.
  var writers: [String: DBusDescriptor] = [:]
  let writtenValues = Channel<WrittenValue>(capacity: 1_024)
  /// Requests to pair, which no node may ever make.
  var pairings = 0
  /// Methods, beside those that only read, that programs have called.
  var called: Set<String> = []
  /// Properties of the objects that are there.
  var values: [String: [String: DBusValue]] = [:]
  let shelf = PropertyShelf()
  /// Controllers with advertising sets.
  let isExtended: Bool
  var bus: DBusConnection?
  var work = Channel<Work>(capacity: 4_096)
  package nonisolated let isRunning = Latest(false)
  /// `Set(Powered)` of programs, which the bus answers before we see it.
  private let requests = Channel<PowerRequest>(capacity: 64)

  struct PowerRequest: Sendable {
    var adapter: Int
    var isPowered: Bool
  }
  /// Milliseconds for a report, a connect, the reading of a database, and the end of a connection that a program asks for.
  let pace: (report: Int64, connect: Int64, resolve: Int64, disconnect: Int64)
  let mtu: Int

  /// What takes a while.
  enum Work: Sendable {
    case call(DBusMessage)
    case later(Int64, Step)
    /// A write that others go before.
    case overtaken(DBusMessage)
  }

  enum Step: Sendable {
    case report(Int)
    case connected(central: Int, peripheral: Int, call: DBusMessage)
    case resolved(Int, Int)
    case forget(adapter: Int, device: Int)
    case fail(DBusMessage, name: String, message: String)
    case answer(DBusMessage)
    case disconnect(link: Int, DBusMessage)
    case offer(Int)
  }

  package init(
    bus address: DBusConnection.Bus, adapters: Int, isExtended: Bool = false, mtu: Int = 517,
    generation: Generation = .shared, time: TimeSource,
    pace: (report: Int64, connect: Int64, resolve: Int64, disconnect: Int64) = (50, 20, 20, 100)
  ) {
    self.address = address
    self.generation = generation
    self.time = time
    self.isExtended = isExtended
    self.mtu = mtu
    self.pace = pace
    state = FakeState(count: adapters)
  }

  package func run() async throws {
    let bus = try await DBusConnection.open(address, time: time)
    self.bus = bus
    let work = Channel<Work>(capacity: 4_096)
    self.work = work
    await withDiscardingTaskGroup { group in
      group.addTask {
        await bus.run()
        work.finish()
      }
      group.addTask { await self.begin(bus) }
      group.addTask { for await event in bus.events { await self.receive(event) } }
      group.addTask { [requests] in
        for await request in requests where !(await self.isBlocked(request.adapter)) {
          await self.power(request.adapter, request.isPowered)
        }
      }
      group.addTask { [acquiredValues] in for await value in acquiredValues { await self.take(value) } }
      group.addTask { [writtenValues] in for await value in writtenValues { await self.take(value) } }
      for await one in work { group.addTask { await self.perform(one) } }
      group.cancelAll()
    }
    isRunning.set(false)
    self.bus = nil
  }

  private func begin(_ bus: DBusConnection) async {
    await bus.export(DBusObject("/", interfaces: [], isManager: true))
    for number in state.adapters.indices where state.adapters[number].isPlugged { await export(adapter: number) }
    _ = try? await bus.addMatch(
      "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg2=''")
    _ = try? await bus.addMatch(
      "type='signal',interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',arg0='\(Names.characteristic)'"
    )
    let isOurs = (try? await bus.requestName("org.bluez")) ?? false
    isRunning.set(isOurs)
  }

  // MARK: Objects

  /// Methods are forwarded and answered when the work is done.
  private func interface(
    _ name: String, _ methods: [String: (String, String)],
    properties: @escaping @Sendable () -> [String: DBusValue] = { [:] },
    set: (@Sendable (String, DBusValue) -> DBusAnswer)? = nil
  ) -> DBusInterface {
    DBusInterface(
      name, properties: properties,
      methods: methods.mapValues { DBusInterface.Method($0.0, $0.1, isForwarded: true) { _ in .later } }, set: set)
  }

  func adapterProperties(_ number: Int) -> [String: DBusValue] {
    let adapter = state.adapters[number]
    return [
      "Address": .string(adapter.address), "AddressType": .string("public"), "Powered": .boolean(adapter.isPowered),
      "Discovering": .boolean(adapter.isDiscovering),
      "Roles": .strings(adapter.ability == .central ? ["central"] : ["central", "peripheral"]),
      "UUIDs": .strings(adapter.applications.map(\.serviceUUID)),
      "Modalias": .string("usb:v1D6Bp0246d0542"),
    ]
  }

  func export(adapter number: Int) async {
    let path = FakeState.path(number)
    let properties = adapterProperties(number)
    let isBlocked = state.adapters[number].isBlocked
    let count = state.adapters[number].advertised.count + state.adapters[number].foreignAdvertisements
    await bus?.export(
      DBusObject(
        path,
        interfaces: [
          interface(
            Names.adapter,
            [
              "SetDiscoveryFilter": ("a{sv}", ""), "StartDiscovery": ("", ""), "StopDiscovery": ("", ""),
              "RemoveDevice": ("o", ""),
            ], properties: { properties },
            set: { [requests] name, value in
              guard name == "Powered", let isPowered = value.asBool else {
                return .error(name: DBusErrorName.readOnly, message: name)
              }
              guard !isPowered || !isBlocked else {
                return .error(name: "org.bluez.Error.Blocked", message: "Blocked through rfkill")
              }
              requests.offer(PowerRequest(adapter: number, isPowered: isPowered))
              return .nothing
            }),
          interface(
            Names.gattManager, ["RegisterApplication": ("oa{sv}", ""), "UnregisterApplication": ("o", "")]),
          interface(
            Names.advertisingManager,
            ["RegisterAdvertisement": ("oa{sv}", ""), "UnregisterAdvertisement": ("o", "")],
            properties: {
              [
                "ActiveInstances": .byte(UInt8(clamping: count)),
                "SupportedInstances": .byte(UInt8(clamping: max(0, 5 - count))),
              ]
            }),
        ].filter { state.adapters[number].ability.has($0.name) }))
  }
}

extension FakeState.Ability {
  func has(_ interface: String) -> Bool {
    switch self {
    case .full, .central: true
    case .classic: interface == Names.adapter
    case .silent: interface != Names.advertisingManager
    }
  }
}

enum Names {
  static let adapter = "org.bluez.Adapter1"
  static let device = "org.bluez.Device1"
  static let gattManager = "org.bluez.GattManager1"
  static let service = "org.bluez.GattService1"
  static let characteristic = "org.bluez.GattCharacteristic1"
  static let advertisingManager = "org.bluez.LEAdvertisingManager1"
  static let advertisement = "org.bluez.LEAdvertisement1"
  static let properties = "org.freedesktop.DBus.Properties"
  static let manager = "org.freedesktop.DBus.ObjectManager"
}
