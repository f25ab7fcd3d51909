/// What a program tells its caller when it ends. The codes are documented for users and never change their meaning.
package enum ExitCode {
  package static let success: Int32 = 0
  package static let failure: Int32 = 1
  /// The command line cannot be understood.
  package static let usage: Int32 = 2
  /// The configuration file cannot be understood.
  package static let configuration: Int32 = 3
  /// No daemon answers on the socket.
  package static let daemonNotRunning: Int32 = 4
  /// The state directory cannot be used.
  package static let stateUnusable: Int32 = 5
  /// What was scanned is of the peer, but made for another key than ours.
  package static let fingerprintDiffers: Int32 = 10
  /// What was scanned is of another peer than the one to be verified.
  package static let scannedAnotherPeer: Int32 = 11
}
