/// Bounds of the relay, each with its reason.
package enum RelayingLimits {
  /// Deliveries that wait for the session: a second of a busy room. The relay waits when it is full.
  package static let waitingDeliveries = 256
  /// Receptions kept for a reader of the record that is slow.
  package static let receptionRing = 4_096
  /// Readers of the record at a time.
  package static let receptionReaders = 8
}
