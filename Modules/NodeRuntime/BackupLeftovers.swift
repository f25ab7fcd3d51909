internal import Archive
internal import Glibc
internal import Keying

/// Copies in the clear that a backup of an earlier version left in the state directory when it was killed.
enum BackupLeftovers {
  /// Overwrites and removes them. What cannot be removed now is tried again with the next call.
  ///
  /// - Returns: the names of those that were there and are gone.
  @discardableResult
  static func remove(from directory: String, in files: any FileSystem = SystemFileSystem()) -> [String] {
    var removed: [String] = []
    for database in StateFiles.databases {
      for companion in ["", "-journal", "-wal", "-shm"] {
        let name = database + ".copy" + companion
        let path = directory + "/" + name
        guard (try? files.facts(of: path)) != nil else { continue }
        // A disk that takes no zeros still gives up the name.
        if (try? DurableFile.erase(path, in: files)) == nil { try? files.unlink(path) }
        if (try? files.facts(of: path)) == nil { removed.append(name) }
      }
    }
    if !removed.isEmpty { try? files.syncDirectory(directory) }
    return removed
  }
}

/// Whether a daemon runs in a state directory, kept so while this lives. Writes nothing.
final class StateUse {
  let isOfAnother: Bool
  private let descriptor: Int32

  init(of directory: String) {
    descriptor = unsafe open(directory + "/lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    // Where there is no lock, no daemon was ever started.
    isOfAnother = descriptor >= 0 && flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
