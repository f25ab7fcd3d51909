import Arguments
import ControlAPI
import Testing

@testable import Programs

@Suite struct StoreTextTests {
  private func record(_ history: StoreRecord.History?, troubles: [StoreRecord.Trouble] = []) -> StoreRecord {
    StoreRecord(
      phase: .sealed, protection: .keyFile, plainValues: nil, sealedValues: 3, markedNames: 0, openMismatches: 0,
      troubles: troubles, missing: [], canRollBack: false, history: history)
  }

  private func history(damage: StoreRecord.History.Damage? = nil) -> StoreRecord.History {
    StoreRecord.History(
      phase: .sealed, done: 9, total: 9, bytesWrittenToday: 4_096, bytesWrittenYesterday: 0, isOverBudget: false,
      bytesPerDay: 1 << 30, damage: damage, unopened: damage == nil ? nil : 2)
  }

  @Test func bytesWrittenStandBesideTheirBudget() {
    #expect(
      StoreText.lines(record(history())).contains("written today 4 KiB, yesterday 0 KiB, of 1024 MiB a day"))
  }

  @Test func troublesShowWhenTheyWereFirstAndLast() {
    let (one, other): (UInt64, UInt64) = (1_700_000_000_000, 1_700_500_000_000)
    let lines = StoreText.lines(
      record(
        nil,
        troubles: [
          .init(kind: .open, count: 3, firstMilliseconds: one, lastMilliseconds: other),
          .init(kind: .seal, count: 1, firstMilliseconds: one, lastMilliseconds: one),
        ]))
    #expect(lines.contains("open: 3 times, first \(PeerText.moment(one)), last \(PeerText.moment(other))"))
    #expect(lines.contains("seal: once, \(PeerText.moment(one))"))
    #expect(PeerText.moment(one).count == 19 && PeerText.moment(one).hasPrefix("2023-11-1"))
  }

  @Test func damageOfTheHistoryIsNamed() {
    let lines = StoreText.lines(record(history(damage: .init(messages: 7, first: 12, last: 90))))
    #expect(lines.contains { $0.contains("up to 7 messages") && $0.contains("number 12") && $0.contains("last 90") })
    #expect(lines.contains("history: 2 times a message did not open"))
    #expect(!StoreText.lines(record(history())).contains { $0.contains("damaged") })
  }

  @Test func whereThereIsNothingToCompareItSaysWhatWasOpened() {
    #expect(
      StoreText.lines(StoreReport(compared: 0, copied: 0, settled: 0, mismatches: 0, opened: 6))[0].hasPrefix(
        "opened 6 values"))
    #expect(
      StoreText.lines(StoreReport(compared: 5, copied: 2, settled: 1, mismatches: 1))
        == ["compared 5, copied 2, settled 1", "1 value differs"])
  }

  @Test func noOptionOfOneLetterStandsForSocketAndState() {
    let socket = CommonOptions.all.first { $0.name == "socket" }
    #expect(socket != nil && socket?.short == nil)
  }
}
