import Glibc
import Testing

@testable import NodeRuntime

@Suite struct CommunityKeyFileTests {
  private func withFile(_ text: String, mode: mode_t, _ body: (String) throws -> Void) throws {
    let path = "/tmp/relaychat-community-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    try #require(descriptor >= 0)
    defer { unsafe unlink(path) }
    #expect(unsafe write(descriptor, text, text.utf8.count) == text.utf8.count)
    close(descriptor)
    #expect(unsafe chmod(path, mode) == 0)
    try body(path)
  }

  @Test func sixtyFourDigitsAreAKey() throws {
    for text in [String(repeating: "0f1e", count: 16), String(repeating: "0F1E", count: 16) + "\n"] {
      try withFile(text, mode: 0o400) { path in _ = try CommunityKeyFile.read(path) }
    }
  }

  @Test func anythingElseIsNone() throws {
    for text in [
      "", "00", String(repeating: "0g", count: 32), String(repeating: "0f1e", count: 17),
      String(repeating: "00", count: 32),
    ] {
      try withFile(text, mode: 0o600) { path in
        #expect(throws: CommunityKeyFileError.malformed) { _ = try CommunityKeyFile.read(path) }
      }
    }
  }

  @Test func whatIsNoFileIsRefusedAndNotWaitedFor() throws {
    let path = "/tmp/relaychat-community-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
    try #require(unsafe mkfifo(path, 0o600) == 0)
    defer { unsafe unlink(path) }
    for path in [path, "/tmp", "/dev/zero"] {
      #expect(throws: CommunityKeyFileError.noFile) { _ = try CommunityKeyFile.read(path) }
    }
  }

  @Test(arguments: [0o640, 0o604, 0o660] as [mode_t])
  func communityKeyFileOpenToOthersIsRefused(mode: mode_t) throws {
    try withFile(String(repeating: "00", count: 32), mode: mode) { path in
      #expect(throws: CommunityKeyFileError.openToOthers(mode: UInt32(mode))) { _ = try CommunityKeyFile.read(path) }
    }
  }
}
