/// Bounds and times of scanning, each with its reason.
package enum ScanningLimits {
  /// Addresses whose signal is remembered; the one not heard for longest goes.
  package static let addresses = 512
  /// An address is told to the links again after this, although nothing about it has changed.
  package static let repeatAfter: Duration = .seconds(5)
  /// A change of the smoothed signal that is worth telling, in dB.
  package static let signalStep = 6
  /// Weaker than this a link does not hold, so it is not worth a dial.
  package static let weakestSignal: Int8 = -95
  /// After a refusal scanning is asked for again, first and last wait; it doubles.
  package static let firstRetry: Duration = .seconds(1)
  package static let lastRetry: Duration = .seconds(30)
}
