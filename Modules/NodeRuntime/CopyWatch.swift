internal import ControlAPI
package import Routing
package import Streams
package import Telemetry

extension CopyEvidence: CounterReason {}

/// Counts and says that the identity of this node also runs elsewhere. Whoever meets evidence calls `met`; the log gets a
/// line an hour at most, and `status` shows what was met last.
///
/// It cannot be told which of the two is the copy, nor whether the other still runs when it is a card or a message that
/// was met: both may be of the time between a backup and its return.
package final class CopyWatch: Sendable {
  package let counters = CounterSet<CopyEvidence>("identity")
  private let alarm = Protected(CopyAlarm())
  private let time: TimeSource
  private let log: Log

  package init(time: TimeSource, log: Log) {
    self.time = time
    self.log = log
  }

  package func met(_ evidence: CopyEvidence) {
    counters.count(evidence)
    let now = time.now()
    guard let unsaid = alarm.withLock({ $0.met(evidence, now: now) }) else { return }
    let facts: LogFields = ["evidence": .text(evidence.rawValue), "moreSinceLast": .integer(unsaid)]
    switch evidence {
    case .handshake:
      log.warning(
        "another node runs with the same keys as this one: a state directory was copied; stop one of the two and give it new keys",
        facts)
    case .card, .message:
      log.warning(
        "something with the signature of this node is in the mesh that this node has not made: its keys run elsewhere too, or did after they were copied; stop one of the two and give it new keys",
        facts)
    }
  }

  package var alarmNow: CopyAlarm { alarm.withLock { $0 } }
}

extension StatusAnswer.IdentityElsewhere {
  /// Nil when nothing of the kind was met in this run.
  init?(_ alarm: CopyAlarm, now: MonotonicTime) {
    guard let last = alarm.last else { return nil }
    self.init(
      evidence: last.rawValue, count: alarm.count,
      lastSecondsAgo: Double(now.milliseconds(since: alarm.lastAt)) / 1_000)
  }
}
