import DBusKit
import Streams

/// What a fake `bluetoothd` knows: adapters, what was registered at them, who is in range and connected.
struct FakeState: Sendable {
  struct Characteristic: Sendable {
    var path: String
    var uuid: String
    var flags: [String]
    /// Its program hands out sockets for what it notifies.
    var isAcquired = false
  }

  /// A service that a program has registered.
  struct Application: Sendable {
    var owner: String
    var path: String
    var servicePath: String
    var serviceUUID: String
    var characteristics: [Characteristic]
  }

  struct Advertised: Sendable {
    var owner: String
    var path: String
    var properties: [String: DBusValue]
  }

  struct Session: Sendable {
    var uuids: [String] = []
    var isDuplicating = false
    var isRunning = false
  }

  /// What a controller cannot do.
  enum Ability: String, Sendable, CaseIterable {
    case full
    /// Classic Bluetooth only, or LE is disabled: neither manager is there.
    case classic
    /// The second manager never comes.
    case silent
    /// One role of the two.
    case central
  }

  struct Adapter: Sendable {
    var address: String
    var ability = Ability.full
    /// Advertisements of programs that are not modelled.
    var foreignAdvertisements = 0
    var isPowered = true
    var isPlugged = true
    var isBlocked = false
    var applications: [Application] = []
    var advertised: [Advertised] = []
    /// A controller with advertising sets falls silent with the first inbound link.
    var isSilenced = false
    var sessions: [String: Session] = [:]
    /// Numbers of the adapters whose device object is here, and the addresses reported lately.
    var devices: Set<Int> = []
    /// Milliseconds of discovery so far, and when the present one began.
    var listenedMilliseconds: Int64 = 0
    var listeningSince: MonotonicTime?
    var isDiscovering: Bool { sessions.values.contains { $0.isRunning } }
  }

  struct Link: Sendable, Hashable {
    /// One that no other link has, before or after.
    var number: Int
    var central: Int
    var peripheral: Int
    var mtu: Int
    var isResolved = false
    /// Who has subscribed to whose characteristic: number of the server, path there, client.
    var subscriptions: Set<Subscription> = []

    func other(of number: Int) -> Int { number == central ? peripheral : central }
    func has(_ number: Int) -> Bool { central == number || peripheral == number }
  }

  struct Subscription: Sendable, Hashable {
    var server: Int
    var characteristic: String
  }

  var adapters: [Adapter]
  var links: [Link] = []
  private var lastLink = 0
  /// Pairs out of range, lower number first.
  var apart: Set<[Int]> = []
  /// MTU of pairs that differ from the others.
  var mtus: [[Int]: Int] = [:]
  /// How often the services of an adapter have changed: handles, and so paths, move each time.
  var moves: [Int: Int] = [:]

  init(count: Int) {
    adapters = (0..<count).map { number in
      let digits = String(number, radix: 16, uppercase: true)
      return Adapter(address: "00:B1:1E:00:00:" + (digits.count == 1 ? "0" : "") + digits)
    }
  }

  func isInRange(_ one: Int, _ other: Int) -> Bool {
    one != other && !apart.contains([min(one, other), max(one, other)])
  }

  mutating func open(_ central: Int, _ peripheral: Int, mtu: Int, isResolved: Bool = false) {
    lastLink += 1
    links.append(Link(number: lastLink, central: central, peripheral: peripheral, mtu: mtu, isResolved: isResolved))
  }

  func link(_ one: Int, _ other: Int) -> Int? { links.firstIndex { $0.has(one) && $0.has(other) } }

  static func path(_ adapter: Int) -> String { "/org/bluez/hci\(adapter)" }

  /// The path of adapter `other` as a device of `adapter`.
  func device(_ other: Int, of adapter: Int) -> String {
    "\(Self.path(adapter))/dev_\(adapters[other].address.replacing(":", with: "_"))"
  }

  /// Path of a remote service or characteristic: number of the application, then of the characteristic.
  func service(_ index: Int, of server: Int, at client: Int) -> String {
    "\(device(server, of: client))/service\(Self.digits((index + 8 * moves[server, default: 0]) * 16 + 16))"
  }

  func characteristic(_ index: Int, _ place: Int, of server: Int, at client: Int) -> String {
    "\(service(index, of: server, at: client))/char\(Self.digits((index + 8 * moves[server, default: 0]) * 16 + 18 + place * 3))"
  }

  private static func digits(_ number: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: max(0, 4 - text.count)) + text
  }

  /// What the others hear of an adapter, if it is in the air.
  func advertisement(of number: Int) -> Advertised? {
    let adapter = adapters[number]
    guard adapter.isPlugged, adapter.isPowered, !adapter.isSilenced else { return nil }
    return adapter.advertised.first
  }
}
