internal import Arguments
internal import Keying

/// What the keys say to whoever started the program: a code each, and one sentence with the remedy.
extension KeyingError {
  var exitCode: Int32 {
    switch self {
    case .slotFileLost: ExitCode.keysLost
    case .migrationNeeded: ExitCode.keysNotMigrated
    case .providerMissing: ExitCode.keysMissing
    case .providerLocked: ExitCode.keysLocked
    case .wrongKey: ExitCode.keysWrong
    case .corrupt, .markerCorrupt: ExitCode.keysCorrupt
    case .providerChanged: ExitCode.keysChanged
    case .wiped, .wipePending: ExitCode.keysWiped
    case .providerUnfit: ExitCode.configuration
    case .slotCount, .noSuchSlot, .passphraseLength: ExitCode.usage
    case .notInitialised, .alreadyInitialised, .nothingToMigrate, .formatTooNew, .file: ExitCode.stateUnusable
    case .primitive: ExitCode.failure
    }
  }

  /// One sentence with the remedy.
  var sentence: String {
    switch self {
    case .notInitialised(let directory):
      "There is no node in \(shown(directory)) yet; make one with relaychatd init."
    case .slotFileLost(let path, let found):
      "The key file \(shown(path)) is gone, but \(shown(Self.few(found))) is there and cannot be read without it; put the file back from a copy, or move the rest away to begin as somebody else."
    case .migrationNeeded(let directory):
      "The state in \(shown(directory)) is in the plain form of earlier versions; run relaychat store migrate to seal it."
    case .alreadyInitialised(let path): "There is a node here already (\(shown(path))); leave out init to start it."
    case .nothingToMigrate(let directory):
      "There is no plain store in \(shown(directory)) to be moved; run relaychatd init to begin anew."
    case .providerMissing(.credential, let place) where place.hasPrefix("$"):
      "The service manager hands this process no credential (\(place) is not set): start it in the unit, or with systemd-run --property=LoadCredentialEncrypted=, see Tools/systemd/README.md."
    case .providerMissing(let kind, let place):
      "The \(Self.name(kind)) \(KeyFilePath.shown(place)) that opens the keys is not there; nothing was changed: put it back and try again."
    case .providerLocked(.passphrase, _, _):
      "The keys are locked; start from a terminal, or hand in the passphrase with --passphrase-fd."
    case .providerLocked(let kind, let place, let code):
      "The \(Self.name(kind)) \(KeyFilePath.shown(place)) that opens the keys cannot be read: \(SystemErrorText.text(code)); nothing was changed: mend that and try again."
    case .providerUnfit(let kind, let place, let fault): Self.sentence(Self.name(kind), KeyFilePath.shown(place), fault)
    case .wrongKey(.passphrase): "The passphrase is not the one of this node; try again, or use another way in."
    case .wrongKey(let kind):
      "The \(Self.name(kind)) is not the one of this node; nothing was changed: put the former one back, or use another way in."
    case .providerChanged(let asked, let recorded):
      "The keys of this node are not held by a \(Self.name(asked)) but by a \(recorded.map(Self.name).joined(separator: " or a ")); name that one, or change it with relaychatd keys."
    case .corrupt(let path, _, .readable(let backup)):
      "The key file \(shown(path)) is damaged and was left as it is; \(shown(backup)) can be read: copy it in its place."
    case .corrupt(let path, _, .damaged(let backup)):
      "The key file \(shown(path)) is damaged, and so is \(shown(backup)); both were left as they are: put back a copy of your own, or use relaychat restore."
    case .corrupt(let path, _, .none):
      "The key file \(shown(path)) is damaged and was left as it is; put back a copy of it, or use relaychat restore."
    case .formatTooNew(let path, let found):
      "The key file \(shown(path)) was written by a newer version (format \(found)); use that version."
    case .wiped(let report):
      report.isComplete
        ? "This node was being wiped; that is done now, \(report.removed.count) files were removed: make another with relaychatd init."
        : "This node was being wiped; that is done now, but \(shown(Self.few(report.left.map(\.path)))) was left: remove it yourself."
    case .wipePending(let directory):
      "The node in \(shown(directory)) is being wiped; run relaychat wipe again to finish that."
    case .markerCorrupt(let path):
      "The file \(shown(path)) says that this node is to be wiped and cannot be read; remove it, or run relaychat wipe again."
    case .slotCount(1): "This is the last way to the keys; add another before this one is removed."
    case .slotCount(let count): "There are \(count) ways to the keys already; remove one first."
    case .noSuchSlot(let number): "There is no way number \(number + 1) to the keys of this node; see relaychatd keys."
    case .passphraseLength(0): "An empty passphrase protects nothing; give one."
    case .passphraseLength(let count):
      "The passphrase has \(count) bytes; give one of at most \(KeyingLimits.passphraseBytes)."
    case .file(let error):
      "The file \(shown(error.path)) cannot be used (\(error.call.rawValue): \(SystemErrorText.text(error.code))); the keys are as they were: check the disk and try again."
    case .primitive: "The cryptographic library or its random generator failed; the node does not start without."
    }
  }

  /// One sentence for a node whose keys somebody holds whom nobody has named.
  static func sentence(ofKeysHeldBy kinds: [KeySlot.Kind]) -> String {
    let options = kinds.map { kind in
      switch kind {
      case .credential: "--key credential"
      case .passphrase: "--key passphrase"
      case .keyFile: "--key file:PATH"
      }
    }
    return
      "The keys of this node are held by a \(kinds.map(name).joined(separator: " or a ")); say so with \(options.joined(separator: " or "))."
  }

  static func name(_ kind: KeySlot.Kind) -> String {
    switch kind {
    case .credential: "credential of the service manager"
    case .passphrase: "passphrase"
    case .keyFile: "key file"
    }
  }

  private static func sentence(_ name: String, _ place: String, _ fault: KeyFileFault) -> String {
    switch fault {
    case .noFile: "The \(name) \(place) is no file; put the key into one: (umask 077; openssl rand -hex 32 > FILE)."
    case .openToOthers(let mode):
      "Others may read the \(name) \(place) (mode \(String(mode, radix: 8))); run chmod 600 on it."
    case .notOurs(let owner): "The \(name) \(place) belongs to user \(owner); run chown on it, or name another."
    case .besideData:
      "The \(name) \(place) lies beside the data that it protects, where it protects nothing; keep it elsewhere, or say --insecure-file-key."
    case .malformed:
      "The \(name) \(place) holds no key: it must be 32 bytes or 64 hexadecimal digits, as openssl rand -hex 32 writes them."
    }
  }

  private static func few(_ names: [String]) -> String {
    names.prefix(3).joined(separator: ", ") + (names.count > 3 ? " and \(names.count - 3) more" : "")
  }

  private func shown(_ text: String) -> String { TerminalText.neutralised(text) }
}

extension AtRestProtection {
  /// What `status` says.
  var sentence: String {
    switch self {
    case .credential: "at rest: sealed, the key is a credential of the service manager"
    case .passphrase: "at rest: sealed, the key comes from a passphrase"
    case .keyFileElsewhere: "at rest: sealed, the key is in a file elsewhere"
    case .none: "at rest: not protected"
    }
  }
}

extension BackupError {
  var exitCode: Int32 {
    switch self {
    case .exists, .passphraseLength: ExitCode.usage
    case .wrongPassphrase: ExitCode.keysWrong
    case .magic, .formatTooNew, .truncated, .trailing, .slot, .damaged, .content: ExitCode.keysCorrupt
    case .misuse, .file, .primitive: ExitCode.failure
    }
  }

  /// One sentence with the remedy.
  func sentence(_ path: String) -> String {
    let path = TerminalText.neutralised(path)
    return switch self {
    case .exists: "There is a file \(path) already and it was left alone; name another."
    case .magic: "\(path) is no backup of a node."
    case .formatTooNew(let format): "\(path) was written by a newer version (format \(format)); use that version."
    case .truncated: "\(path) ends too early: it was not copied whole; use another copy."
    case .trailing: "Something follows the end of \(path): it is not as it was written; use another copy."
    case .slot, .content: "\(path) is damaged, and nothing was restored; use another copy."
    case .damaged(let record): "\(path) is damaged in its record \(record), and nothing was restored; use another copy."
    case .wrongPassphrase: "The passphrase is not the one of this backup; try again."
    case .passphraseLength(0):
      "A backup needs a passphrase; start from a terminal, or hand it in with --backup-passphrase-fd."
    case .passphraseLength(let count):
      "The passphrase has \(count) bytes; give one of at most \(KeyingLimits.passphraseBytes)."
    case .misuse: "The node cannot be put into a backup; this is a fault of the program."
    case .file(let error):
      "The file \(TerminalText.neutralised(error.path)) cannot be used (\(error.call.rawValue): \(SystemErrorText.text(error.code))); nothing was changed: check the disk and try again."
    case .primitive: "The cryptographic library or its random generator failed."
    }
  }
}
