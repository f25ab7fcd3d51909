import Archive
import Foundation
import Identities
import Keying
import Primitives
import Sessions
import Storing
import Testing

@testable import NodeRuntime

/// What a thief of the disk finds: everything in a plain state directory, nothing in a sealed one.
struct StolenDiskTests {
  private static let canaries: [(what: String, bytes: [UInt8])] = [
    ("a text", Array("the lantern hangs at the north gate".utf8)),
    ("a setting", Array("my name is Ada of the harbour".utf8)),
    ("a secret", (0..<32).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }),
  ]

  /// The forms in which bytes are commonly written down.
  private static func forms(of bytes: [UInt8]) -> [Data] {
    let hex = bytes.map { String(format: "%02x", $0) }.joined()
    // Base64 of a middle part, at each of the three phases in which it may stand.
    let phases = (0..<3).map { phase in Data(Data(bytes.dropFirst(phase)).base64EncodedString().dropLast(4).utf8) }
    return [Data(bytes), Data(hex.utf8), Data(hex.uppercased().utf8)] + phases
  }

  private static func found(in directory: String) throws -> Set<String> {
    var found: Set<String> = []
    let names = try FileManager.default.subpathsOfDirectory(atPath: directory)
    for name in names {
      guard let content = FileManager.default.contents(atPath: directory + "/" + name) else { continue }
      for (what, bytes) in canaries where forms(of: bytes).contains(where: { content.range(of: $0) != nil }) {
        found.insert(what)
      }
    }
    return found
  }

  private static func fill(_ vault: StateVault) async throws {
    try await vault.store.put(
      [("profile.name", canaries[1].bytes), ("identity.keys", canaries[2].bytes)], isErasing: true)
    for number in UInt8(0)..<20 {
      let message = StoredMessage(
        id: MessageID(high: 7, low: UInt64(number)), conversation: .everyone,
        author: PeerID(high: 9, low: 9),
        authorName: String(decoding: canaries[1].bytes.prefix(32), as: UTF8.self), isFromBot: false, isEcho: false,
        text: String(decoding: canaries[0].bytes, as: UTF8.self), sentMilliseconds: 1_800_000_000_000,
        storedMilliseconds: 1_800_000_000_000, hops: 1, path: [], state: .received)
      #expect(try await vault.archive.insert(message))
    }
  }

  @Test func threat15_sealedStateDirectoryShowsNothingAndThePlainOneEverything() async throws {
    let folder = NSTemporaryDirectory() + "stolen-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let key = folder + "/key"
    try (String(repeating: "7", count: 63) + "a").write(toFile: key, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
    let source = KeySource(.file(path: key, isInsecureAllowed: false))
    let everything = Set(Self.canaries.map(\.what))

    func open(_ name: String, _ keys: KeySource?) async throws -> StateVault {
      try await StateVault.open(
        StateDirectory(path: folder + "/" + name), keys: keys, environment: [:], wall: { 1_800_000_000_000 })
    }

    do { try await Self.fill(try await open("plain", nil)) }
    #expect(try Self.found(in: folder + "/plain") == everything, "the scan can find")

    #expect(OfflineCommand.run(["init", "--state", folder + "/sealed", "--key", "file:" + key], environment: [:]) == 0)
    let sealed = try await open("sealed", source)
    try await Self.fill(sealed)
    #expect(try Self.found(in: folder + "/sealed").isEmpty, "with the logs of the databases")
    withExtendedLifetime(sealed) {}

    // The plain one moves over, and nothing of what it held is left either.
    do { _ = try await open("plain", source).migrate(isImpatient: true) }
    let moved = try await open("plain", source)
    var sealing = await moved.archive.sealing
    while !sealing.isDone { sealing = try await moved.archive.sealNext() }
    #expect(sealing.phase == .sealed)
    #expect(try Self.found(in: folder + "/plain").isEmpty)
    #expect(try await moved.store.get("identity.keys") == Self.canaries[2].bytes)
    #expect(try await moved.archive.messages(limit: 50).count == 20)
  }
}
