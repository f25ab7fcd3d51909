/// The bounds of this module, each with its reason.
package enum LifecycleLimits {
  /// How long a graceful stop may take; systemd and a person at a terminal both wait this long without worry.
  package static let graceOfStop = Duration.seconds(5)
  /// How long cancelled services get to unwind before the process is given up.
  package static let graceOfCancellation = Duration.seconds(1)
  /// Bytes of a path in `sockaddr_un`, which has room for 108 with the closing zero.
  package static let bytesOfSocketPath = 107
  /// Signals that wait to be read; more of them say nothing new.
  package static let waitingSignals = 16
  /// Bytes of a status text for the service manager.
  package static let bytesOfStatus = 512
}
