/// A set of keys in about 8.5 bits each that says yes to one in 128 others: values below 128 for each key, in order,
/// their distances in Golomb-Rice code with seven low bits.
struct GolombSet: Sendable {
  /// What fits 400 bytes.
  static let mostKeys = 355
  private static let lowBits: UInt64 = 7

  private let range: UInt64
  private let values: [UInt64]

  static func encode(_ keys: [UInt64]) -> [UInt8] {
    let range = UInt64(keys.count) << lowBits
    var bytes: [UInt8] = [UInt8(truncatingIfNeeded: keys.count >> 8), UInt8(truncatingIfNeeded: keys.count)]
    var (current, used) = (UInt8(0), 0)
    func write(_ bit: Bool) {
      current = current << 1 | (bit ? 1 : 0)
      used += 1
      guard used == 8 else { return }
      bytes.append(current)
      (current, used) = (0, 0)
    }
    var last: UInt64 = 0
    for value in keys.map({ place($0, range) }).sorted() {
      let distance = value - last
      last = value
      for _ in 0..<(distance >> lowBits) { write(true) }
      write(false)
      for shift in (0..<lowBits).reversed() { write(distance >> shift & 1 == 1) }
    }
    while used != 0 { write(true) }
    return bytes
  }

  init(decoding bytes: [UInt8]) {
    guard bytes.count >= 2 else {
      (range, values) = (0, [])
      return
    }
    let count = Int(bytes[0]) << 8 | Int(bytes[1])
    range = UInt64(count) << Self.lowBits
    var (place, last, found): (Int, UInt64, [UInt64]) = (16, 0, [])
    func bit() -> Bool? {
      guard place >> 3 < bytes.count else { return nil }
      defer { place += 1 }
      return bytes[place >> 3] >> UInt8(7 - place & 7) & 1 == 1
    }
    reading: while found.count < count {
      var distance: UInt64 = 0
      while true {
        guard let isMore = bit() else { break reading }
        guard isMore else { break }
        distance += 1 << Self.lowBits
      }
      var low: UInt64 = 0
      for _ in 0..<Self.lowBits {
        guard let one = bit() else { break reading }
        low = low << 1 | (one ? 1 : 0)
      }
      last += distance + low
      found.append(last)
    }
    values = found
  }

  func contains(_ key: UInt64) -> Bool {
    guard range > 0 else { return false }
    let value = Self.place(key, range)
    var (low, high) = (0, values.count)
    while low < high {
      let middle = (low + high) / 2
      if values[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low < values.count && values[low] == value
  }

  private static func place(_ key: UInt64, _ range: UInt64) -> UInt64 { range == 0 ? 0 : key % range }
}
