import Arguments
import Testing

@testable import NodeRuntime

/// What a node may call itself.
@Suite struct OwnNameTests {
  /// Whether the name is what is wrong; with no transport there is always something.
  private func isRefused(_ name: String) throws -> Bool {
    let command = DaemonCommand.table(transports: [])
    guard case .run(let invocation) = try command.parse(["--name", name]) else { return false }
    do throws(DaemonError) {
      _ = try DaemonConfiguration(
        invocation, command: command, environment: ["HOME": "/nonexistent"], user: 1_000, factories: [])
    } catch {
      if case .setting = error { return true }
    }
    return false
  }

  @Test(arguments: ["deadbeef", "00112233445566778899AABBCCDDEEFF", "#public", "a\u{200B}b", "\u{FF10}1234567"])
  func aNameThatCouldStandForAnIDOrARoomIsRefused(name: String) throws { #expect(try isRefused(name)) }

  @Test func anotherIsTaken() throws { #expect(try !isRefused("Ada 7")) }
}
