package import Primitives

/// Why a backup cannot be written or believed. Facts only.
package enum BackupError: Error, Equatable, Sendable {
  /// A file of that name is there, and is not replaced.
  case exists(path: String)
  /// No backup of ours.
  case magic
  case formatTooNew(UInt8)
  /// The file ends before its last record, or within one.
  case truncated
  /// Bytes follow the last record.
  case trailing
  /// The slot in the head is no slot of a passphrase.
  case slot(KeySlots.Fault)
  case wrongPassphrase
  case passphraseLength(Int)
  /// A record is not the one that was written in this place; its number, from 0.
  case damaged(record: UInt64)
  case content(BackupAssembly.Fault)
  /// The writer was asked for what a backup does not hold.
  case misuse(BackupAssembly.Fault)
  case file(FileSystemError)
  case primitive(PrimitiveError)
}
