import Bytes
import Testing

@testable import WireFormat

@Suite struct ReconciliationFrameTests {
  static let frames: [ReconciliationFrame] = [
    .comparison([
      .init(start: 9, count: 1, sum: 2), .init(start: 4, count: 0, sum: 0), .init(start: 0, count: 3, sum: 4),
    ]),
    .difference(0), .difference(7),
    .symbolRequest(.init(number: 1, salt: .max, start: 3, end: .max, first: 5, count: 6)),
    .symbols(
      number: 1, first: 2, (0..<15 as Range<UInt64>).map { CodedSymbol(count: 3, sum: $0, check: UInt32($0)) }),
    .wanted((0..<60 as Range<UInt64>).map { $0 }),
  ]

  @Test(arguments: frames) func everyFrameHasOneEncoding(_ frame: ReconciliationFrame) throws {
    let bytes = frame.encoded
    #expect(try ReconciliationFrame(decoding: bytes.rawSpan) == frame)
    #expect(try LinkFrame(decoding: bytes.rawSpan) == .reconciliation(frame))
    #expect(LinkFrame.reconciliation(frame).encoded == bytes)
    for end in 0..<bytes.count {
      let cut = Array(bytes[..<end])
      // A shorter list is a list, anything else is no frame.
      guard let shorter = try? ReconciliationFrame(decoding: cut.rawSpan) else { continue }
      #expect(shorter.encoded == cut)
    }
  }

  @Test(arguments: frames, [38, 100, 483]) func cutFramesFitTheirLinkAndSayTheSame(
    _ frame: ReconciliationFrame, _ size: Int
  ) {
    let pieces = frame.cut(payloadByteCount: size)
    #expect(pieces.allSatisfy { $0.encoded.count <= size })
    switch frame {
    case .symbols(_, let first, let symbols):
      var next = first
      var all: [CodedSymbol] = []
      for case .symbols(1, let start, let some) in pieces {
        #expect(start == next)
        next += UInt16(some.count)
        all += some
      }
      #expect(all == symbols)
    case .wanted(let keys):
      var all: [UInt64] = []
      for case .wanted(let some) in pieces { all += some }
      #expect(all == keys)
    case .comparison(let windows):
      guard case .comparison(let kept)? = pieces.first, pieces.count == 1 else {
        Issue.record("a comparison is one frame")
        return
      }
      #expect(kept == Array(windows.prefix(max(1, (size - 1) / 14))))
    case .difference, .symbolRequest: #expect(pieces == [frame])
    }
  }

  @Test func windowsThatDoNotFollowEachOtherAreRefused() {
    let windows = [ReconciliationFrame.Window(start: 1, count: 0, sum: 0), .init(start: 1, count: 0, sum: 0)]
    let bytes = ReconciliationFrame.comparison(windows).encoded
    #expect(throws: WireError.self) { try ReconciliationFrame(decoding: bytes.rawSpan) }
  }
}
