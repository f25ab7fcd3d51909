/// Everything that is looked at before anything is said. What nobody could answer is absent.
package struct DiagnosisFacts: Sendable, Equatable {
  /// What the kernel says in `/sys`.
  package struct Kernel: Sendable, Equatable {
    /// Whether the kernel has Bluetooth at all: bluetoothd does not start without.
    package var hasBluetooth: Bool
    /// `hci0`, …
    package var controllers: [String]

    package init(hasBluetooth: Bool, controllers: [String]) {
      self.hasBluetooth = hasBluetooth
      self.controllers = controllers
    }
  }

  /// A switch of kind `bluetooth` in `/sys/class/rfkill`.
  package struct RadioSwitch: Sendable, Equatable {
    package var name: String
    /// Off by software, and for software to lift.
    package var isSoft: Bool
    /// Off by a key or a switch of the machine.
    package var isHard: Bool

    package init(name: String, isSoft: Bool, isHard: Bool) {
      self.name = name
      self.isSoft = isSoft
      self.isHard = isHard
    }
  }

  /// One adapter as BlueZ lists it.
  package struct Adapter: Sendable, Equatable {
    /// `hci0`.
    package var name: String
    package var address: String
    package var isPowered: Bool
    /// `central`, `peripheral`, …; nil when this version of BlueZ does not say.
    package var roles: [String]?
    package var hasServices: Bool
    package var hasAdvertising: Bool
    /// Advertisements that it holds, and that it would still take.
    package var advertisements: Int?
    package var freeAdvertisements: Int?
    /// Whether a program has registered our service here.
    package var hasOurService: Bool
    /// Who made the controller, by the Bluetooth SIG's list; nil where BlueZ does not say (before 5.71).
    package var maker: String?

    package init(
      name: String, address: String, isPowered: Bool = true, roles: [String]? = ["central", "peripheral"],
      hasServices: Bool = true, hasAdvertising: Bool = true, advertisements: Int? = 0, freeAdvertisements: Int? = 5,
      hasOurService: Bool = false, maker: String? = nil
    ) {
      self.name = name
      self.address = address
      self.isPowered = isPowered
      self.roles = roles
      self.hasServices = hasServices
      self.hasAdvertising = hasAdvertising
      self.advertisements = advertisements
      self.freeAdvertisements = freeAdvertisements
      self.hasOurService = hasOurService
      self.maker = maker
    }
  }

  /// Who owns `org.bluez`.
  package struct Owner: Sendable, Equatable {
    /// Name of the process; nil when it could not be read.
    package var process: String?
    package var user: UInt32?

    package init(process: String? = nil, user: UInt32? = nil) {
      self.process = process
      self.user = user
    }
  }

  package enum Bus: Sendable, Equatable {
    /// `reason` is the sentence of the library.
    case absent(reason: String)
    /// The bus answers, and nobody owns `org.bluez`; `isInstalled` when the bus would start it.
    case withoutBlueZ(isInstalled: Bool)
    case denied(Owner)
    case silent(Owner, reason: String)
    case answers(Owner, [Adapter])
  }

  /// A dial or a link of the daemon.
  package struct Link: Sendable, Equatable {
    package var isDialled: Bool
    package var isReady: Bool
    /// Whether its last dial ended before a radio connection stood.
    package var hasMissed: Bool

    package init(isDialled: Bool, isReady: Bool, hasMissed: Bool) {
      self.isDialled = isDialled
      self.isReady = isReady
      self.hasMissed = hasMissed
    }
  }

  /// A transport of the daemon.
  package struct Transport: Sendable, Equatable {
    package var name: String
    package var scheme: String
    /// `poweredOn`, `unsupported`, …
    package var state: String

    package init(name: String, scheme: String, state: String) {
      self.name = name
      self.scheme = scheme
      self.state = state
    }
  }

  package enum Daemon: Sendable, Equatable {
    case absent(socket: String)
    case denied(socket: String)
    case failed(reason: String)
    /// `refusedAdvertisements` since it started; `links` of its Bluetooth transports.
    case answers(transports: [Transport], links: [Link], refusedAdvertisements: UInt64)
  }

  package var kernel: Kernel
  package var switches: [RadioSwitch]
  package var bus: Bus
  /// The adapter that is meant, an address or a name like `hci0`; nil for the first that is usable.
  package var wanted: String?
  package var daemon: Daemon

  package init(kernel: Kernel, switches: [RadioSwitch], bus: Bus, wanted: String?, daemon: Daemon) {
    self.kernel = kernel
    self.switches = switches
    self.bus = bus
    self.wanted = wanted
    self.daemon = daemon
  }
}
