/// One line of text a record: `TIME LEVEL LABEL: message key=value key="two words"`.
///
/// Nothing in a record can break the line or reach a terminal as a control character.
package struct TextLogSink: LogSink {
  private let output: LineDescriptor
  private let isJournal: Bool
  private let now: @Sendable () -> Duration

  /// - Parameters:
  ///   - descriptor: not owned; must stay open.
  ///   - isJournal: true when the journal reads the descriptor (`JOURNAL_STREAM` is set): the line then starts with its
  ///     priority, `<6>`, and has no time, because the journal keeps both.
  ///   - now: the time since 1970-01-01 UTC.
  package init(descriptor: Int32, isJournal: Bool = false, now: @escaping @Sendable () -> Duration) {
    output = LineDescriptor(descriptor: descriptor)
    self.isJournal = isJournal
    self.now = now
  }

  package func write(_ record: LogRecord) { output.write(line(record)) }

  func line(_ record: LogRecord) -> String {
    var line = isJournal ? "<\(record.level.priority)>" : "\(LogTime.text(now())) \(record.level.name) "
    line.append(record.label)
    line.append(": ")
    line.append(record.message)
    for field in record.fields.entries {
      line.append(" ")
      line.append(field.name)
      line.append("=")
      switch field.value {
      case .text(let text): LogText.append(text, to: &line)
      case .signed(let value): line.append(String(value))
      case .unsigned(let value): line.append(String(value))
      case .real(let value): line.append(String(value))
      case .flag(let value): line.append(String(value))
      }
    }
    return line
  }
}
