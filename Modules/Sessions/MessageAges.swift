internal import Streams

/// When the messages of this run were written, on the clock that never jumps: their age is counted and not computed, so
/// that setting the time of day neither ends nor prolongs what is under way. A ring beside a dictionary.
struct MessageAges: Sendable {
  private var written: [MessageID: MonotonicTime] = [:]
  private var ring: [MessageID] = []
  private var next = 0

  mutating func insert(_ id: MessageID, at time: MonotonicTime) {
    guard written.updateValue(time, forKey: id) == nil else { return }
    if ring.count < SessionsLimits.countedMessages {
      ring.append(id)
      return
    }
    written[ring[next]] = nil
    ring[next] = id
    next = (next + 1) % ring.count
  }

  /// Milliseconds since an own message was written; by the time of day when it is of an earlier run.
  func age(of message: StoredMessage, now: MonotonicTime, wall: UInt64) -> UInt64 {
    if let time = written[message.id] { return now.milliseconds(since: time) }
    return wall > message.storedMilliseconds ? wall - message.storedMilliseconds : 0
  }
}
