import Arguments
import Keying
import Primitives
import Testing

@testable import NodeRuntime

@Suite struct KeyingSentencesTests {
  private static let file = FileSystemError(.sync, path: "/s/keys.v1", code: 5)
  /// Those that refuse the keys, in the order of their codes.
  private static let refusals: [KeyingError] = [
    .slotFileLost(path: "/s/keys.v1", found: ["store.db"]), .migrationNeeded(directory: "/s"),
    .providerMissing(.credential, place: "$CREDENTIALS_DIRECTORY"), .providerLocked(.keyFile, place: "/k", code: 13),
    .wrongKey(.passphrase), .corrupt(path: "/s/keys.v1", .checksum, backup: .none),
    .providerChanged(asked: .keyFile, recorded: [.credential, .passphrase]), .wiped(WipeReport()),
  ]
  private static let others: [KeyingError] = [
    .notInitialised(directory: "/s"), .alreadyInitialised(path: "/s/keys.v1"), .nothingToMigrate(directory: "/s"),
    .providerUnfit(.keyFile, place: "/k", .besideData), .providerUnfit(.keyFile, place: "/k", .malformed),
    .providerUnfit(.keyFile, place: "/k", .noFile), .providerUnfit(.keyFile, place: "/k", .notOurs(owner: 7)),
    .providerUnfit(.keyFile, place: "/k", .openToOthers(mode: 0o644)), .formatTooNew(path: "/s/keys.v1", found: 2),
    .markerCorrupt(path: "/s/wiping"), .wipePending(directory: "/s"), .slotCount(1), .slotCount(8), .noSuchSlot(3),
    .passphraseLength(0),
    .passphraseLength(2_000), .file(file), .primitive(.noRandomness), .providerLocked(.passphrase, place: "", code: 0),
    .wrongKey(.keyFile), .corrupt(path: "/s/keys.v1", .code, backup: .readable(path: "/s/keys.v1.bak")),
    .corrupt(path: "/s/keys.v1", .length, backup: .damaged(path: "/s/keys.v1.bak")),
  ]

  @Test func everyRefusalOfTheKeysHasACodeOfItsOwn() {
    #expect(Self.refusals.map(\.exitCode) == Array(12...19))
    #expect(Self.others.allSatisfy { (1...19).contains($0.exitCode) })
    #expect(KeyingError.providerUnfit(.keyFile, place: "/k", .malformed).exitCode == ExitCode.configuration)
  }

  @Test func everySentenceIsOneAndSaysWhatToDo() {
    let sentences = (Self.refusals + Self.others).map(\.sentence)
    #expect(Set(sentences).count == sentences.count)
    for sentence in sentences {
      #expect(sentence.hasSuffix(".") && !sentence.contains("\n"))
      #expect(sentence.contains(";") || sentence.contains(":") || sentence.contains("#"), "\(sentence)")
    }
    #expect(AtRestProtection.none.sentence == "at rest: not protected")
    let key = String(repeating: "c0ffee42", count: 8)
    for error in [
      KeyingError.providerMissing(.keyFile, place: key), .providerLocked(.keyFile, place: key, code: 36),
      .providerUnfit(.keyFile, place: key, .malformed),
    ] { #expect(!error.sentence.contains(key)) }
    let hostile = KeyingError.notInitialised(directory: "/s\u{1B}[2J").sentence
    #expect(!hostile.contains("\u{1B}"))
  }
}
