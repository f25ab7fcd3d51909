internal import Archive
internal import Database
internal import Storing

/// What is said of the files of the state, in one sentence each.
extension DaemonError {
  func sentence(of error: PrivateDirectoryError) -> String {
    switch error {
    case .cannotBeMade(let path, let code):
      "The directory \(shown(path)) cannot be made: \(text(code)); make it yourself, or name another with --state."
    case .notADirectory(let path): "\(shown(path)) is not a directory; name another with --state."
    case .notOurs(let path, let owner):
      "The directory \(shown(path)) belongs to user \(owner); run as that user, or name another with --state."
    case .openToOthers(let path, let mode):
      "Others may enter the directory \(shown(path)) (mode \(String(mode, radix: 8))); run chmod 700 on it."
    }
  }

  func sentence(of error: DatabaseError) -> String {
    switch error {
    case .directory(let error): sentence(of: error)
    case .file(let path, let code): "The file \(shown(path)) cannot be used: \(text(code)); check owner and mode."
    case .notOurs(let path, let owner): "The file \(shown(path)) belongs to user \(owner); run as that user."
    case .corrupt(let path, _):
      "The file \(shown(path)) is damaged and was left as it is; move it away or restore a copy of it."
    case .busy(let path): "The file \(shown(path)) is in use by another program; stop that program."
    case .full(let path): "The disk of \(shown(path)) is full; nothing was lost: make room and start again."
    case .schemaTooNew(let path, let found, let known):
      "The file \(shown(path)) was written by a newer version (\(found), this one knows \(known)); use that version."
    // The primary result codes SQLITE_IOERR and SQLITE_CANTOPEN.
    case .statement(let code, let message, _) where code & 0xFF == 10 || code & 0xFF == 14:
      "The disk does not do what it is asked for (\(shown(message)), \(code)); nothing was lost: make room, look after the disk, and start again."
    case .column, .statement: "The store cannot be read: \(shown("\(error)")); restore a copy of the state directory."
    }
  }

  func sentence(of error: ArchiveError) -> String {
    switch error {
    case .database(.corrupt(let path, _)):
      "The history \(shown(path)) is damaged and was left as it is; relaychatd salvage makes a new one of what can be read and "
        + "keeps this one; where nothing can be, restore a copy of the file, or a backup."
    case .database(let error): sentence(of: error)
    case .wrongKey(let path):
      "The history \(shown(path)) is of another node than the rest; put back the one that belongs here."
    case .isPlain(let path):
      "The history \(shown(path)) is plain, and the one of this node is sealed; put back the one that belongs here."
    case .isSealed(let path):
      "\(shown(path)) is sealed, and the store beside it is not; put back the one that belongs here."
    case .contactsUnreadable(let path):
      "The contacts in \(shown(path)) cannot be read, and were left as they are; restore a copy of the file."
    case .primitive: "The cryptographic library or its random generator failed; the node does not start without."
    case .quarantineFull(let path, let count):
      "There are \(count) files in \(shown(path)) already; look at them, and move them elsewhere."
    case .file(let path, let code): "The file \(shown(path)) cannot be moved: \(text(code)); check owner and disk."
    }
  }

  func sentence(of error: StoreError) -> String {
    switch error {
    case .database(let error), .sealed(.database(let error)): sentence(of: error)
    case .sealed(.missing(let path)):
      "The store \(shown(path)) is gone or empty, and this node has one: put it back from a copy, or use relaychat restore."
    case .migration(.missing):
      "There is no store, and this node has one: put it back from a copy, or use relaychat restore."
    case .migration(.plainMissing(let path)):
      "The plain store \(shown(path)) is gone, and the sealed one is not whole yet: put the plain one back from a copy, or use relaychat restore."
    case .sealed(.otherStore(let path, _)), .sealed(.otherKey(let path)):
      "\(shown(path)) and keys.v1 beside it are not of one node, and were left as they are; put back those that belong together."
    case .migration(.foreignPlain(let path)):
      "The plain store \(shown(path)) lies where all is sealed, and is none of ours; move it away."
    case .sealed(.header(let path)), .sealed(.summary(let path)):
      "The store \(shown(path)) is not as this node wrote it, and was left as it is; put it back from a copy, or use relaychat restore."
    case .sealed(.generation(let name, _, _)), .sealed(.rowMissing(let name)), .sealed(.rowAdded(let name)),
      .sealed(.value(let name)):
      "The value \(shown(name)) in store.db is not as this node wrote it, and was left as it is; put the file back from a copy, or use relaychat restore."
    case .migration(.undecided):
      "Which of store.db and plain.db counts cannot be read; nothing was changed: mend the disk and start again."
    case .migration(.record(let path)):
      "\(shown(path)) is not the store that was being moved, or of a later version, and was left as it is; put back the one that belongs here."
    default: "The store cannot be used: \(shown("\(error)")); restore a copy of the state directory."
    }
  }
}
