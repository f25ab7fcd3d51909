import Glibc
import Testing

@testable import Telemetry

@Suite struct LogTests {
  @Test func recordsBelowTheThresholdCostNoFields() {
    let sink = MemoryLogSink()
    let log = Log(label: "links", threshold: .notice, sink: sink)
    var evaluated = 0
    func fields() -> LogFields {
      evaluated += 1
      return ["n": .integer(evaluated)]
    }
    log.trace("a", fields())
    log.debug("b", fields())
    log.info("c", fields())
    #expect(evaluated == 0)
    log.notice("d", fields())
    log.warning("e")
    log.labelled("relay").error("f")
    #expect(sink.records.map(\.message) == ["d", "e", "f"])
    #expect(sink.records.map(\.label) == ["links", "links", "relay"])
    #expect(sink.records[0].fields["n"] == .signed(1))
  }

  @Test func memoryKeepsTheNewest() {
    let sink = MemoryLogSink(limit: 3)
    let log = Log(label: "x", threshold: .trace, sink: sink)
    for index in 0..<8 { log.info("m", ["i": .integer(index)]) }
    #expect(sink.records.map { $0.fields["i"] } == [.signed(5), .signed(6), .signed(7)])
  }

  @Test func textQuotesOnlyWhatNeedsIt() {
    let sink = TextLogSink(descriptor: -1) { .milliseconds(1_709_210_096_007) }
    let record = LogRecord(
      level: .info, label: "links", message: "dial failed",
      fields: ["peer": "1a2b", "name": "two words", "count": 3, "ok": false, "none": "", "big": .integer(UInt64.max)])
    #expect(
      sink.line(record)
        == "2024-02-29T12:34:56.007Z info links: dial failed peer=1a2b name=\"two words\" count=3 ok=false none=\"\" big=18446744073709551615"
    )
  }

  @Test func noControlCharacterSurvives() {
    var all = ""
    for value in UInt32(0)...0x2100 { if let scalar = Unicode.Scalar(value) { all.unicodeScalars.append(scalar) } }
    let pieces = all.unicodeScalars.map { String($0) }
    let text = TextLogSink(descriptor: -1) { .zero }
    let json = JSONLogSink(descriptor: -1) { .zero }
    for piece in pieces {
      let record = LogRecord(level: .error, label: "l", message: "m", fields: ["v": .text(piece)])
      for line in [text.line(record), json.line(record)] {
        #expect(!line.unicodeScalars.contains(where: LogText.isControl))
      }
    }
  }

  @Test func journalLinesCarryThePriority() {
    let sink = TextLogSink(descriptor: -1, isJournal: true) { .zero }
    #expect(sink.line(LogRecord(level: .warning, label: "a", message: "b", fields: [:])) == "<4>a: b")
  }

  @Test func jsonIsOneObjectALine() {
    let sink = JSONLogSink(descriptor: -1) { .zero }
    let record = LogRecord(
      level: .debug, label: "a", message: "b", fields: ["t": "x\n\"\u{202E}", "r": 1.5, "nan": .real(.nan)])
    #expect(
      sink.line(record) == #"{"time":"1970-01-01T00:00:00.000Z","level":"debug","label":"a","message":"b","#
        + #""fields":{"t":"x\n\"\u202e","r":1.5,"nan":null}}"#)
  }

  @Test func longValuesAreCut() {
    let sink = TextLogSink(descriptor: -1, isJournal: true) { .zero }
    let text = String(repeating: "é", count: 1_000)
    let line = sink.line(LogRecord(level: .info, label: "a", message: "b", fields: ["v": .text(text)]))
    #expect(line.hasSuffix("é…"))
    #expect(line.utf8.count < TelemetryLimits.bytesPerValue + 32)
  }

  @Test func aLineIsOneWrite() throws {
    var ends: [Int32] = [0, 0]
    #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &ends) == 0)
    defer { for end in ends { close(end) } }
    Log(label: "a", threshold: .info, sink: TextLogSink(descriptor: ends[0], isJournal: true) { .zero }).info("one")
    var buffer = [UInt8](repeating: 0, count: 100)
    let size = unsafe read(ends[1], &buffer, buffer.count)
    #expect(String(decoding: buffer[..<max(0, size)], as: UTF8.self) == "<6>a: one\n")
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (951_782_400, "2000-02-29T00:00:00.000Z"),
    (4_107_542_399, "2100-02-28T23:59:59.000Z"), (-5, "1970-01-01T00:00:00.000Z"),
    (Int64.max, "9999-12-31T23:59:59.000Z"),
  ]) func timeIsRFC3339(seconds: Int64, text: String) {
    #expect(LogTime.text(Duration(secondsComponent: seconds, attosecondsComponent: 0)) == text)
  }
}
