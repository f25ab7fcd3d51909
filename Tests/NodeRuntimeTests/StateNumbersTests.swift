import Testing

@testable import NodeRuntime

/// How the numbers of the files stand to each other at every point at which a record can be interrupted.
struct StateNumbersTests {
  private struct Files: Equatable {
    var slots: UInt64 = 1
    var intended: UInt64?
    var settled: UInt64?
    var archive: UInt64?
    var isCounted = false

    var numbers: StateNumbers {
      StateNumbers(
        slots: slots, intended: intended, settled: settled, archive: archive, isArchiveCounted: isCounted)
    }

    /// The steps of a record, and the first `count` of them taken.
    mutating func record(steps count: Int = 4) {
      let next = numbers.next
      if count > 0 { (intended, settled) = (next, numbers.certain) }
      if count > 1 { archive = next }
      if count > 2 { slots = next }
      if count > 3 { (settled, isCounted) = (next, true) }
    }
  }

  @Test func threat17_noInterruptionLocksOut() {
    for first in 0...4 {
      for second in 0...4 {
        for third in 0...4 {
          var files = Files()
          for steps in [first, second, third] {
            files.record(steps: steps)
            #expect(files.numbers.older == nil, "\(first) \(second) \(third)")
          }
          files.record()
          #expect(files.numbers.older == nil)
        }
      }
    }
  }

  /// Whichever one or two of the three files are put back from before the last record, whatever was interrupted then.
  @Test func threat19_whatIsOlderThanTheLastRecordIsFound() {
    for interrupted in 0...4 {
      var old = Files()
      old.record()
      old.record(steps: interrupted)
      var now = old
      now.record()
      for parts in 1...6 {
        var mixed = now
        if parts & 1 != 0 { mixed.slots = old.slots }
        if parts & 2 != 0 { (mixed.intended, mixed.settled, mixed.isCounted) = (old.intended, old.settled, true) }
        if parts & 4 != 0 { mixed.archive = old.archive }
        #expect(mixed.numbers.older != nil, "\(interrupted) \(parts)")
      }
    }
  }

  @Test func storeOfTheFirstBuildsIsTakenAsItCounted() {
    #expect(Files(slots: 5, intended: 5, archive: 5).numbers.older == nil)
    #expect(Files(slots: 5, intended: 6, archive: 5).numbers.older == nil)
    #expect(Files(slots: 5, intended: 6, archive: 6).numbers.older == nil)
    #expect(Files(slots: 5, intended: 4, archive: 5).numbers.older == .store)
    #expect(Files(slots: 5, intended: 7, archive: 7).numbers.older == .slots)
    #expect(Files(slots: 5, intended: 5, archive: 4).numbers.older == .archive)
    #expect(Files(slots: 5, intended: 5).numbers.older == nil)
    #expect(Files(slots: .max, intended: .max).numbers.next == .max)
  }
}
