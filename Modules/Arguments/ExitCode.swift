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
  /// Of relaychatd wipe: there is no node in the directory.
  package static let noNode: Int32 = 6
  /// What was scanned is of the peer, but made for another key than ours.
  package static let fingerprintDiffers: Int32 = 10
  /// What was scanned is of another peer than the one to be verified.
  package static let scannedAnotherPeer: Int32 = 11
  /// Of relaychatd: a file of the state was put back from a copy while the rest was not.
  package static let stateRestored: Int32 = 10
  /// Of relaychatd: a file of the state is of another node, or plain where all is sealed.
  package static let stateForeign: Int32 = 11
  /// A file of the state is gone or empty, and what belongs to it is there.
  package static let keysLost: Int32 = 12
  /// The plain store of earlier builds is there and has no slot file yet.
  package static let keysNotMigrated: Int32 = 13
  /// What holds the key is not there.
  package static let keysMissing: Int32 = 14
  /// What holds the key gives nothing now.
  package static let keysLocked: Int32 = 15
  /// The key or passphrase is another one.
  package static let keysWrong: Int32 = 16
  /// The slot file or the sealed store is damaged.
  package static let keysCorrupt: Int32 = 17
  /// The slot file was made for another provider.
  package static let keysChanged: Int32 = 18
  /// The node was wiped.
  package static let keysWiped: Int32 = 19
}
