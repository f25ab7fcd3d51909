internal import Arguments
internal import Glibc

/// What the air between nodes of one directory does, as its files say.
///
/// * `NAME.place` holds where a node is and how far it reaches: `x`, `y`, `range` in metres, each a number.
/// * `air.ini` holds what happens to frames everywhere, in section `[air]`, and between two nodes, in `[air A B]`:
///   `loss` (0 to 1), `delay` and `jitter` (milliseconds), `frame-size` (bytes, 64 to 4,096), `broken` (yes or no).
///
/// Files may be changed while nodes run; a value that cannot be understood leaves the former one in force.
package struct LocalAir: Sendable, Equatable {
  package struct Conditions: Sendable, Equatable {
    package var loss = 0.0
    package var delayMilliseconds = 0.0
    package var jitterMilliseconds = 0.0
    package var frameSize = LocalTransportLimits.frameSize
    package var isBroken = false
  }

  package struct Place: Sendable, Equatable {
    package var x = 0.0
    package var y = 0.0
    /// Without a range a node reaches everybody.
    package var range = Double.infinity

    package init(x: Double = 0, y: Double = 0, range: Double = .infinity) {
      self.x = x
      self.y = y
      self.range = range
    }
  }

  package var places: [String: Place] = [:]
  private var everywhere = Conditions()
  private var pairs: [String: Conditions] = [:]

  package init() {}

  /// Takes over the content of `air.ini`; bytes that are no INI file change nothing.
  ///
  /// - Returns: whether they were understood.
  package mutating func read(air bytes: [UInt8]) -> Bool {
    guard let document = try? INIDocument.parse(bytes) else { return false }
    everywhere = Self.conditions(document, section: "air", over: Conditions())
    pairs = [:]
    for section in document.sections {
      let words = section.name.split(separator: " ")
      guard words.count == 3, words[0] == "air" else { continue }
      pairs[Self.key(String(words[1]), String(words[2]))] = Self.conditions(
        document, section: section.name, over: everywhere)
    }
    return true
  }

  /// Takes over the content of a node's place; bytes that are none change nothing.
  package mutating func read(place bytes: [UInt8], of name: String) -> Bool {
    guard let document = try? INIDocument.parse(bytes) else { return false }
    func number(_ key: String) -> Double? { document.value("", key).flatMap(Self.finite) }
    var place = Place(x: number("x") ?? 0, y: number("y") ?? 0)
    if let range = number("range"), range >= 0 { place.range = range }
    places[name] = place
    return true
  }

  package func conditions(between one: String, _ other: String) -> Conditions {
    pairs[Self.key(one, other)] ?? everywhere
  }

  /// Metres between two nodes whose place is known.
  package func distance(_ one: String, _ other: String) -> Double {
    let (first, second) = (places[one] ?? Place(), places[other] ?? Place())
    return hypot(first.x - second.x, first.y - second.y)
  }

  /// Whether two nodes hear each other: near enough for both, and the link between them not broken.
  package func isInReach(_ one: String, _ other: String) -> Bool {
    guard !conditions(between: one, other).isBroken else { return false }
    let reach = min(places[one]?.range ?? .infinity, places[other]?.range ?? .infinity)
    return distance(one, other) <= reach
  }

  /// Signal strength at a distance, in dBm: −40 at one metre, falling with the power of 2.5.
  package func signalStrength(_ one: String, _ other: String) -> Int8 {
    Int8(clamping: Int((-40 - 25 * log10(max(1, distance(one, other)))).rounded()))
  }

  package static func text(_ place: Place) -> String {
    "x = \(place.x)\ny = \(place.y)\n" + (place.range.isFinite ? "range = \(place.range)\n" : "")
  }

  private static func conditions(
    _ document: INIDocument, section: String, over base: Conditions
  ) -> Conditions {
    var conditions = base
    func number(_ key: String, _ range: ClosedRange<Double>) -> Double? {
      document.value(section, key).flatMap(finite).flatMap { range.contains($0) ? $0 : nil }
    }
    conditions.loss = number("loss", 0...1) ?? base.loss
    conditions.delayMilliseconds = number("delay", 0...60_000) ?? base.delayMilliseconds
    conditions.jitterMilliseconds = number("jitter", 0...60_000) ?? base.jitterMilliseconds
    conditions.frameSize = number("frame-size", 1...4_096).map { Int($0) } ?? base.frameSize
    if let broken = document.value(section, "broken") {
      conditions.isBroken = ["yes", "true", "on", "1"].contains(broken)
    }
    return conditions
  }

  private static func finite(_ text: String) -> Double? {
    Double(text).flatMap { $0.isFinite ? $0 : nil }
  }

  private static func key(_ one: String, _ other: String) -> String {
    one < other ? "\(one) \(other)" : "\(other) \(one)"
  }
}
