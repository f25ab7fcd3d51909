import Bytes
import Glibc
import Primitives
import TestKit
import Testing

@testable import Keying

@Suite struct KeyFileTests {
  private func make(
    _ path: String, _ bytes: [UInt8], mode: UInt32 = 0o600, owner: UInt32? = nil, isInsecureAllowed: Bool = false
  ) throws -> AtRestProtection {
    let disk = emptyDisk()
    disk.put(path, bytes, mode: mode, owner: owner)
    let keys = try custody(disk).create(with: .keyFile(path, isInsecureAllowed: isInsecureAllowed))
    return keys.protection
  }

  private func unfit(_ path: String, _ fault: KeyFileFault) -> KeyingError {
    .providerUnfit(.keyFile, place: path, fault)
  }

  @Test func keyIsBytesOrDigits() throws {
    let path = "/keys/k"
    let digits = Array(Hex.encode(fileKey).utf8)
    #expect(try make(path, fileKey) == .keyFileElsewhere)
    #expect(try make(path, digits) == .keyFileElsewhere)
    #expect(try make(path, digits + [10], mode: 0o400) == .keyFileElsewhere)
    let upper = Array(Hex.encode(fileKey).uppercased().utf8)
    let disk = emptyDisk()
    disk.put(path, digits)
    let key = hex(try custody(disk).create(with: .keyFile(path)).dataKey)
    for form in [fileKey, upper] {
      disk.put(path, form)
      #expect(try dataKey(disk, .keyFile(path)) == key)
    }
    let wrong: [[UInt8]] = [
      [], Array(fileKey.dropLast()), fileKey + [10], digits + [10, 10], Array(digits.dropLast()) + [0x67],
      digits + [32],
      [UInt8](repeating: 0, count: 32), [UInt8](repeating: 48, count: 64), [UInt8](repeating: 1, count: 5_000),
    ]
    for bytes in wrong {
      #expect(throws: unfit(path, .malformed)) { try make(path, bytes) }
    }
  }

  @Test func keyFileOpenToOthersIsRefused() throws {
    for mode: UInt32 in [0o640, 0o604, 0o660, 0o644, 0o610, 0o601] {
      #expect(throws: unfit("/keys/k", .openToOthers(mode: mode))) { try make("/keys/k", fileKey, mode: mode) }
    }
  }

  @Test func keyFileOfAnotherUserIsRefused() throws {
    // Readable, as only a disk in memory lets it be.
    let disk = MemoryFileSystem(user: 0, directories: [state, "/keys"])
    disk.put("/keys/k", fileKey, mode: 0o600, owner: 1_001)
    #expect(throws: unfit("/keys/k", .notOurs(owner: 1_001))) {
      _ = try custody(disk).create(with: .keyFile("/keys/k"))
    }
    disk.put("/keys/k", fileKey, mode: 0o400, owner: 0)
    _ = try custody(disk).create(with: .keyFile("/keys/k"))
  }

  @Test func keyFileBesideTheDataIsRefusedUnlessAllowed() throws {
    let path = state + "/relay.kek"
    #expect(throws: unfit(path, .besideData)) { try make(path, fileKey) }
    #expect(try make(path, fileKey, isInsecureAllowed: true) == AtRestProtection.none)
    #expect(try make("/keys/k", fileKey, isInsecureAllowed: true) == .keyFileElsewhere)
  }

  @Test func credentialIsWhereTheServiceManagerPutsIt() throws {
    let disk = emptyDisk()
    func custody(_ environment: [String: String]) -> KeyCustody {
      KeyCustody(directory: state, surroundings: surroundings(disk, environment: environment))
    }
    for environment in [[:], ["CREDENTIALS_DIRECTORY": ""]] {
      #expect(throws: KeyingError.providerMissing(.credential, place: "$CREDENTIALS_DIRECTORY")) {
        _ = try custody(environment).create(with: .credential())
      }
    }
    // An access list of the service manager shows as a mode for the group.
    disk.put("/run/credentials/relay.kek", credentialKey, mode: 0o440)
    _ = try custody(["CREDENTIALS_DIRECTORY": "/run/credentials"]).create(with: .credential())
  }

  @Test func credentialOfAnotherNameIsReadAndNoOtherFile() throws {
    let disk = emptyDisk()
    disk.put("/run/credentials/node-2.key", credentialKey, mode: 0o400)
    let custody = KeyCustody(
      directory: state, surroundings: surroundings(disk, environment: ["CREDENTIALS_DIRECTORY": "/run/credentials"]))
    _ = try custody.create(with: .credential(named: "node-2.key"))
    for name in ["../keys/k", "", "..", "a/b", "a\0", String(repeating: "a", count: 256)] {
      #expect(!KeyProvider.isCredentialName(name))
      #expect(throws: KeyingError.providerMissing(.credential, place: name)) {
        _ = try custody.open(with: .credential(named: name))
      }
    }
  }

  @Test func keyFileThatMayNotBeReadIsLocked() throws {
    let disk = emptyDisk()
    disk.put("/keys/k", fileKey, owner: 0)
    #expect(throws: KeyingError.providerLocked(.keyFile, place: "/keys/k", code: EACCES)) {
      _ = try custody(disk).create(with: .keyFile("/keys/k"))
    }
    #expect(throws: KeyingError.providerMissing(.keyFile, place: "/keys/none")) {
      _ = try custody(disk).create(with: .keyFile("/keys/none"))
    }
    #expect(throws: KeyingError.providerUnfit(.keyFile, place: "/keys", .noFile)) {
      _ = try custody(disk).create(with: .keyFile("/keys"))
    }
  }
}
