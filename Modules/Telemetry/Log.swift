/// One thing that happened, as a sink gets it.
package struct LogRecord: Sendable {
  package let level: LogLevel
  package let label: String
  package let message: String
  package let fields: LogFields

  package init(level: LogLevel, label: String, message: String, fields: LogFields) {
    self.level = level
    self.label = label
    self.message = message
    self.fields = fields
  }
}

/// Where records go. Called from any thread, must not block for long and must not throw: a log that cannot be
/// written is lost, the program goes on.
package protocol LogSink: Sendable {
  func write(_ record: LogRecord)
}

/// What a part of the program writes its log through.
///
/// The message is a constant, everything that varies is a field; a record below `threshold` costs one comparison and
/// its fields are never evaluated. Never hand in payloads, texts of messages, keys or secrets, at any level.
package struct Log: Sendable {
  package let label: String
  package let threshold: LogLevel
  private let sink: any LogSink

  package init(label: String, threshold: LogLevel, sink: any LogSink) {
    self.label = label
    self.threshold = threshold
    self.sink = sink
  }

  /// Writes nothing.
  package static let discarding = Log(label: "", threshold: .error, sink: DiscardLogSink())

  /// The same sink and threshold under the name of another part.
  package func labelled(_ label: String) -> Log { Log(label: label, threshold: threshold, sink: sink) }

  package func trace(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
    write(.trace, message, fields)
  }

  package func debug(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
    write(.debug, message, fields)
  }

  package func info(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
    write(.info, message, fields)
  }

  package func notice(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
    write(.notice, message, fields)
  }

  package func warning(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
    write(.warning, message, fields)
  }

  package func error(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
    write(.error, message, fields)
  }

  private func write(_ level: LogLevel, _ message: StaticString, _ fields: () -> LogFields) {
    guard level >= threshold else { return }
    sink.write(LogRecord(level: level, label: label, message: message.description, fields: fields()))
  }
}

/// Forgets every record.
package struct DiscardLogSink: LogSink {
  package init() {}
  package func write(_ record: LogRecord) {}
}
