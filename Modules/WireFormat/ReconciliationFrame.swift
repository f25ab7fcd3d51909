internal import Bytes

/// How two neighbours find out what one of them lacks: frames of one link, types 68 to 72, after its security opened them.
///
/// | type | frame | after the type |
/// |---|---|---|
/// | 68 | comparison | windows, one to three, newest first: start 4 · count 2 · sum 8 |
/// | 69 | difference | bits of the windows that differ 1, bit 0 for the first; none: in step |
/// | 70 | symbol request | number 2 · salt 8 · start 4 · end 4 · first 2 · count 1 |
/// | 71 | symbols | number 2 · first 2 · symbols 13 each, at least one |
/// | 72 | wanted | keys 8 each, at least one |
///
/// A window holds the packets whose time lies in it, in units of `WireLimits.windowUnit`: from its start to the start of the
/// one before, the first to the end of time. A request names its window by both ends, the second one not in it.
package enum ReconciliationFrame: Hashable, Sendable {
  /// What a window holds, as far as 10 bytes tell it.
  package struct Window: Hashable, Sendable {
    package var start: UInt32
    /// Keys in it, modulo 65,536.
    package var count: UInt16
    /// The sum of the keys, modulo 2^64.
    package var sum: UInt64

    package init(start: UInt32, count: UInt16, sum: UInt64) {
      self.start = start
      self.count = count
      self.sum = sum
    }
  }

  package struct SymbolRequest: Hashable, Sendable {
    /// Chosen by whoever asks; the answer repeats it.
    package var number: UInt16
    /// Keys the hash of the symbols; random, and the same for all requests of one comparison.
    package var salt: UInt64
    package var start: UInt32
    package var end: UInt32
    package var first: UInt16
    package var count: UInt8

    package init(number: UInt16, salt: UInt64, start: UInt32, end: UInt32, first: UInt16, count: UInt8) {
      self.number = number
      self.salt = salt
      self.start = start
      self.end = end
      self.first = first
      self.count = count
    }
  }

  case comparison([Window])
  case difference(UInt8)
  case symbolRequest(SymbolRequest)
  case symbols(number: UInt16, first: UInt16, [CodedSymbol])
  case wanted([UInt64])

  package static let types: ClosedRange<UInt8> = 68...72

  /// Reads exactly one frame, its type first. Total: any bytes give a frame or an error.
  package init(decoding bytes: RawSpan) throws(WireError) {
    var reader = ByteReader(bytes)
    let type = try reader.field8()
    switch type {
    case 68: self = .comparison(try Self.windows(from: &reader))
    case 69:
      let bits = try reader.field8()
      guard bits < 8 else { throw .listCount(Int(bits), limit: 7) }
      self = .difference(bits)
    case 70:
      self = .symbolRequest(
        SymbolRequest(
          number: try reader.field16(), salt: try reader.field64(), start: try reader.field32(),
          end: try reader.field32(), first: try reader.field16(), count: try reader.field8()))
    case 71:
      let (number, first) = (try reader.field16(), try reader.field16())
      self = .symbols(number: number, first: first, try Self.symbols(from: &reader))
    case 72: self = .wanted(try Self.keys(from: &reader))
    default: throw .unknownFrameType(type)
    }
    guard reader.isAtEnd else { throw .bytes(ByteError(needed: 0, available: reader.remaining)) }
  }

  private static func windows(from reader: inout ByteReader) throws(WireError) -> [Window] {
    let count = try count(of: 14, limit: WireLimits.comparedWindowCount, in: reader)
    var windows: [Window] = []
    var end = UInt64(UInt32.max) + 1
    for _ in 0..<count {
      let window = Window(start: try reader.field32(), count: try reader.field16(), sum: try reader.field64())
      // One form only: each begins before the one that came before it.
      guard UInt64(window.start) < end else { throw .ranges }
      end = UInt64(window.start)
      windows.append(window)
    }
    return windows
  }

  private static func symbols(from reader: inout ByteReader) throws(WireError) -> [CodedSymbol] {
    let count = try count(of: CodedSymbol.byteCount, limit: WireLimits.symbolCount, in: reader)
    var symbols: [CodedSymbol] = []
    for _ in 0..<count {
      symbols.append(
        CodedSymbol(count: try reader.field8(), sum: try reader.field64(), check: try reader.field32()))
    }
    return symbols
  }

  private static func keys(from reader: inout ByteReader) throws(WireError) -> [UInt64] {
    let count = try count(of: 8, limit: WireLimits.acknowledgedKeyCount, in: reader)
    var keys: [UInt64] = []
    for _ in 0..<count { keys.append(try reader.field64()) }
    return keys
  }

  private static func count(of size: Int, limit: Int, in reader: borrowing ByteReader) throws(WireError) -> Int {
    let count = reader.remaining / size
    guard (1...limit).contains(count) else { throw .listCount(count, limit: limit) }
    return count
  }

  package var encoded: [UInt8] {
    var writer = ByteWriter(capacity: 64)
    switch self {
    case .comparison(let windows):
      writer.u8(68)
      for window in windows {
        writer.u32(window.start)
        writer.u16(window.count)
        writer.u64(window.sum)
      }
    case .difference(let bits):
      writer.u8(69)
      writer.u8(bits)
    case .symbolRequest(let request):
      writer.u8(70)
      writer.u16(request.number)
      writer.u64(request.salt)
      writer.u32(request.start)
      writer.u32(request.end)
      writer.u16(request.first)
      writer.u8(request.count)
    case .symbols(let number, let first, let symbols):
      writer.u8(71)
      writer.u16(number)
      writer.u16(first)
      for symbol in symbols {
        writer.u8(symbol.count)
        writer.u64(symbol.sum)
        writer.u32(symbol.check)
      }
    case .wanted(let keys):
      writer.u8(72)
      for key in keys { writer.u64(key) }
    }
    return writer.bytes
  }

  /// The same in frames that fit a link. Of a comparison that does not fit the oldest windows are left out.
  func cut(payloadByteCount: Int) -> [ReconciliationFrame] {
    func runs<Item>(_ items: [Item], of size: Int, head: Int) -> [(start: Int, items: [Item])] {
      let perFrame = max((payloadByteCount - head) / size, 1)
      return stride(from: 0, to: items.count, by: perFrame).map { start in
        (start, Array(items[start..<min(start + perFrame, items.count)]))
      }
    }
    switch self {
    case .comparison(let windows): return [.comparison(runs(windows, of: 14, head: 1).first?.items ?? windows)]
    case .symbols(let number, let first, let symbols):
      return runs(symbols, of: CodedSymbol.byteCount, head: 5).map { run in
        .symbols(number: number, first: first &+ UInt16(truncatingIfNeeded: run.start), run.items)
      }
    case .wanted(let keys): return runs(keys, of: 8, head: 1).map { .wanted($0.items) }
    case .difference, .symbolRequest: return [self]
    }
  }
}
