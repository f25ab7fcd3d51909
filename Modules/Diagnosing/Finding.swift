/// What was found out about one layer between the radio and the mesh.
///
/// As JSON it is one object with these keys, which stay: `layer`, `state`, `fact`, and `remedy` where there is one.
package struct Finding: Sendable, Equatable, Codable {
  /// From the hardware up: a fault of one layer explains what is missing above it.
  package enum Layer: String, Sendable, Codable, CaseIterable {
    /// Whether the kernel knows Bluetooth and a controller.
    case kernel
    /// Whether a switch, in the machine or in the system, keeps the radio off.
    case rfkill
    /// The system's message bus.
    case bus
    /// Whether BlueZ is installed, runs and answers.
    case bluetoothd
    /// Whether this user may speak to it.
    case policy
    /// Whether somebody else bears the name that is needed: of BlueZ on the bus, of our service at the adapter.
    case name
    /// Whether BlueZ has the adapter that is meant.
    case adapter
    /// Whether the adapter is on.
    case power
    /// Whether it speaks Bluetooth LE in both roles.
    case lowEnergy = "low-energy"
    /// Whether it advertises.
    case advertising
    /// Whether dials reach anybody.
    case dialling
    /// Whether the daemon answers.
    case daemon
    /// Whether the daemon uses Bluetooth.
    case transport
  }

  package enum State: String, Sendable, Codable, CaseIterable {
    case ok
    /// It works, and not as it could.
    case warning
    /// It does not work.
    case fault
  }

  package var layer: Layer
  package var state: State
  /// One sentence about what is, with a full stop.
  package var fact: String
  /// What to do about it; nil when there is nothing to be done.
  package var remedy: String?

  package init(_ layer: Layer, _ state: State, _ fact: String, remedy: String? = nil) {
    self.layer = layer
    self.state = state
    self.fact = fact
    self.remedy = remedy
  }
}
