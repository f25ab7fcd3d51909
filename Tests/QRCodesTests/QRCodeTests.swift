import Foundation
import TestKit
import Testing

@testable import QRCodes

@Suite struct QRCodeTests {
  /// As `relaychat verify` draws it.
  private static let text =
    "relaychat:verify?id=0b9e49db003df08feb60256d2e85fb1d"
    + "&check=012345678901234567890123456789012345678901234567890123456789"

  private static let texts = [
    text, "a", "0", "HELLO", "héllo 🦊", String(repeating: "x", count: 400), String(repeating: "7", count: 1_000),
  ]

  @Test func theTextOfAVerificationFitsATerminalOf24Lines() throws {
    let code = try QRCode(Self.text)
    #expect(code.lines(isColoured: true).count < 24)
    #expect(code.columns < 80)
  }

  @Test(arguments: [(20, 21), (100, 37), (2_953, 177)]) func sizesAreThoseOfTheStandard(count: Int, size: Int) throws {
    // Letters that no shorter mode takes; 17 bytes fill the smallest.
    let code = try QRCode(String(repeating: "a", count: count == 20 ? 17 : count))
    #expect(code.size == size)
  }

  @Test func whatIsTooLongOrNoTextIsRefused() {
    #expect(throws: QRCodeError.tooLong(byteCount: 2_954, limit: 2_953)) {
      try QRCode(String(repeating: "a", count: 2_954))
    }
    #expect(throws: QRCodeError.notText) { try QRCode("") }
    #expect(throws: QRCodeError.notText) { try QRCode("a\u{0}b") }
  }

  @Test func aDrawingHasAQuietZoneAndTheModulesInHalves() throws {
    let code = try QRCode(Self.text)
    for isColoured in [true, false] {
      let pixels = Self.pixels(code.lines(isColoured: isColoured), isColoured: isColoured)
      #expect(pixels.allSatisfy { $0.count == code.columns })
      for row in 0..<code.columns {
        for column in 0..<code.columns {
          let isDark = code.isDark(row: row - 4, column: column - 4)
          #expect(pixels[row][column] == isDark, "row \(row), column \(column)")
        }
      }
    }
  }

  @Test func bothColoursAreSetAndTakenBack() throws {
    for line in try QRCode("a").lines(isColoured: true) {
      #expect(line.hasPrefix("\u{1B}[38;5;16;48;5;231m") && line.hasSuffix("\u{1B}[0m"))
    }
    #expect(try QRCode("a").lines(isColoured: false).allSatisfy { !$0.contains("\u{1B}") })
  }

  @Test func codesOutsideTheirSquareAreLight() throws {
    let code = try QRCode("a")
    #expect(code.isDark(row: 0, column: 0) && code.isDark(row: 20, column: 0))
    for (row, column) in [(-1, 0), (0, -1), (21, 0), (0, 21), (.max, .min)] {
      #expect(!code.isDark(row: row, column: column))
    }
  }

  @Test(.enabled(if: Program.qrencode.isThere, "Debian's qrencode is not installed"), arguments: texts)
  func modulesAreThoseOfTheProgramOfTheLibrary(text: String) throws {
    let picture = try Program.qrencode.run(["-t", "ASCII", "-l", "L", "-m", "0", "-o", "-", text])
    let code = try QRCode(text)
    let rows = picture.split(separator: "\n")
    #expect(rows.count == code.size)
    for (row, line) in rows.enumerated() {
      // Two characters a module.
      let modules = stride(from: 0, to: 2 * code.size, by: 2).map { Array(line)[$0] == "#" }
      #expect(modules == (0..<code.size).map { code.isDark(row: row, column: $0) })
    }
  }

  @Test(
    .enabled(if: Program.zbarimg.isThere, "Debian's zbar-tools are not installed"), arguments: texts, [true, false])
  func aReaderReadsTheDrawingBack(text: String, isColoured: Bool) throws {
    let pixels = Self.pixels(try QRCode(text).lines(isColoured: isColoured), isColoured: isColoured)
    // A portable grey map, four pixels a module, as on a screen.
    let picture = pixels.flatMap { row in
      Array(repeating: row.flatMap { Array(repeating: $0 ? UInt8(0) : 255, count: 4) }, count: 4).flatMap { $0 }
    }
    let side = pixels[0].count * 4
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("qr-\(UUID().uuidString).pgm")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(Array("P5\n\(side) \(picture.count / side)\n255\n".utf8) + picture).write(to: file)
    #expect(try Program.zbarimg.run(["--quiet", "--raw", file.path]) == text + "\n")
  }

  /// Reads a drawing back into dark and light: true is dark.
  private static func pixels(_ lines: [String], isColoured: Bool) -> [[Bool]] {
    lines.flatMap { line -> [[Bool]] in
      let text = line.replacing("\u{1B}[38;5;16;48;5;231m", with: "").replacing("\u{1B}[0m", with: "")
      let upper = text.map { ($0 == "█" || $0 == "▀") == isColoured }
      let lower = text.map { ($0 == "█" || $0 == "▄") == isColoured }
      return [upper, lower]
    }
  }
}

/// A program of Debian that has a second opinion.
private struct Program {
  static let qrencode = Program(path: "/usr/bin/qrencode")
  static let zbarimg = Program(path: "/usr/bin/zbarimg")

  let path: String

  /// In CI they have to be there.
  var isThere: Bool {
    ProcessInfo.processInfo.environment["CI"] == "true" || FileManager.default.fileExists(atPath: path)
  }

  func run(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.environment = ["LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }
}
