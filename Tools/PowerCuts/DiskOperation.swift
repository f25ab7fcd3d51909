/// One thing that changes a disk. Files are numbers, because a name can go while the file is open.
package enum DiskOperation: Equatable, Sendable {
  case create(path: String, file: Int)
  case unlink(path: String)
  case write(file: Int, offset: Int, bytes: [UInt8])
  case truncate(file: Int, size: Int)
  case sync(file: Int)
  case syncDirectory

  package var word: String {
    switch self {
    case .create: "create"
    case .unlink: "unlink"
    case .write: "write"
    case .truncate: "truncate"
    case .sync: "sync"
    case .syncDirectory: "syncDirectory"
    }
  }
}

/// What of the unsynced is there after a cut.
package enum Leftover: Equatable, Sendable, CustomStringConvertible {
  /// Nothing.
  case nothing
  /// Everything: the process died and the machine did not.
  case everything
  /// Of every write, truncation and name any or none, in any combination; of a write any of its sectors.
  case some(seed: UInt64)

  package var description: String {
    switch self {
    case .nothing: "nothing"
    case .everything: "everything"
    case .some(let seed): "some(\(seed))"
    }
  }
}
