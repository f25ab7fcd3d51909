import Synchronization

/// Keeps the newest records, for tests and for a report after a failure; older ones are forgotten.
package final class MemoryLogSink: LogSink {
  private let limit: Int
  private let kept = Mutex<(records: [LogRecord], start: Int)>(([], 0))

  package init(limit: Int = TelemetryLimits.rememberedRecords) { self.limit = max(1, limit) }

  package func write(_ record: LogRecord) {
    kept.withLock { kept in
      if kept.records.count < limit {
        kept.records.append(record)
      } else {
        kept.records[kept.start] = record
        kept.start = (kept.start + 1) % limit
      }
    }
  }

  /// Oldest first.
  package var records: [LogRecord] {
    kept.withLock { Array($0.records[$0.start...] + $0.records[..<$0.start]) }
  }
}
