package import Primitives

/// Why the key of the store is not to be had. Facts only: no key, no passphrase and nothing derived from them is in it.
///
/// Whichever it is, nothing on disk was changed, except for `.wiped`, and `.file` in the middle of a change, after which
/// the file opens as before or as after.
package enum KeyingError: Error, Equatable, Sendable {
  /// There is no slot file and nothing else: nobody has said that a node may begin here.
  case notInitialised(directory: String)
  /// The slot file is gone while what it opens is there, or only its backup is.
  case slotFileLost(path: String, found: [String])
  /// The directory holds the plain store of earlier builds and no slot file.
  case migrationNeeded(directory: String)
  /// There is a slot file already; a second one would make the first one's data unreadable.
  case alreadyInitialised(path: String)
  /// A migration was asked for where there is no plain store.
  case nothingToMigrate(directory: String)
  /// What holds the key is not there. May be tried again.
  case providerMissing(KeySlot.Kind, place: String)
  /// What holds the key is there and gives nothing now: no passphrase was given, or the file may not be read.
  case providerLocked(KeySlot.Kind, place: String, code: Int32)
  /// What holds the key cannot be one that keeps it.
  case providerUnfit(KeySlot.Kind, place: String, KeyFileFault)
  /// The key or passphrase opens no slot of its kind.
  case wrongKey(KeySlot.Kind)
  /// The slot file has no slot for the provider that was named.
  case providerChanged(asked: KeySlot.Kind, recorded: [KeySlot.Kind])
  /// The slot file, or a part of it, is not what was written.
  case corrupt(path: String, KeySlots.Fault, backup: BackupCopy)
  /// The slot file was written by a newer version.
  case formatTooNew(path: String, found: UInt8)
  /// A wipe had begun; it was finished now and nothing is left to open.
  case wiped(WipeReport)
  /// A wipe has begun, and whoever only reads does not finish it.
  case wipePending(directory: String)
  /// The mark of a wipe is there and cannot be read.
  case markerCorrupt(path: String)
  /// No slot may be added, or the last one not removed.
  case slotCount(Int)
  /// There is no slot of this number and kind.
  case noSuchSlot(Int)
  /// An empty passphrase, or one of more than `KeyingLimits.passphraseBytes`.
  case passphraseLength(Int)
  case file(FileSystemError)
  case primitive(PrimitiveError)

  /// What stands in `keys.v1.bak`.
  package enum BackupCopy: Equatable, Sendable { case none, readable(path: String), damaged(path: String) }
}

/// Why a file is no key file.
package enum KeyFileFault: Equatable, Sendable {
  /// A directory, a pipe or a device.
  case noFile
  /// Group or others may use it.
  case openToOthers(mode: UInt32)
  /// It belongs neither to us nor to root.
  case notOurs(owner: UInt32)
  /// It lies beside the data that it protects, and nobody has allowed that.
  case besideData
  /// Neither 32 bytes nor 64 hexadecimal digits, or all of them alike.
  case malformed
}

func filing<Result: ~Copyable>(
  _ body: () throws(FileSystemError) -> Result
) throws(KeyingError) -> Result {
  do throws(FileSystemError) { return try body() } catch { throw .file(error) }
}

func computing<Result: ~Copyable>(
  _ body: () throws(PrimitiveError) -> Result
) throws(KeyingError) -> Result {
  do throws(PrimitiveError) { return try body() } catch { throw .primitive(error) }
}
