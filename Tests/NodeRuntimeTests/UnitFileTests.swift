import Arguments
import Foundation
import Identities
import Storing
import Testing
import Transports

@testable import NodeRuntime

/// The units for systemd name what the daemon understands.
struct UnitFileTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Tools/systemd")

  private static func unit(_ name: String) throws -> [String: String] {
    let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    return Dictionary(
      text.split(separator: "\n").compactMap { line in
        let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
        return parts.count == 2 && !line.hasPrefix("#") ? (parts[0], parts[1]) : nil
      }, uniquingKeysWith: { $1 })
  }

  private let bluez = TransportFactory(scheme: "bluez", usage: "bluez:") { _, _ throws(TransportConfigurationError) in
    throw TransportConfigurationError(option: "", reason: "it is not made here")
  }

  @Test func commandLineOfTheDaemonIsUnderstood() throws {
    let unit = try Self.unit("relaychatd.service")
    let words = try #require(unit["ExecStart"]).split(separator: " ").map(String.init)
    #expect(words[0].hasSuffix("/relaychatd"))
    let command = DaemonCommand.table(transports: [bluez])
    guard case .run(let invocation) = try command.parse(Array(words.dropFirst())) else {
      Issue.record("it runs nothing")
      return
    }
    #expect(invocation.options["config"] == ["/etc/relaychat/relaychatd.conf"])
  }

  @Test func configurationIsUnderstood() throws {
    let command = DaemonCommand.table(transports: [bluez])
    guard
      case .run(let invocation) = try command.parse([
        "--config", Self.folder.appendingPathComponent("relaychatd.conf").path,
      ])
    else { return }
    let environment = ["STATE_DIRECTORY": "/var/lib/relaychat", "RUNTIME_DIRECTORY": "/run/relaychat"]
    let configuration = try DaemonConfiguration(
      invocation, command: command, environment: environment, user: 999, factories: [bluez])
    #expect(configuration.isBot && configuration.name?.text == "echo")
    #expect(configuration.transports.map(\.options.scheme) == ["bluez"])
    #expect(
      configuration.socketPath == "/run/relaychat/control.sock" && configuration.statePath == "/var/lib/relaychat")
  }

  private func proving(_ words: [String], file: String = "") throws(DaemonError) -> (days: Int, restarts: Int) {
    let path = NSTemporaryDirectory() + "sealing-\(UUID().uuidString).conf"
    _ = FileManager.default.createFile(
      atPath: path, contents: Data("[transport.bluez]\nadapter = hci0\n\(file)".utf8))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let command = DaemonCommand.table(transports: [bluez])
    let parsed: ParsedCommand
    do { parsed = try command.parse(words + ["--config", path]) } catch { throw .usage(error) }
    guard case .run(let invocation) = parsed else { throw .notMeant }
    let proving = try DaemonConfiguration(
      invocation, command: command, environment: [:], user: 1_000, factories: [bluez]
    ).proving
    #expect(!proving.beginsByItself)
    return (proving.days, proving.restarts)
  }

  @Test func daysAndRestartsOfTheMoveAreSettingsWithLimits() throws {
    #expect(try proving([]) == (7, 3))
    #expect(try proving(["--seal-days", "30", "--seal-restarts", "0"]) == (30, 0))
    #expect(try proving([], file: "[store]\nseal-days = 2\nseal-restarts = 5\n") == (2, 5))
    #expect(try proving(["--seal-days", "1"], file: "[store]\nseal-days = 2\n") == (1, 3))
    for words in [["--seal-days", "366"], ["--seal-days", "x"], ["--seal-restarts", "101"], ["--seal-restarts=-1"]] {
      #expect(throws: DaemonError.self) { _ = try proving(words) }
    }
    #expect(throws: DaemonError.self) { _ = try proving([], file: "[store]\nseal-days = 9999\n") }
    #expect(throws: DaemonError.self) { _ = try proving([], file: "[store]\nseal-day = 2\n") }
  }

  @Test func directoriesAreThoseOfTheProgram() throws {
    let unit = try Self.unit("relaychatd.service")
    #expect(unit["StateDirectory"] == "relaychat" && unit["RuntimeDirectory"] == "relaychat")
    #expect(unit["User"] == "relaychat" && unit["Type"] == "notify")
    #expect(unit["LimitCORE"] == "0" && unit["Environment"] == "SWIFT_BACKTRACE=enable=no")
    let bot = try Self.unit("relaychat-bot.service")
    #expect(bot["DynamicUser"] == "yes" && bot["SupplementaryGroups"] == "relaychat")
  }

  @Test func dropInNamesTheCredentialThatItLoads() throws {
    let dropIn = try Self.unit("relaychatd-sealed.conf")
    let loaded = try #require(dropIn["LoadCredentialEncrypted"]).split(separator: ":")
    #expect(loaded.count == 2 && loaded[1] == "/etc/credstore.encrypted/\(loaded[0])")
    let setting = try #require(dropIn["Environment"]).split(separator: "=", maxSplits: 1).map(String.init)
    let option = try #require(KeySource.options.first { $0.name == "key" })
    #expect(setting.first == option.environment)
    let named = try #require(KeySource(setting[1], descriptor: nil, isInsecureAllowed: false))
    #expect(named.place == .credential(name: String(loaded[0])))
    let page = try String(contentsOf: Self.folder.appendingPathComponent("README.md"), encoding: .utf8)
    #expect(page.contains("systemd-creds encrypt --name=\(loaded[0]) - \(loaded[1])"))
    let other = KeySource("credential:node-2.key", descriptor: nil, isInsecureAllowed: false)
    #expect(other?.place == .credential(name: "node-2.key"))
    for text in ["credential:", "credential:..", "credential:a/b", "credentials"] {
      #expect(KeySource(text, descriptor: nil, isInsecureAllowed: false) == nil)
    }
  }

  /// Codes after which a start would end the same way.
  @Test func faultsThatOnlyAPersonCanMendAreNotTriedAgain() throws {
    let unit = try Self.unit("relaychatd.service")
    let codes = [
      ExitCode.usage, ExitCode.configuration, ExitCode.stateUnusable, ExitCode.stateRestored, ExitCode.stateForeign,
      ExitCode.keysLost,
      ExitCode.keysNotMigrated, ExitCode.keysMissing, ExitCode.keysLocked, ExitCode.keysWrong, ExitCode.keysCorrupt,
      ExitCode.keysChanged, ExitCode.keysWiped,
    ].map { "\($0)" }.joined(separator: " ")
    #expect(unit["Restart"] == "on-failure" && unit["RestartPreventExitStatus"] == codes)
  }

  @Test func secondWayInIsAddedWithTheCredentialOfTheUnit() throws {
    let page = try String(contentsOf: Self.folder.appendingPathComponent("README.md"), encoding: .utf8)
    let dropIn = try Self.unit("relaychatd-sealed.conf")
    let unit = try Self.unit("relaychatd.service")
    for word in [
      "--property=LoadCredentialEncrypted=\(try #require(dropIn["LoadCredentialEncrypted"]))",
      "--setenv=\(try #require(dropIn["Environment"]))", "--property=User=\(try #require(unit["User"]))",
      "--property=StateDirectory=\(try #require(unit["StateDirectory"]))",
      "--property=StateDirectoryMode=\(try #require(unit["StateDirectoryMode"]))",
    ] { #expect(page.contains(word), "\(word)") }
    let line = try #require(page.split(separator: "\n").first { $0.contains("keys add") })
    let words = line.split(separator: " ").prefix { $0 != "<<<" }.drop { $0 != "add" }.map(String.init)
    guard case .run(let invocation) = try KeysCommand.table.parse(words) else {
      Issue.record("it runs nothing")
      return
    }
    #expect(invocation.argument("VERB") == "add" && invocation.options["new"] == ["passphrase"])
  }

  /// The table of the README has each code of the programs once for each meaning, in the words of no other.
  @Test func readmeSaysEveryExitCode() throws {
    let readme = try String(
      contentsOf: Self.folder.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
        "README.md"),
      encoding: .utf8)
    let rows = readme.split(separator: "\n").compactMap { line -> (code: Int32, text: String)? in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 2, let code = Int32(cells[0]) else { return nil }
      return (code, cells[1])
    }
    let daemon = rows.filter { $0.text.hasPrefix("`relaychatd") }
    #expect(daemon.map(\.code) == [6] + Array(10...19))
    #expect(rows.filter { !$0.text.hasPrefix("`relaychatd") }.map(\.code) == Array(0...5) + [10, 11])
    for (code, word) in [
      (ExitCode.stateRestored, "older copy"), (ExitCode.stateForeign, "another node"),
      (ExitCode.keysLost, "gone or empty"),
      (ExitCode.keysNotMigrated, "earlier version"), (ExitCode.keysMissing, "not there"),
      (ExitCode.keysLocked, "cannot be read"), (ExitCode.keysWrong, "wrong"), (ExitCode.keysCorrupt, "damaged"),
      (ExitCode.keysChanged, "another holder"), (ExitCode.keysWiped, "wiped"),
    ] { #expect(daemon.filter { $0.text.contains(word) }.map(\.code) == [code], "\(word)") }
  }
}
