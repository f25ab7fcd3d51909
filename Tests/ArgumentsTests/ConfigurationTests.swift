import Testing

@testable import Arguments

@Suite struct ConfigurationTests {
  private func file(_ text: String) throws -> ConfigurationFile {
    try ConfigurationFile(path: "a.conf", bytes: Array(text.utf8), for: sample)
  }

  private func settings(_ words: [String], _ environment: [String: String] = [:], _ text: String? = nil) throws
    -> Settings
  {
    guard case .run(let invocation) = try sample.parse(words) else { throw UsageError.tooManyArguments }
    return Settings(invocation, environment: environment, file: try text.map { try file($0) })
  }

  @Test func flagWinsOverEnvironmentOverFileOverDefault() throws {
    let environment = ["RELAYCHAT_SOCKET": "/environment"]
    let text = "# comment\n\n[control]\n  socket = /file ; inline\n"
    let flag = try settings(["-s", "/flag", "status"], environment, text)["socket"]
    #expect(flag == .init(values: ["/flag"], origin: .flag))
    let variable = try settings(["status"], environment, text)["socket"]
    #expect(variable == .init(values: ["/environment"], origin: .environment(variable: "RELAYCHAT_SOCKET")))
    let line = try settings(["status"], ["RELAYCHAT_SOCKET": ""], text)["socket"]
    #expect(line == .init(values: ["/file"], origin: .file(path: "a.conf", line: 4)))
    let fallback = try settings(["status"])["socket"]
    #expect(fallback == .init(values: ["/run/x"], origin: .byDefault))
    #expect(try settings(["status"])["json"] == nil)
  }

  @Test func typedValuesAreChecked() throws {
    #expect(try settings(["status", "-v"]).flag("verbose"))
    #expect(try settings(["status"], ["RELAYCHAT_VERBOSE": "off"]).flag("verbose") == false)
    let wrong = try settings(["status"], [:], "[log]\nverbose = maybe\n")
    let error = #expect(throws: SettingError.self) { try wrong.flag("verbose") }
    #expect(error?.exitCode == ExitCode.configuration)
    #expect(error?.description == "verbose must be yes or no, not \"maybe\" (a.conf:2).")
    #expect(throws: SettingError.self) { try settings(["status", "-s", "12x"]).integer("socket", in: 0...99) }
    #expect(try settings(["status", "-s", "12"]).integer("socket", in: 0...99) == 12)
  }

  @Test(arguments: [
    (
      "[contorl]\nsocket = x",
      ConfigurationError.unknownSection("contorl", path: "a.conf", line: 1, suggestion: "control")
    ),
    ("[control]\n\nsokcet = x", .unknownKey("control.sokcet", path: "a.conf", line: 3, suggestion: "socket")),
    ("socket = x", .unknownSection("", path: "a.conf", line: 1, suggestion: nil)),
    ("[control]\nsocket = x\nsocket = y", .repeatedKey("control.socket", path: "a.conf", line: 3, first: 2)),
    ("[transports]", .unknownSection("transports", path: "a.conf", line: 1, suggestion: "transport")),
    ("[control]\nnonsense", .malformed(path: "a.conf", .malformed(line: 2))),
    ("[control\nsocket = 1", .malformed(path: "a.conf", .malformed(line: 1))),
  ]) func mistakesHaveAPlace(text: String, error: ConfigurationError) {
    #expect(throws: error) { try file(text) }
    #expect(error.description.hasPrefix("a.conf:"))
  }

  @Test func openSectionsTakeAnyKey() throws {
    let file = try file("[transport.local]\nrange = 30\n[transport.other]\nrange=40")
    #expect(file.entries(inSection: "transport.local").map(\.value) == ["30"])
  }

  @Test func missingFileIsNil() throws {
    #expect(try ConfigurationFile.read(path: "/nonexistent/relaychat.conf", for: sample) == nil)
    #expect(throws: ConfigurationError.self) { try ConfigurationFile.read(path: "/", for: sample) }
  }

  @Test func linesAreCounted() throws {
    let document = try INIDocument.parse(Array("\u{FEFF}a=1\r\n;c\n[s]\nb : 2\n\tb = 3\nempty =\n".utf8))
    #expect(document.sections == [.init(name: "s", line: 3)])
    #expect(document.entries.map(\.line) == [1, 4, 5, 6])
    #expect(document.value("s", "b") == "3")
    #expect(document.value("", "a") == "1")
    #expect(document.value("s", "empty")?.isEmpty == true)
  }

  @Test func limitsAreErrors() {
    #expect(throws: INIError.tooLarge(bytes: 65_537)) { try INIDocument.parse(Array(repeating: 10, count: 65_537)) }
    #expect(throws: INIError.notText(line: 2)) { try INIDocument.parse([10, 0xFF]) }
    #expect(throws: INIError.notText(line: 1)) { try INIDocument.parse([97, 0, 98]) }
    let long = "[s]\nk = " + String(repeating: "v", count: 60_000)
    #expect(throws: INIError.lineTooLong(line: 2)) { try INIDocument.parse(Array(long.utf8)) }
    #expect(throws: INIError.malformed(line: 1)) { try INIDocument.parse(Array("= x".utf8)) }
    let comment = "#" + String(repeating: "v", count: 60_000)
    #expect(throws: Never.self) { try INIDocument.parse(Array(comment.utf8)) }
  }

  @Test func anyBytesGiveADocumentOrAnError() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var state = seed
    func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 33
    }
    let alphabet = Array("[]=:;# \t\r\n\"ab.\u{FF}".utf8)
    for _ in 0..<5_000 {
      let bytes = (0..<Int(next() % 80)).map { _ in
        next() % 8 == 0 ? UInt8(truncatingIfNeeded: next()) : alphabet[Int(next()) % alphabet.count]
      }
      if let document = try? INIDocument.parse(bytes) {
        #expect(document.entries.allSatisfy { !$0.key.isEmpty && $0.line > 0 }, "seed \(seed)")
      }
    }
  }
}
