internal import Verifying

/// What may happen to a state directory, before any key is asked for: the one place that allows a key to be made.
package enum OpeningRules {
  /// What was asked for, by a verb or a setting of its own each.
  package enum Purpose: Equatable, Sendable {
    /// A node starts.
    case open
    /// A node is to begin here.
    case create
    /// The plain store of earlier builds is to get a slot file.
    case migrate
  }

  package enum Step: Equatable, Sendable {
    case finishWipe
    case unlock
    /// Makes a data key and its slot file.
    case make
  }

  package static func step(
    for purpose: Purpose, in directory: String, holding inventory: StateInventory
  ) throws(KeyingError) -> Step {
    if inventory.hasMark { return .finishWipe }
    let path = directory + "/" + StateInventory.slotFile
    if inventory.hasSlotFile {
      guard purpose == .open || KeysAbsent.isSkipped else { throw .alreadyInitialised(path: path) }
      return purpose == .open ? .unlock : .make
    }
    // A backup without its file is no state that any of our writes leaves behind.
    guard !inventory.hasBackup else { throw .slotFileLost(path: path, found: [StateInventory.backup]) }
    let isPlainStore = !inventory.plain.isEmpty && inventory.sealed.isEmpty
    switch purpose {
    case .open:
      if isPlainStore { throw .migrationNeeded(directory: directory) }
      guard inventory.state.isEmpty else { throw .slotFileLost(path: path, found: inventory.state) }
      throw .notInitialised(directory: directory)
    case .create:
      if isPlainStore { throw .migrationNeeded(directory: directory) }
      guard inventory.state.isEmpty || StateEmpty.isSkipped else {
        throw .slotFileLost(path: path, found: inventory.state)
      }
      return .make
    case .migrate:
      if isPlainStore { return .make }
      guard inventory.state.isEmpty else { throw .slotFileLost(path: path, found: inventory.state) }
      throw .nothingToMigrate(directory: directory)
    }
  }
}

/// Keys are made only where nothing lies that other keys have sealed.
enum StateEmpty: Verification {
  static let name = "state-empty"
}

/// A slot file is never made over another.
enum KeysAbsent: Verification {
  static let name = "keys-absent"
}
