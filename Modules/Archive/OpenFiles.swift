internal import Database
internal import Lifecycle

/// What lies open beside a sealed store: whoever has the disk reads it.
package enum OpenFiles {
  /// Damaged files of the history that were set aside while it was plain, or before all of it was sealed; by name, with
  /// `quarantine/` before it. One that cannot be looked into is taken to be open.
  package static func quarantined(in state: String) -> [String] {
    DirectoryNames.all(in: state + "/quarantine").filter { name in
      guard !name.hasSuffix("-shm") else { return false }
      let database = name.hasSuffix("-wal") ? String(name.dropLast(4)) : name
      let look = try? ArchiveLook.at(state + "/quarantine/" + database, key: nil)
      return look != .sealed(phase: .sealed, number: nil)
    }.sorted().map { "quarantine/" + $0 }
  }

  /// Drafts of a salvage that was interrupted, where they are not sealed.
  package static func drafts(in state: String) -> [String] {
    DirectoryNames.all(in: state).filter { name in
      guard name == "archive.db.draft" || name == "archive.db.salvaged" else { return false }
      return (try? ArchiveLook.at(state + "/" + name, key: nil)) != .sealed(phase: .sealed, number: nil)
    }.sorted()
  }
}
