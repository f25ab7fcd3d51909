/// What lies in a state directory, by name.
package struct StateInventory: Equatable, Sendable {
  /// What a name in the state directory stands for.
  package enum Kind: Equatable, Sendable {
    /// The slot file, its backup, and what a write left behind.
    case keys
    /// The plain store of earlier builds.
    case plain
    /// Messages and contacts, in both.
    case archive
    /// Files that only a sealed store has, and what was put into quarantine.
    case sealed
    /// What says nothing about a former node: the lock, the control socket, what a write left behind.
    case passing
    /// The mark of a wipe.
    case mark
  }

  package static let slotFile = "keys.v1"
  package static let backup = "keys.v1.bak"
  package static let draft = "keys.v1.tmp"
  package static let mark = "wiping"
  static let markDraft = "wiping.tmp"
  static let lock = "lock"
  static let quarantine = "quarantine"

  package private(set) var hasSlotFile = false
  package private(set) var hasBackup = false
  package private(set) var hasMark = false
  package private(set) var plain: [String] = []
  package private(set) var archive: [String] = []
  package private(set) var sealed: [String] = []
  /// Names that no version of this program gives.
  package private(set) var unknown: [String] = []

  package init(names: [String]) {
    for name in names.sorted() {
      switch Self.kind(of: name) {
      case .keys:
        hasSlotFile = hasSlotFile || name == Self.slotFile
        hasBackup = hasBackup || name == Self.backup
      case .mark: hasMark = hasMark || name == Self.mark
      case .plain: plain.append(name)
      case .archive: archive.append(name)
      case .sealed: sealed.append(name)
      case .passing: break
      case nil: unknown.append(name)
      }
    }
  }

  /// Files whose content a slot file that is gone may have opened.
  package var state: [String] { plain + archive + sealed }

  /// Nothing for a name that is not ours.
  package static func kind(of name: String) -> Kind? {
    switch name {
    case slotFile, backup, draft: return .keys
    case mark: return .mark
    case markDraft, lock, "control.sock": return .passing
    // Damaged files of the archive, plain or sealed as it was.
    case quarantine: return .archive
    default: break
    }
    // SQLite's companions, and copies that were set aside, are of the kind of what they belong to.
    for (stem, kind) in [
      ("plain.db", Kind.plain), ("archive.db", .archive), ("store.db", .sealed), ("inbox.db", .sealed),
    ]
    where name == stem || name.hasPrefix(stem + "-") || name.hasPrefix(stem + ".") {
      return kind
    }
    return nil
  }
}
