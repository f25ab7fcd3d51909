import Bytes
import Glibc
import Primitives
import TestKit
import Testing

@testable import Keying

/// Looks for bytes as they are, as hexadecimal digits and as base64 in each of its three places.
struct Canary {
  let forms: [(String, [UInt8])]

  init(_ bytes: [UInt8]) {
    let digits = Hex.encode(bytes)
    var forms = [("raw", bytes), ("hex", Array(digits.utf8)), ("HEX", Array(digits.uppercased().utf8))]
    for shift in 0..<3 {
      // The characters that depend on these bytes alone.
      let whole = Array(bytes.dropFirst(shift))
      forms.append(("base64+\(shift)", Self.base64(Array(whole.prefix(whole.count / 3 * 3)))))
    }
    self.forms = forms
  }

  static func base64(_ bytes: [UInt8]) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    return stride(from: 0, to: bytes.count, by: 3).flatMap { index in
      let word = Int(bytes[index]) << 16 | Int(bytes[index + 1]) << 8 | Int(bytes[index + 2])
      return [alphabet[word >> 18], alphabet[word >> 12 & 63], alphabet[word >> 6 & 63], alphabet[word & 63]]
    }
  }

  func form(in bytes: [UInt8]) -> String? {
    forms.first { form in
      bytes.count >= form.1.count
        && (0...bytes.count - form.1.count).contains {
          bytes[$0] == form.1[0] && bytes[$0..<$0 + form.1.count].elementsEqual(form.1)
        }
    }?.0
  }
}

@Suite struct CanaryTests {
  @Test func noKeyAndNoPassphraseIsEverWrittenOrSaid() throws {
    let disk = emptyDisk()
    let words = "correct horse battery staple"
    let made = try custody(disk).create(with: .credential())
    let dataKey = [UInt8](copying: made.dataKey.bytes)
    var said: [String] = []
    func say(_ body: () throws -> Void) {
      do { try body() } catch { said.append("\(error) \(String(reflecting: error))") }
    }
    try custody(disk, seed: 2).addSlot(for: passphrase(words), openedBy: .credential())
    try custody(disk, seed: 3).addSlot(for: .keyFile("/keys/relay.kek"), openedBy: passphrase(words))
    try custody(disk, seed: 4).replaceSlot(openedBy: .keyFile("/keys/relay.kek"), with: .keyFile("/keys/other.kek"))
    try custody(disk, seed: 5).removeSlot(0, of: .credential, openedBy: passphrase(words))
    _ = try custody(disk).open(with: passphrase(words))
    say { _ = try custody(disk).open(with: .credential()) }
    say { _ = try custody(disk).open(with: passphrase(words + "!")) }
    say { _ = try custody(disk).open(with: .keyFile("/keys/relay.kek")) }
    say { _ = try custody(disk).create(with: passphrase(words)) }
    var writer = try BackupWriter(
      path: "/backup/file", passphrase: secret(words), wallMilliseconds: 1, surroundings: surroundings(disk))
    try writer.entry("identity", dataKey.rawSpan)
    try writer.finish()
    say {
      _ = try BackupReader(path: "/backup/file", passphrase: secret(words + "!"), surroundings: surroundings(disk))
    }
    let report = try custody(disk).wipe(named: ["/keys/other.kek"])
    said.append("\(report)")
    #expect(said.count == 6)

    let written = disk.written + said.map { Array($0.utf8) } + [disk.written.flatMap { $0 }]
    let derived = try quick.stretch(secret(words).bytes, [UInt8](repeating: 0, count: 32).rawSpan, .interactive)
    for (name, bytes) in [
      ("data key", dataKey), ("credential", credentialKey), ("key file", fileKey), ("other file", otherKey),
      ("passphrase", Array(words.utf8)), ("stretched", [UInt8](copying: derived.bytes)),
    ] {
      let canary = Canary(bytes)
      for run in written { #expect(canary.form(in: run) == nil, "the \(name) shows") }
    }
    // The same search finds what is there.
    #expect(Canary(credentialKey).form(in: [1, 2] + credentialKey) == "raw")
    #expect(Canary(fileKey).form(in: disk.contents["/keys/relay.kek"] ?? []) == "hex")
    #expect(Canary(fileKey).form(in: [0x41] + Canary.base64([9] + fileKey.dropLast(0).prefix(32))) != nil)
  }
}
