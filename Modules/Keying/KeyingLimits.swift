/// Limits of this module, each with its reason.
package enum KeyingLimits {
  /// Bytes in the name of a credential: what a file name may have.
  package static let credentialNameBytes = 255
  /// Slots of one file: one for each provider, and as many again for recovery and for the moment of a change.
  package static let slotCount = 8
  /// Shortest time that a refused passphrase takes, whatever the machine: nobody types faster.
  package static let refusedPassphrase = Duration.milliseconds(300)
  /// Least cost of a passphrase slot, log2 of N: a file that asks for less was made to be guessed.
  package static let smallestLogCost: UInt8 = 17
  /// Most, log2 of N: 1 GiB with r 8, what one derivation may take at all. A file must not exhaust who reads it.
  package static let largestLogCost: UInt8 = 20
  /// The block size r, the one that RFC 7914 measures with; more multiplies the memory.
  package static let blockSize: UInt8 = 8
  /// Most parallel runs p, which are done one after another here.
  package static let largestParallelism: UInt8 = 4
  /// Bytes of a passphrase: more than anybody remembers.
  package static let passphraseBytes = 1_024
  /// Bytes of a key file: 64 digits and a line end; one more shows that it is something else.
  package static let keyFileBytes = 66
  /// Names that are read of one directory; a state directory has a dozen, quarantine a few of each.
  package static let namesInDirectory = 4_096
  /// Paths outside the state directory that a wipe removes: the key file and the credential.
  package static let pathsInMarker = 4
  /// Bytes of one path, as Linux has it.
  package static let pathBytes = 4_096
  /// Directories inside each other that a wipe enters; quarantine has one level.
  package static let directoryDepth = 4
  /// How often a wipe begins again because something came back; a second time is chance, a third one a fault.
  package static let wipeRounds = 3
  /// Content of one backup record: large enough that its 21 bytes around it do not matter, small enough for any memory.
  package static let recordBytes = 65_536
  /// Name of one entry of a backup.
  package static let entryNameBytes = 255
  /// Entries of one backup: one for each kind of state, with room.
  package static let entries: UInt32 = 65_536
  /// Zeros that are written at once over what is erased.
  package static let eraseBytes = 65_536
}
