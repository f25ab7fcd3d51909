internal import Bytes

/// The pieces of one packet, in the order they came. It takes as much memory as came, whatever count was declared.
struct ReassemblyBuffer: Sendable {
  enum Insertion: Equatable {
    case inserted, complete, duplicate
    case refused(FragmentRefusal)
  }

  private struct Piece: Sendable {
    let index: Int
    let start: Int
    let byteCount: Int
  }

  let count: Int
  private var data: [UInt8] = []
  /// In the order of their indices.
  private var pieces: [Piece] = []
  /// Size of every piece but the last, once one is there.
  private var pieceByteCount: Int?

  /// When the last new piece came.
  private(set) var progress: UInt64
  /// When missing pieces were last asked for.
  private(set) var requested: UInt64?
  private var fruitlessRequests: UInt64 = 0

  init(count: Int, now: UInt64) {
    self.count = count
    progress = now
  }

  /// Bytes of memory the buffer answers for.
  var charge: Int {
    WireLimits.bufferOverheadByteCount + data.count + pieces.count * WireLimits.fragmentOverheadByteCount
  }

  var byteCount: Int { data.count }

  mutating func insert(_ head: FragmentHead, _ bytes: RawSpan, now: UInt64) -> Insertion {
    guard head.count == count else { return .refused(.conflictingCount) }
    let place = position(of: head.index)
    if place < pieces.count, pieces[place].index == head.index {
      let piece = pieces[place]
      let isSame = data.rawSpan.extracting(piece.start..<piece.start + piece.byteCount).hasSameBytes(as: bytes)
      return isSame ? .duplicate : .refused(.conflictingData)
    }
    if let refusal = refusal(of: head, byteCount: bytes.byteCount) { return .refused(refusal) }
    if !head.isLast { pieceByteCount = bytes.byteCount }
    pieces.insert(Piece(index: head.index, start: data.count, byteCount: bytes.byteCount), at: place)
    data.append(copying: bytes)
    progress = max(progress, now)
    requested = nil
    fruitlessRequests = 0
    return pieces.count == count ? .complete : .inserted
  }

  /// The packet's bytes, once every piece is there.
  func assembled() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(data.count)
    for piece in pieces { bytes.append(contentsOf: data[piece.start..<piece.start + piece.byteCount]) }
    return bytes
  }

  /// The gaps, the first `limit` of them.
  func missing(limit: Int) -> [FragmentRange] {
    var ranges: [FragmentRange] = []
    var next = 0
    for piece in pieces {
      if ranges.count >= limit { return ranges }
      if piece.index > next { ranges.append(FragmentRange(first: next, count: piece.index - next)) }
      next = piece.index + 1
    }
    if ranges.count < limit, next < count { ranges.append(FragmentRange(first: next, count: count - next)) }
    return ranges
  }

  /// When missing pieces are to be asked for.
  var requestDue: UInt64 {
    let quiet = WireLimits.requestQuiet << min(fruitlessRequests, WireLimits.requestBackoffShift)
    return max(progress, requested ?? 0) &+ quiet
  }

  mutating func noteRequest(now: UInt64) {
    requested = now
    fruitlessRequests += 1
  }

  private func position(of index: Int) -> Int {
    // Most pieces come in order.
    guard let last = pieces.last, last.index >= index else { return pieces.count }
    var low = 0
    var high = pieces.count
    while low < high {
      let middle = (low + high) / 2
      if pieces[middle].index < index { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func refusal(of head: FragmentHead, byteCount: Int) -> FragmentRefusal? {
    let last = pieces.last.flatMap { $0.index == count - 1 ? $0.byteCount : nil }
    let size = head.isLast ? pieceByteCount : byteCount
    if !head.isLast, let known = pieceByteCount, known != byteCount { return .conflictingSize }
    guard let size else { return byteCount <= WireLimits.packetByteCount ? nil : .packetTooLarge }
    let lastByteCount = head.isLast ? byteCount : last
    if let lastByteCount, lastByteCount > size { return .conflictingSize }
    // Without the last piece the packet has at least one byte more.
    let total = size * (count - 1) + (lastByteCount ?? 1)
    return total <= WireLimits.packetByteCount ? nil : .packetTooLarge
  }
}
