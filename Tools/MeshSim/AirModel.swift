/// The radio, in numbers: how long a frame is in the air and when a link may speak.
///
/// A link speaks at its connection events and is silent in between. In one event frames go back and forth until nothing
/// waits or the event is over. A frame is split into link-layer units of at most 251 bytes; each takes its data, the
/// answer and two inter-frame spaces (Bluetooth Core, Vol 6 Part B, 4.1.1 and 4.5). All times are in nanoseconds, all
/// sizes in bytes.
package struct AirModel: Sendable {
  package enum Latency: Sendable {
    /// A link keeps its phase, with a drift of up to 20 ppm.
    case fixedPhase
    /// The event of each interval lies anywhere in it: what is left of a phase when controllers move events about.
    case memoryless
  }

  /// Shortest and longest connection interval; a link has one of its own when they differ.
  package var intervals: ClosedRange<UInt64> = 30_000_000...30_000_000
  package var latency = Latency.fixedPhase
  /// What one frame of the transport carries: an ATT value.
  package var attPayload = 244
  /// Frames that the transport holds for one link.
  package var queuedFrames = 64
  /// Frames that are lost although the link is up, in one of 1,000,000.
  package var lossMillionths: UInt64 = 0
  /// Bursts in which all is lost: mean length of a burst, mean time between two; nil for none.
  package var bursts: (length: UInt64, gap: UInt64)?
  /// A node serves one link at a time and misses the events of the others meanwhile. False for the model of ideal
  /// radios, which knows latency only.
  package var isRadioExclusive = true
  /// Set-up of a connection.
  package var setUp: ClosedRange<UInt64> = 500_000_000...2_000_000_000

  package init() {}

  /// Bytes that a sealed frame has beyond its content: length 2, counter 8, tag 16.
  static let sealByteCount = 26
  /// Smallest frame a link may have; smaller ones are refused.
  static let smallestFrame = 64
  private static let space: UInt64 = 150_000
  private static let longestUnit = 251
  /// Preamble, access address, header, CRC; L2CAP and ATT heads come once for each frame.
  private static let unitOverhead = 10
  private static let frameOverhead = 7

  /// The air of one direction of an exchange.
  static func air(unit byteCount: Int) -> UInt64 { UInt64(byteCount + unitOverhead) * 8_000 }

  /// What an exchange takes in which `forward` bytes go one way and `backward` the other; nil for a side that has
  /// nothing and only acknowledges.
  package static func exchange(_ forward: Int?, _ backward: Int?) -> UInt64 {
    var (left, right) = (forward.map { $0 + frameOverhead } ?? 0, backward.map { $0 + frameOverhead } ?? 0)
    var time: UInt64 = 0
    repeat {
      let (one, other) = (min(left, longestUnit), min(right, longestUnit))
      time += air(unit: one) + space + air(unit: other) + space
      left -= one
      right -= other
    } while left > 0 || right > 0
    return time
  }
}

/// When the events of one link are.
struct LinkClock: Sendable {
  var phase: UInt64
  var interval: UInt64
  var seed: UInt64
  var isMemoryless: Bool

  init(_ air: AirModel, generator: inout some RandomNumberGenerator) {
    let base =
      air.intervals.lowerBound == air.intervals.upperBound
      ? air.intervals.lowerBound
      // Bluetooth counts intervals in units of 1.25 ms.
      : UInt64.random(
        in: air.intervals.lowerBound / 1_250_000...air.intervals.upperBound / 1_250_000, using: &generator)
        * 1_250_000
    let millionth = base / 1_000_000
    isMemoryless = air.latency == .memoryless
    interval = base + UInt64.random(in: 0...40 * millionth, using: &generator) - 20 * millionth
    phase = UInt64.random(in: 0..<base, using: &generator)
    seed = UInt64.random(in: 0...UInt64.max, using: &generator)
  }

  /// The first event at `time` or after it.
  @inline(__always)
  func next(from time: UInt64) -> UInt64 {
    guard isMemoryless else {
      guard time > phase else { return phase }
      return phase &+ (time &- phase &+ interval &- 1) / interval &* interval
    }
    let number = time / interval
    let event = anchor(number)
    return event >= time ? event : anchor(number &+ 1)
  }

  private func anchor(_ number: UInt64) -> UInt64 {
    var mixed = seed &+ number &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return number &* interval &+ (mixed ^ (mixed >> 31)) % interval
  }
}
