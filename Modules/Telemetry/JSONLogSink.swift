/// One JSON object a line: `time`, `level`, `label`, `message`, then the fields under `fields`.
package struct JSONLogSink: LogSink {
  private let output: LineDescriptor
  private let now: @Sendable () -> Duration

  /// - Parameters:
  ///   - descriptor: not owned; must stay open.
  ///   - now: the time since 1970-01-01 UTC.
  package init(descriptor: Int32, now: @escaping @Sendable () -> Duration) {
    output = LineDescriptor(descriptor: descriptor)
    self.now = now
  }

  package func write(_ record: LogRecord) { output.write(line(record)) }

  func line(_ record: LogRecord) -> String {
    var line = "{\"time\":\"\(LogTime.text(now()))\",\"level\":\"\(record.level.name)\",\"label\":"
    LogText.append(record.label, isQuoted: true, to: &line)
    line.append(",\"message\":")
    LogText.append(record.message, isQuoted: true, to: &line)
    line.append(",\"fields\":{")
    for (index, field) in record.fields.entries.enumerated() {
      if index > 0 { line.append(",") }
      LogText.append(field.name, isQuoted: true, to: &line)
      line.append(":")
      switch field.value {
      case .text(let text): LogText.append(text, isQuoted: true, to: &line)
      case .signed(let value): line.append(String(value))
      case .unsigned(let value): line.append(String(value))
      case .real(let value): line.append(value.isFinite ? String(value) : "null")
      case .flag(let value): line.append(String(value))
      }
    }
    line.append("}}")
    return line
  }
}
