package import Synchronization

/// What a counter counts: a plain enum whose raw values are the names that `status` shows.
///
///     enum DropReason: String, CounterReason { case duplicate, tooOld }
package protocol CounterReason: CaseIterable, Hashable, Sendable, RawRepresentable where RawValue == String {}

/// The full name of one counter.
package struct CounterName: Hashable, Sendable {
  package let group: String
  package let reason: String

  package init(group: String, reason: String) {
    self.group = group
    self.reason = reason
  }
}

/// One counter per case of `Reason`. Counting takes no lock and may be done from any thread; a snapshot is exact for
/// each counter, not across counters.
@safe package final class CounterSet<Reason: CounterReason>: Sendable {
  package let group: String
  @usableFromInline nonisolated(unsafe) let cells: UnsafeMutablePointer<Atomic<UInt64>>
  private let cellCount: Int

  /// `group` is a constant such as `relay.drop`.
  package init(_ group: StaticString) {
    precondition(MemoryLayout<Reason>.size <= 1, "a reason is an enum without payloads")
    self.group = group.description
    cellCount = 1 + (Reason.allCases.map { Self.cell(of: $0) }.max() ?? 0)
    unsafe cells = .allocate(capacity: cellCount)
    for index in 0..<cellCount { unsafe (cells + index).initialize(to: Atomic(0)) }
  }

  deinit {
    unsafe cells.deinitialize(count: cellCount)
    unsafe cells.deallocate()
  }

  /// Adds `amount`, wrapping at 2^64.
  @inlinable package func count(_ reason: Reason, by amount: UInt64 = 1) {
    unsafe cells[Self.cell(of: reason)].wrappingAdd(amount, ordering: .relaxed)
  }

  package subscript(reason: Reason) -> UInt64 { unsafe cells[Self.cell(of: reason)].load(ordering: .relaxed) }

  /// Every counter of the set, zeros included.
  package func snapshot() -> [Reason: UInt64] {
    Dictionary(uniqueKeysWithValues: Reason.allCases.map { ($0, self[$0]) })
  }

  /// The one byte that an enum without payloads is stored as is its cell; an enum of a single case is stored as nothing.
  @inlinable static func cell(of reason: Reason) -> Int {
    MemoryLayout<Reason>.size == 0 ? 0 : Int(unsafe unsafeBitCast(reason, to: UInt8.self))
  }
}
