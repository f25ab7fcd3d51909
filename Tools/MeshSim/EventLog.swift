/// Every event in 24 bytes, and one hash over all of them: FNV-1a by words of 64 bits. Two runs are the same run when
/// their hashes are equal.
///
/// A record, little endian: time 8 · kind 1 · zero 3 · first operand 4 · detail 8.
package struct EventLog: Sendable {
  package private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325
  package private(set) var count: UInt64 = 0
  private var buffer: [UInt8] = []
  private let sink: (@Sendable ([UInt8]) -> Void)?

  /// - Parameter sink: gets the bytes of the log, a piece at a time.
  init(sink: (@Sendable ([UInt8]) -> Void)?) { self.sink = sink }

  @inline(__always)
  mutating func note(_ time: UInt64, _ kind: Event.Kind, _ operand: Int32, _ detail: UInt64) {
    count &+= 1
    let middle = UInt64(kind.rawValue) | UInt64(UInt32(bitPattern: operand)) << 32
    hash = (hash ^ time) &* 0x100_0000_01b3
    hash = (hash ^ middle) &* 0x100_0000_01b3
    hash = (hash ^ detail) &* 0x100_0000_01b3
    if sink != nil { record(time, middle, detail) }
  }

  private mutating func record(_ words: UInt64...) {
    for word in words {
      for shift in stride(from: UInt64(0), to: 64, by: 8) { buffer.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
    if buffer.count >= 1 << 20 { flush() }
  }

  mutating func flush() {
    guard !buffer.isEmpty else { return }
    sink?(buffer)
    buffer.removeAll(keepingCapacity: true)
  }
}
