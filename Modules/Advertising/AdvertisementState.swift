package import Transports

/// Decides what is advertised: the hint of this boot and the digest of what we hold, while somebody may connect.
///
/// Nothing that says who we are is ever in it. Pure.
package struct AdvertisementState: Sendable {
  package enum Action: Sendable, Equatable {
    case advertise(Advertisement)
    case stop
  }

  private let hint: UInt32
  private var digest: UInt16 = 0
  private var isPoweredOn = false
  private var hasRoom = true
  private var current: Advertisement?

  /// - Parameter hint: 32 random bits of this boot.
  package init(hint: UInt32) { self.hint = hint }

  /// The transport has lost what it was told whenever it was off.
  package mutating func powered(_ isOn: Bool) -> Action? {
    isPoweredOn = isOn
    if !isOn { current = nil }
    return next()
  }

  package mutating func occupied(_ occupancy: LinkOccupancy) -> Action? {
    hasRoom = occupancy.hasRoom
    return next()
  }

  package mutating func holds(digest: UInt16) -> Action? {
    self.digest = digest
    return next()
  }

  /// The transport refused the last action: it is to be asked again.
  package mutating func refused() -> Action? {
    current = nil
    return next()
  }

  private mutating func next() -> Action? {
    guard isPoweredOn else { return nil }
    let wanted = hasRoom ? Advertisement(hint: hint, digest: digest) : nil
    guard wanted != current else { return nil }
    current = wanted
    return wanted.map { .advertise($0) } ?? .stop
  }
}
