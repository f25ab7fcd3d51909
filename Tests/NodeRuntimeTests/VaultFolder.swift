import Archive
import ControlAPI
import Foundation
import Identities
import Keying
import Primitives
import Sessions
import Storing
import TestKit
import Testing

@testable import NodeRuntime

/// A state directory in a folder of its own, and a key beside it.
final class VaultFolder {
  let path = NSTemporaryDirectory() + "vault-\(UUID().uuidString)"
  let keyPath: String

  init() throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    keyPath = path + "/key"
    try writeKey("7", to: keyPath)
  }

  func writeKey(_ digit: String, to path: String) throws {
    // Not all alike, or it would be no key.
    try (String(repeating: digit, count: 63) + "a").write(toFile: path, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var state: String { path + "/state" }
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: state)) ?? []).sorted() }

  /// Every file, for the proof that nothing was touched.
  var contents: [String: Data] {
    Dictionary(
      uniqueKeysWithValues: names.filter { $0 != "lock" }.map { name in
        (name, FileManager.default.contents(atPath: state + "/" + name) ?? Data())
      })
  }

  func source(_ path: String? = nil) -> KeySource {
    KeySource(.file(path: path ?? keyPath, isInsecureAllowed: false))
  }

  func open(_ keys: KeySource?) async throws -> StateVault {
    try await StateVault.open(
      StateDirectory(path: state), keys: keys, environment: [:], wall: { 1_800_000_000_000 })
  }

  func initialise() -> Int32 {
    OfflineCommand.run(["init", "--state", state, "--key", "file:" + keyPath], environment: [:]) ?? -1
  }

  func refusal(_ keys: KeySource?) async -> Int32? {
    do {
      _ = try await open(keys)
      return nil
    } catch { return (error as? DaemonError)?.exitCode }
  }

  /// Runs a node to its end.
  func run(during body: (StateVault) async throws -> Void = { _ in }) async throws {
    let vault = try await open(source())
    try await body(vault)
    try await vault.recorder?.end()
  }

  func put(_ content: Data, _ name: String) throws {
    try content.write(to: URL(fileURLWithPath: state + "/" + name))
  }
}
