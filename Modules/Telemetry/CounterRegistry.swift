import Synchronization

/// Collects the counter sets of a process, so that `status` can show all of them.
///
/// Sets with the same group are shown as their sum. A set stays for the life of the registry: register one per module
/// or transport, not one per link.
package final class CounterRegistry: Sendable {
  private struct Source: Sendable {
    let group: String
    let read: @Sendable () -> [(reason: String, count: UInt64)]
  }

  private let sources = Mutex<[Source]>([])

  package init() {}

  /// False when the registry is full (`TelemetryLimits.counterSets`); the set then counts, but is not shown.
  @discardableResult package func register<Reason>(_ set: CounterSet<Reason>) -> Bool {
    let source = Source(group: set.group) { Reason.allCases.map { (reason: $0.rawValue, count: set[$0]) } }
    return sources.withLock { sources in
      guard sources.count < TelemetryLimits.counterSets else { return false }
      sources.append(source)
      return true
    }
  }

  /// Counters that are kept elsewhere: `read` gives name and count of each, and is asked at every snapshot. False when
  /// the registry is full.
  @discardableResult package func register(
    _ group: String, read: @escaping @Sendable () -> [(reason: String, count: UInt64)]
  ) -> Bool {
    let source = Source(group: group, read: read)
    return sources.withLock { sources in
      guard sources.count < TelemetryLimits.counterSets else { return false }
      sources.append(source)
      return true
    }
  }

  /// A new set that is registered at once.
  package func makeSet<Reason: CounterReason>(_ group: StaticString, of: Reason.Type = Reason.self)
    -> CounterSet<Reason>
  {
    let set = CounterSet<Reason>(group)
    register(set)
    return set
  }

  /// Every counter by group and reason, zeros included.
  package func snapshot() -> [String: [String: UInt64]] {
    var result: [String: [String: UInt64]] = [:]
    for source in sources.withLock({ $0 }) {
      for (reason, count) in source.read() { result[source.group, default: [:]][reason, default: 0] &+= count }
    }
    return result
  }

  /// The counters that are not zero, in order of their names.
  package func nonZero() -> [(name: CounterName, count: UInt64)] {
    snapshot().flatMap { group, reasons in
      reasons.filter { $0.value > 0 }.map { (name: CounterName(group: group, reason: $0.key), count: $0.value) }
    }.sorted { ($0.name.group, $0.name.reason) < ($1.name.group, $1.name.reason) }
  }
}
