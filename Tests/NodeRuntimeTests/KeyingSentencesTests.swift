import Archive
import Arguments
import Database
import Keying
import Primitives
import Sessions
import Storing
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

  /// Of what can be wrong with the files of a sealed node: no words of the compiler, and no copy where one is no remedy.
  @Test func everyRefusalOfTheFilesHasACodeAndASentence() {
    let refusals: [(DaemonError, Int32)] = [
      (.stateRestored(directory: "/s", .archive), 10), (.archiveLost(path: "/s/archive.db"), 12),
      (.store(.sealed(.missing(path: "/s/store.db"))), 12), (.store(.migration(.plainMissing(path: "/s/p"))), 12),
      (.store(.sealed(.otherStore(path: "/s/store.db", found: [1, 2]))), 11),
      (.store(.sealed(.otherKey(path: "/s/store.db"))), 11),
      (.store(.migration(.foreignPlain(path: "/s/plain.db"))), 11),
      (.archive(.wrongKey(path: "/s/archive.db")), 11), (.archive(.isPlain(path: "/s/archive.db")), 11),
      (.store(.sealed(.header(path: "/s/store.db"))), 17), (.store(.sealed(.summary(path: "/s/store.db"))), 17),
      (.store(.sealed(.value(name: "a"))), 17),
      (.store(.sealed(.database(.corrupt(path: "/s/store.db", code: 11)))), 17),
      (.store(.sealed(.database(.full(path: "/s/store.db")))), 5), (.archive(.database(.full(path: "/s/a"))), 5),
      (.store(.sealed(.database(.statement(code: 778, message: "disk I/O error", sql: "x")))), 5),
      (.archive(.quarantineFull(path: "/s/quarantine", count: 8)), 5), (.history(SessionStoreError(reason: "r")), 5),
    ]
    for (error, code) in refusals {
      #expect(error.exitCode == code, "\(error)")
      let sentence = error.sentence
      #expect(sentence.hasSuffix(".") && !sentence.contains("\n") && sentence.count < 300, "\(sentence)")
      #expect(sentence.contains(";") || sentence.contains(":"), "\(sentence)")
      for word in ["(path", "sealed(", "otherStore", "foreignPlain", "[1", "sql:"] { #expect(!sentence.contains(word)) }
      if code == 5 { #expect(!sentence.contains("copy"), "\(sentence)") }
    }
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
