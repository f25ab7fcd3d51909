internal import Archive
internal import Arguments
internal import ControlServer
internal import Database
internal import Identities
internal import Keying
internal import Lifecycle
internal import Sessions
internal import Storing
internal import Transports

/// Why the daemon did not start or did not go on.
enum DaemonError: Error {
  case usage(UsageError)
  case setting(SettingError)
  case configuration(ConfigurationError)
  case missingConfiguration(path: String)
  case noTransport(known: [String])
  case unknownScheme(String, known: [String], place: String?)
  case transport(String, TransportConfigurationError, place: String?)
  case transportUnusable(String, reason: String)
  case communityKey(path: String, CommunityKeyFileError)
  case state(StateDirectoryError)
  case database(DatabaseError)
  case store(StoreError)
  case archive(ArchiveError)
  case identity(NodeIdentityError)
  case keying(KeyingError)
  /// There is a slot file, and nobody has said what opens it.
  case backup(path: String, BackupError)
  /// A node is to be restored where one is.
  case nodeIsThere(path: String)
  /// A directory that a node is to be restored into holds what is not ours.
  case foreignFiles(path: String, [String])
  /// `wipe` without the word that it is meant.
  case notMeant
  case wipeIncomplete([String])
  case wipeNames(path: String, WipeNameFault)
  /// Where one is to be wiped; files of its names that are none of a node.
  case noNode(path: String, foreign: [String])
  case noSuchVerb(String)
  /// `init` was not told what is to hold the key.
  case noKeyChosen
  case noKeyNamed([KeySlot.Kind])
  /// A file of the state was put back from a copy.
  case stateRestored(directory: String, StateNumbers.File)
  /// The history is gone or empty, and the store says that there is one.
  case archiveLost(path: String)
  /// A history that is there was to be given up.
  case historyIsThere(path: String)
  case history(SessionStoreError)
  case socket(ControlSocketError)
  case signals
  case primitive

  var exitCode: Int32 {
    switch self {
    case .usage, .noTransport, .noKeyChosen, .notMeant, .noSuchVerb: ExitCode.usage
    case .setting(let error): error.exitCode
    case .configuration, .missingConfiguration, .communityKey: ExitCode.configuration
    case .unknownScheme(_, _, let place), .transport(_, _, let place):
      place == nil ? ExitCode.usage : ExitCode.configuration
    case .archive(.wrongKey), .archive(.isPlain), .archive(.isSealed): ExitCode.stateForeign
    case .archiveLost: ExitCode.keysLost
    case .store(let error): Self.exitCode(of: error)
    case .state, .database, .archive, .identity, .history, .historyIsThere: ExitCode.stateUnusable
    case .keying(let error): error.exitCode
    case .backup(_, let error): error.exitCode
    case .foreignFiles, .nodeIsThere: ExitCode.stateUnusable
    case .wipeIncomplete: ExitCode.failure
    case .wipeNames: ExitCode.usage
    case .noNode: ExitCode.noNode
    case .noKeyNamed: ExitCode.keysMissing
    case .stateRestored: ExitCode.stateRestored
    case .socket, .signals, .primitive, .transportUnusable: ExitCode.failure
    }
  }

  private static func exitCode(of error: StoreError) -> Int32 {
    switch error {
    case .sealed(.missing), .migration(.missing), .migration(.plainMissing): ExitCode.keysLost
    case .sealed(.otherStore), .sealed(.otherKey), .migration(.foreignPlain): ExitCode.stateForeign
    case .sealed(.header), .sealed(.summary), .sealed(.generation), .sealed(.rowMissing), .sealed(.rowAdded),
      .sealed(.value), .sealed(.database(.corrupt)):
      ExitCode.keysCorrupt
    default: ExitCode.stateUnusable
    }
  }

  /// One sentence with the remedy.
  var sentence: String {
    switch self {
    case .usage(let error): return "\(error) Try relaychatd --help."
    case .setting(let error): return "\(error)"
    case .configuration(let error): return "\(error)"
    case .missingConfiguration(let path):
      return "There is no configuration file \(shown(path)); make it, or leave out --config."
    case .noTransport(let known):
      return "Say how to meet others with --transport; built in: \(known.joined(separator: "; "))."
    case .unknownScheme(let scheme, let known, let place):
      return "\(prefix(place))There is no transport \(shown(scheme)); built in: \(known.joined(separator: "; "))."
    case .transport(let scheme, let error, let place):
      return "\(prefix(place))The transport \(shown(scheme)) cannot use \(shown(error.option)): \(shown(error.reason))."
    case .transportUnusable(let name, let reason):
      return "The transport \(shown(name)) cannot be used: \(shown(reason))."
    case .communityKey(let path, .unreadable(let code)):
      return
        "The community key \(keyFile(path)) cannot be read: \(text(code)); make one with: (umask 077; openssl rand -hex 32 > FILE)."
    case .communityKey(let path, .noFile):
      return "\(keyFile(path)) is no file; put the community key into one: (umask 077; openssl rand -hex 32 > FILE)."
    case .communityKey(let path, .openToOthers(let mode)):
      return "Others may read the community key \(keyFile(path)) (mode \(String(mode, radix: 8))); run chmod 600 on it."
    case .communityKey(let path, .malformed):
      return
        "\(keyFile(path)) is no community key: it must hold 64 hexadecimal digits, as openssl rand -hex 32 writes them."
    case .state(let error): return sentence(of: error)
    case .database(let error): return sentence(of: error)
    case .archive(let error): return sentence(of: error)
    case .archiveLost(let path):
      return
        "The history \(shown(path)) is gone or empty, and this node has one: put it back; to go on without it for good, run relaychatd salvage --begin-anew with the same --key."
    case .historyIsThere(let path):
      return "There is a history in \(shown(path)), and it was left as it is; leave out --begin-anew to salvage it."
    case .history(let error):
      return "The history cannot be written to: \(shown(error.reason)); nothing was lost: mend that and start again."
    case .store(let error): return sentence(of: error)
    case .identity(let error): return sentence(of: error)
    case .keying(let error): return error.sentence
    case .backup(let path, let error): return error.sentence(path)
    case .nodeIsThere(let path):
      return "There is a node in \(shown(path)), and nothing is written over it; name an empty directory with --state."
    case .foreignFiles(let path, let names):
      return
        "\(shown(path)) holds other files (\(shown(names.prefix(3).joined(separator: ", ")))); name an empty directory."
    case .notMeant: return "A wipe cannot be taken back; add --yes when it is meant."
    case .wipeNames(let path, let fault):
      let what =
        switch fault {
        case .missing: "is not there"
        case .link: "is a link; name the file itself"
        case .noFile: "is no file"
        case .unreadable(let code): "cannot be looked at: \(text(code))"
        case .tooMany(let limit): "is one too many: \(limit) files may be named at a time"
        }
      return "What was named with --also, \(shown(path)), \(what). Nothing was removed, and all of the node is left."
    case .noNode(let path, let foreign) where foreign.isEmpty:
      return "There is no node in \(shown(path)), and nothing was touched; name its directory with --state."
    case .noNode(let path, let foreign):
      return
        "There is no node in \(shown(path)): its \(shown(foreign.prefix(3).joined(separator: ", "))) is of something else, and nothing was touched; remove it yourself, or name another directory with --state."
    case .wipeIncomplete(let paths):
      return "Not all could be removed: \(shown(paths.prefix(3).joined(separator: ", "))); remove it yourself."
    case .noSuchVerb(let verb): return "There is no \(shown(verb)); say list, add, change or remove."
    case .noKeyChosen:
      return "Say what is to hold the key: --key passphrase, --key file:PATH or --key credential."
    case .noKeyNamed(let kinds): return KeyingError.sentence(ofKeysHeldBy: kinds)
    case .stateRestored(let directory, let file):
      return
        "In \(shown(directory)) \(file.rawValue) is from an earlier time than the rest: put back the newer one, or a copy of the whole directory, or use relaychat restore."
    case .socket(let error): return sentence(of: error)
    case .signals: return "The signal handlers cannot be installed; is another daemon in this process?"
    case .primitive: return "The cryptographic library or its random generator failed; the node does not start without."
    }
  }

  private func sentence(of error: StateDirectoryError) -> String {
    switch error {
    case .directory(let error): sentence(of: error)
    case .inUse(let path, let process):
      "Another daemon\(process.map { " (process \($0))" } ?? "") uses the state directory \(shown(path)); stop it, or give this one its own with --state."
    case .lockFailed(let path, let code): "The lock \(shown(path)) cannot be taken: \(text(code)); check who owns it."
    }
  }

  private func sentence(of error: NodeIdentityError) -> String {
    switch error {
    case .unreadable:
      "The keys in plain.db cannot be read and were left as they are; restore a copy of the state directory."
    case .missing:
      "There are no keys in plain.db, but messages or contacts in archive.db: restore a copy of plain.db, or move archive.db away to begin as somebody else."
    case .storeFailed(let reason): "The keys cannot be kept: \(shown(reason)); check the disk."
    case .primitiveFailed: "The keys cannot be made: the random generator failed."
    }
  }

  private func sentence(of error: ControlSocketError) -> String {
    switch error {
    case .path: "The path of the control socket is too long or empty; name one of at most 107 bytes with --socket."
    case .inUse(let path):
      "Another daemon answers on \(shown(path)); stop it, or give this one its own socket with --socket."
    case .notASocket(let path): "\(shown(path)) is not a socket and was left alone; remove it, or use --socket."
    case .unknownGroup(let name): "There is no group \(shown(name)); make it with groupadd, or leave out --group."
    case .systemCall(let call, let path, let code):
      "The control socket \(shown(path)) cannot be made (\(call): \(text(code))); check the directory, or use --socket."
    }
  }

  private func keyFile(_ path: String) -> String { KeyFilePath.shown(path) }

  private func prefix(_ place: String?) -> String { place.map { "\(shown($0)): " } ?? "" }
  func shown(_ text: String) -> String { TerminalText.neutralised(text) }
  func text(_ code: Int32) -> String { SystemErrorText.text(code) }
}
