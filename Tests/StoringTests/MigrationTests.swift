import Testing

@testable import Storing

@Suite struct MigrationTests {
  private let settings = Migration.Settings(days: 2, restarts: 3)
  private let day = Migration.millisecondsOfDay

  private func facts(_ now: UInt64, isOpen: Bool = true, mismatches: Int = 0, marked: Int = 0) -> Migration.Facts {
    Migration.Facts(now: now, isSealedOpen: isOpen, openMismatches: mismatches, markedNames: marked)
  }

  @Test func aPhaseEndsOnlyAfterDaysAndRestarts() {
    for (phase, next) in [(Migration.Phase.doubleWrite, Migration.Phase.verify), (.verify, .copyAll)] {
      var migration = Migration(now: 0)
      migration.enter(phase, now: 1_000)
      for _ in 0..<3 { migration.restarted(now: 1_001) }
      #expect(
        migration.next(settings, facts(1_000 + 2 * day - 1), isImpatient: false) == .stay([.milliseconds(1)]))
      #expect(migration.next(settings, facts(1_000 + 2 * day), isImpatient: false) == .enter(next))
      migration.enter(phase, now: 1_000)
      migration.restarted(now: 1_001)
      migration.restarted(now: 1_002)
      #expect(migration.next(settings, facts(1_000 + 9 * day), isImpatient: false) == .stay([.restarts(1)]))
      #expect(migration.next(settings, facts(1_000), isImpatient: true) == .enter(next))
    }
  }

  @Test func troubleBeginsTheProofAnew() {
    var migration = Migration(now: 0)
    migration.enter(.verify, now: 0)
    for _ in 0..<5 { migration.restarted(now: 5) }
    migration.troubled(.seal, now: day)
    migration.troubled(.seal, now: day + 7)
    #expect(migration.restarts == 0 && migration.since == day + 7)
    #expect(migration.occurrences(of: .seal) == Migration.Occurrences(count: 2, first: day, last: day + 7))
    #expect(
      migration.next(settings, facts(2 * day), isImpatient: false) == .stay([.milliseconds(day + 7), .restarts(3)]))
  }

  @Test func aClockSetBackEarnsNothing() {
    var migration = Migration(now: 400 * day)
    migration.enter(.doubleWrite, now: 400 * day)
    for _ in 0..<3 { migration.restarted(now: day) }
    #expect(migration.next(settings, facts(2 * day), isImpatient: false) == .stay([.milliseconds(day)]))
  }

  @Test func impatienceOvercomesNoMismatchAndNoClosedStore() {
    for phase in [Migration.Phase.doubleWrite, .verify, .copyAll] {
      var migration = Migration(now: 0)
      migration.enter(phase, now: 0)
      #expect(migration.next(settings, facts(0, isOpen: false), isImpatient: true) == .stay([.sealedStore]))
      #expect(migration.next(settings, facts(0, mismatches: 2), isImpatient: true) == .stay([.mismatches(2)]))
      #expect(migration.next(settings, facts(0, marked: 3), isImpatient: true) == .stay([.names(3)]))
    }
  }

  @Test func whatWasTakenBackWaitsForAWord() {
    var migration = Migration(now: 0)
    #expect(migration.next(settings, facts(0, isOpen: false), isImpatient: false) == .begin)
    migration.enter(.verify, now: 0)
    migration.rollBack(now: 1)
    #expect(migration.next(settings, facts(0), isImpatient: false) == .stay([.word]))
    #expect(migration.next(settings, facts(0), isImpatient: true) == .begin)
    migration.release()
    #expect(migration.next(settings, facts(0), isImpatient: false) == .begin)
  }

  @Test func theRecordComesBackAsItWas() {
    var migration = Migration(now: 77)
    migration.enter(.copyAll, now: 99)
    migration.restarted(now: 100)
    for trouble in Migration.Trouble.allCases { migration.troubled(trouble, now: 1_000 + UInt64(trouble.rawValue)) }
    migration.confirmed = 12
    migration.isSealing = true
    migration.isHeld = true
    let bytes = migration.encoded
    #expect(Migration(decoding: bytes) == migration && bytes.count <= StoringLimits.noteBytes)
    for count in 0..<bytes.count { #expect(Migration(decoding: Array(bytes.prefix(count))) == nil) }
    #expect(Migration(decoding: bytes + [0]) == nil)
    for (place, value) in [(0, UInt8(2)), (1, 5), (2, 4)] {
      var changed = bytes
      changed[place] = value
      #expect(Migration(decoding: changed) == nil)
    }
  }

  @Test func plainWinsEveryComparison() {
    #expect(Migration.compare(plain: nil, sealed: .unknown) == .same)
    #expect(Migration.compare(plain: nil, sealed: .removed) == .same)
    #expect(Migration.compare(plain: nil, sealed: .value([])) == .mismatch)
    #expect(Migration.compare(plain: [1], sealed: .value([1])) == .same)
    #expect(Migration.compare(plain: [1], sealed: .value([2])) == .mismatch)
    #expect(Migration.compare(plain: [1], sealed: .removed) == .mismatch)
    #expect(Migration.compare(plain: [1], sealed: .unknown) == .copy)
  }

  @Test func aMarkedNameIsNeverReadFromTheSealedStore() {
    for phase in Migration.Phase.allCases where phase != .sealed {
      var migration = Migration(now: 0)
      migration.enter(phase, now: 0)
      #expect(migration.reading(isMarked: true, isSealedOpen: true) == .plainOnly)
      #expect(migration.reading(isMarked: false, isSealedOpen: false) == .plainOnly)
    }
  }
}
