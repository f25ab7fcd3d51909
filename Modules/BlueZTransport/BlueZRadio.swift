package import DBusKit
package import Streams
internal import Telemetry
package import Transports

/// Nodes that meet over Bluetooth LE, through BlueZ' D-Bus API and nothing else: no raw HCI, no management socket, no
/// rights, no owned name. Both roles at once. Never pairs.
///
/// Without a bus, BlueZ or adapter it stays, says what is missing, and starts by itself when it comes. An adapter that is
/// switched off stays off unless the option `power-adapter` says otherwise.
package final class BlueZRadio: Transport {
  /// How it is to be run.
  package struct Configuration: Sendable {
    package var bus = DBusConnection.Bus.system
    /// Address, or `hci0`; nil for the first that is usable.
    package var adapter: String?
    package var mayPower = false
    /// Whether values leave over a socket of BlueZ's where it hands one out, and not by calls.
    package var usesSockets = true

    package init() {}
  }

  package let properties: TransportProperties
  package let state = Latest(TransportState.poweredOff)
  package let sightings = Hints<TransportAddress, Sighting>(capacity: TransportsLimits.waitingSightings)
  package let inbound = Channel<any TransportLink>(capacity: TransportsLimits.waitingInbound)

  private let host: BlueZHost
  private let counts = CounterSet<BlueZCounter>("bluez")

  package init(configuration: Configuration, context: TransportContext) {
    properties = TransportProperties(
      scheme: "bluez", name: configuration.adapter.map { "bluez:\($0)" } ?? "bluez",
      bytesPerSecond: BlueZLimits.bytesPerSecond, linkLimit: BlueZLimits.mostLinks)
    host = BlueZHost(
      configuration: configuration, context: context, state: state, sightings: sightings, inbound: inbound,
      counters: counts)
  }

  package var counters: [String: UInt64] {
    Dictionary(uniqueKeysWithValues: BlueZCounter.allCases.map { ($0.rawValue, counts[$0]) })
  }

  func holdings() async -> BlueZHost.Holdings { await host.holdings }

  package func run() async throws { try await host.run() }

  package func advertise(_ advertisement: Advertisement?) async throws(TransportError) {
    guard state.value == .poweredOn else { throw .notPoweredOn }
    await host.advertise(advertisement)
  }

  package func scan(_ isScanning: Bool) async throws(TransportError) {
    guard state.value == .poweredOn else { throw .notPoweredOn }
    await host.scan(isScanning)
  }

  package func connect(
    to address: TransportAddress, progress: @escaping @Sendable (DialStep) -> Void
  ) async throws(TransportError) -> any TransportLink {
    guard state.value == .poweredOn else { throw .notPoweredOn }
    return try await host.connect(to: address.description, progress: progress)
  }
}
