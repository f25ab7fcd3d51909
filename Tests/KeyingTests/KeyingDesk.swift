import Bytes
import Keying
import Primitives
import TestKit

let state = "/state"

/// A clock that stands still, and remembers how long it was told to wait.
final class StandingClock: KeyingClock {
  private let waits = Waits()

  func now() -> Duration { .seconds(100) }
  func wait(_ duration: Duration) { waits.add(duration) }

  var waited: [Duration] { waits.all }
}

final class Waits: @unchecked Sendable {
  // One test uses one clock from one thread.
  private(set) var all: [Duration] = []
  func add(_ duration: Duration) { all.append(duration) }
}

/// Random bytes that a seed repeats.
func seededRandom(_ seed: UInt64) -> RandomSource {
  let generator = SeededBytes(seed)
  return RandomSource { span in
    for index in 0..<span.byteCount { span.storeBytes(of: generator.next(), toByteOffset: index, as: UInt8.self) }
    return true
  }
}

final class SeededBytes: @unchecked Sendable {
  // One test uses one source from one thread.
  private var generator: SeededGenerator
  init(_ seed: UInt64) { generator = SeededGenerator(seed: seed) }
  func next() -> UInt8 { UInt8(truncatingIfNeeded: generator.next()) }
}

/// As much a function of passphrase, salt and cost as scrypt, and quick.
let quick = PassphraseStretcher { (passphrase, salt, cost) throws(PrimitiveError) in
  try HKDFSHA256.derive(
    32, from: passphrase, salt: salt, info: [cost.logCost, cost.blockSize, cost.parallelism].rawSpan)
}

func surroundings(
  _ disk: any FileSystem, seed: UInt64 = 1, clock: any KeyingClock = StandingClock(),
  environment: [String: String] = ["CREDENTIALS_DIRECTORY": "/run/credentials"],
  stretcher: PassphraseStretcher = quick
) -> KeyingSurroundings {
  KeyingSurroundings(
    fileSystem: disk, environment: ReadEnvironment(environment), clock: clock, random: seededRandom(seed),
    stretcher: stretcher)
}

func custody(_ disk: any FileSystem, seed: UInt64 = 1, clock: any KeyingClock = StandingClock()) -> KeyCustody {
  KeyCustody(directory: state, surroundings: surroundings(disk, seed: seed, clock: clock))
}

func secret(_ text: String) -> Secret { Secret(copying: Array(text.utf8).rawSpan) }
func passphrase(_ text: String) -> KeyProvider { .passphrase(secret(text)) }

func hex(_ secret: borrowing Secret) -> String { Hex.encode([UInt8](copying: secret.bytes)) }

let credentialKey = (0..<32).map { UInt8($0 * 7 + 1) }
let fileKey = (0..<32).map { UInt8($0 * 5 + 3) }
let otherKey = (0..<32).map { UInt8($0 * 3 + 9) }

/// An empty state directory, a credential and a key file elsewhere.
func emptyDisk() -> MemoryFileSystem {
  let disk = MemoryFileSystem(
    directories: [state, "/run/credentials", "/keys", "/backup"])
  disk.put("/run/credentials/relay.kek", credentialKey, mode: 0o400)
  disk.put("/keys/relay.kek", Array(Hex.encode(fileKey).utf8) + [10], mode: 0o600)
  disk.put("/keys/other.kek", otherKey, mode: 0o600)
  return disk
}

/// A disk with a store whose slots are a credential and the passphrase "old", and the data key.
func madeDisk() throws -> (MemoryFileSystem, String) {
  let disk = emptyDisk()
  let keys = try custody(disk).create(with: .credential())
  try custody(disk, seed: 2).addSlot(for: passphrase("old"), openedBy: .credential())
  for name in ["store.db", "store.db-wal", "archive.db", "plain.db", "lock"] {
    disk.put(state + "/" + name, Array("content of \(name)".utf8))
  }
  return (disk.copy(), hex(keys.dataKey))
}

func dataKey(_ disk: MemoryFileSystem, _ provider: borrowing KeyProvider) throws(KeyingError) -> String {
  let opened = try custody(disk, seed: 99).open(with: provider)
  return hex(opened.dataKey)
}

func keySecret(_ bytes: [UInt8]) -> Secret { Secret(copying: bytes.rawSpan) }
