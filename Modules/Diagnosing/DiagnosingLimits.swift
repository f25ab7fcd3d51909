/// The bounds of this module, each with its reason.
package enum DiagnosingLimits {
  /// How long one question on the bus may take: whoever waits in front of a terminal thinks that it hangs after more.
  package static let answer = Duration.seconds(5)
  /// Bytes of a file below /sys or /proc: each holds one word.
  package static let bytesOfFile = 256
  /// Names of one folder that are looked at: no machine has so many radios.
  package static let namesOfFolder = 64
  /// Dials that have failed before it is said that dialling does not work: one peer may be out of range.
  package static let failedDials = 2
  /// Seconds after its start in which a transport of the daemon may still be on its way up.
  package static let secondsOfStart = 10.0
  /// Characters of a text that came from elsewhere.
  package static let charactersOfText = 200
}
