import BlueZTransport
import DBusKit
import TestKit
import Testing

/// The mirror beside what BlueZ has, while answers and signals overtake each other on their way through the program.
struct MirrorTests {
  private static let owner = ":1.7"

  /// What the bus carries, in its order.
  private enum Said {
    case signal(DBusMessage)
    case answer(DBusValue)
  }

  /// Objects as BlueZ has them, and what it says of them.
  private struct Service {
    var devices: [String: Bool] = [:]

    var snapshot: DBusValue {
      .dictionary(
        key: "o", value: "a{sa{sv}}",
        devices.sorted { $0.key < $1.key }.map { DBusEntry(.objectPath($0.key), interfaces($0.value)) })
    }

    private func interfaces(_ isConnected: Bool) -> DBusValue {
      .dictionary(
        key: "s", value: "a{sv}",
        [DBusEntry(.string(BlueZNames.device), .properties(["Connected": .boolean(isConnected)]))])
    }

    mutating func change(_ path: String, _ choice: UInt64) -> DBusMessage {
      var message: DBusMessage
      if let isConnected = devices[path], choice % 4 != 0 {
        devices[path] = !isConnected
        message = .signal(
          path, BlueZNames.properties, "PropertiesChanged",
          [
            .string(BlueZNames.device), .properties(["Connected": .boolean(!isConnected)]),
            .array(element: "s", []),
          ])
      } else if devices[path] != nil {
        devices[path] = nil
        message = .signal(
          "/", BlueZNames.objectManager, "InterfacesRemoved", [.objectPath(path), .strings([BlueZNames.device])])
      } else {
        devices[path] = false
        message = .signal("/", BlueZNames.objectManager, "InterfacesAdded", [.objectPath(path), interfaces(false)])
      }
      message.sender = MirrorTests.owner
      return message
    }
  }

  private func path(_ number: UInt64) -> String { "/org/bluez/hci0/dev_\(number)" }

  private func devices(of mirror: ObjectMirror) -> [String: Bool] {
    Dictionary(
      uniqueKeysWithValues: mirror.paths(with: BlueZNames.device).map { ($0, mirror.isConnected($0)) })
  }

  @Test func whatIsSaidBehindTheAnswerIsNotLostWhenItIsHandedInFirst() {
    var (mirror, service) = (ObjectMirror(), Service())
    mirror.setOwner(Self.owner)
    mirror.willAsk()
    _ = mirror.take(service.change(path(1), 1), order: 1)
    let answer = service.snapshot
    let later = service.change(path(2), 1)
    #expect(mirror.take(later, order: 3).isEmpty, "nothing is there to be changed")
    let changes = mirror.take(snapshot: answer, order: 2)
    #expect(changes.count == 2, "\(changes)")
    #expect(devices(of: mirror) == service.devices)
  }

  @Test func moreThanIsKeptMeansToAskAgain() {
    var (mirror, service) = (ObjectMirror(), Service())
    mirror.setOwner(Self.owner)
    mirror.willAsk()
    let answer = service.snapshot
    for order in 0..<UInt64(BlueZLimits.heldSignals) {
      _ = mirror.take(service.change(path(order), 1), order: 10 + order)
    }
    #expect(!mirror.isBehind)
    _ = mirror.take(service.change(path(0), 1), order: 10 + UInt64(BlueZLimits.heldSignals))
    _ = mirror.take(snapshot: answer, order: 9)
    #expect(mirror.isBehind)
    mirror.willAsk()
    _ = mirror.take(snapshot: service.snapshot, order: 20 + UInt64(BlueZLimits.heldSignals))
    #expect(!mirror.isBehind)
    #expect(devices(of: mirror) == service.devices)
  }

  /// Answers and signals come on two ways, each in order, and both are handed in at times of their own.
  @Test(arguments: 1...200)
  func mirrorIsWhatTheServiceHas(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (mirror, service) = (ObjectMirror(), Service())
    var signals: [(DBusMessage, UInt64)] = []
    var answers: [(DBusValue, UInt64)] = []
    mirror.setOwner(Self.owner)
    mirror.willAsk()
    var (order, unanswered) = (UInt64(0), 1)
    for _ in 0..<400 {
      switch random.next() % 8 {
      case 0...2:
        order += 1
        signals.append((service.change(path(random.next() % 6), random.next()), order))
      case 3 where unanswered > 0:
        order += 1
        unanswered -= 1
        answers.append((service.snapshot, order))
      case 4 where mirror.isComplete && unanswered < 3 && random.next() % 4 == 0:
        mirror.willAsk()
        unanswered += 1
      case 5 where !answers.isEmpty:
        let (answer, order) = answers.removeFirst()
        _ = mirror.take(snapshot: answer, order: order)
      default:
        guard !signals.isEmpty else { continue }
        let (signal, order) = signals.removeFirst()
        _ = mirror.take(signal, order: order)
      }
    }
    for _ in 0..<unanswered {
      order += 1
      answers.append((service.snapshot, order))
    }
    for _ in 0..<10 {
      order += 1
      signals.append((service.change(path(random.next() % 6), random.next()), order))
    }
    while !signals.isEmpty || !answers.isEmpty {
      if signals.isEmpty || (!answers.isEmpty && random.next() % 4 == 0) {
        let (answer, order) = answers.removeFirst()
        _ = mirror.take(snapshot: answer, order: order)
      } else {
        let (signal, order) = signals.removeFirst()
        _ = mirror.take(signal, order: order)
      }
    }
    #expect(devices(of: mirror) == service.devices, "seed \(seed)")
  }
}

/// Which adapter is used where none is named.
struct AdapterChoiceTests {
  private func mirror(_ adapters: [(name: String, isUsable: Bool, isPowered: Bool)]) -> ObjectMirror {
    var mirror = ObjectMirror()
    mirror.setOwner(":1.7")
    let objects = adapters.enumerated().map { index, adapter in
      var interfaces = [
        DBusEntry(
          .string(BlueZNames.adapter),
          .properties(["Powered": .boolean(adapter.isPowered), "Address": .string("00:00:00:00:00:0\(index)")]))
      ]
      if adapter.isUsable {
        interfaces += [BlueZNames.gattManager, BlueZNames.advertisingManager].map {
          DBusEntry(.string($0), .properties([:]))
        }
      }
      return DBusEntry(
        .objectPath("/org/bluez/\(adapter.name)"), .dictionary(key: "s", value: "a{sv}", interfaces))
    }
    _ = mirror.take(snapshot: .dictionary(key: "o", value: "a{sa{sv}}", objects), order: 1)
    return mirror
  }

  @Test func adapterThatComesBackTakesNoLinksFromTheOneInUse() {
    let both = mirror([("hci0", true, true), ("hci1", true, true)])
    #expect(both.adapter(nil) == "/org/bluez/hci0")
    #expect(both.adapter(nil, current: "/org/bluez/hci1") == "/org/bluez/hci1")
    #expect(both.adapter("hci0", current: "/org/bluez/hci1") == "/org/bluez/hci0", "unless it is named")
  }

  @Test func adapterThatIsOnIsPreferred() {
    let second = mirror([("hci0", true, false), ("hci1", false, true), ("hci2", true, true)])
    #expect(second.adapter(nil) == "/org/bluez/hci2")
    #expect(second.adapter(nil, current: "/org/bluez/hci0") == "/org/bluez/hci2")
    let none = mirror([("hci0", false, true), ("hci1", true, false)])
    #expect(none.adapter(nil) == "/org/bluez/hci1")
    #expect(none.adapter(nil, current: "/org/bluez/hci9") == "/org/bluez/hci1", "one that is gone is not kept")
  }
}
