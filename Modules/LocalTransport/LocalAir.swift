internal import Arguments
internal import Glibc

/// What the air between nodes of one directory does, as its files say.
///
/// * `NAME.place` holds where a node is and how far it reaches: `x`, `y`, `range` in metres, each a number.
/// * `air.ini` holds what happens to frames everywhere, in section `[air]`, and between two nodes, in `[air A B]`:
///   `loss` (0 to 1), `delay` and `jitter` (milliseconds), `frame-size` (bytes, 1 to 4,096), `broken` (yes or no).
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
    let former = (everywhere: everywhere, pairs: pairs)
    everywhere = Self.conditions(document, section: "air", over: Conditions(), former: former.everywhere)
    pairs = [:]
    for section in document.sections {
      let words = section.name.split(separator: " ")
      guard words.count == 3, words[0] == "air" else { continue }
      let pair = Self.key(String(words[1]), String(words[2]))
      pairs[pair] = Self.conditions(
        document, section: section.name, over: everywhere, former: former.pairs[pair] ?? former.everywhere)
    }
    return true
  }

  /// Takes over the content of a node's place; bytes that are none change nothing.
  package mutating func read(place bytes: [UInt8], of name: String) -> Bool {
    guard let document = try? INIDocument.parse(bytes) else { return false }
    let former = places[name] ?? Place()
    func number(_ key: String, absent: Double, former: Double, isValid: (Double) -> Bool = { _ in true }) -> Double {
      guard let text = document.value("", key) else { return absent }
      guard let value = Self.finite(text), isValid(value) else { return former }
      return value
    }
    places[name] = Place(
      x: number("x", absent: 0, former: former.x), y: number("y", absent: 0, former: former.y),
      range: number("range", absent: .infinity, former: former.range) { $0 >= 0 })
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
    // Places may be further apart than a number can say.
    Int8(clamping: Int(max(-128, -40 - 25 * log10(max(1, distance(one, other)))).rounded()))
  }

  package static func text(_ place: Place) -> String {
    "x = \(place.x)\ny = \(place.y)\n" + (place.range.isFinite ? "range = \(place.range)\n" : "")
  }

  private static func conditions(
    _ document: INIDocument, section: String, over base: Conditions, former: Conditions
  ) -> Conditions {
    func number(_ key: String, _ range: ClosedRange<Double>, _ field: KeyPath<Conditions, Double>) -> Double {
      guard let text = document.value(section, key) else { return base[keyPath: field] }
      guard let value = finite(text), range.contains(value) else { return former[keyPath: field] }
      return value
    }
    var conditions = base
    conditions.loss = number("loss", 0...1, \.loss)
    conditions.delayMilliseconds = number("delay", 0...60_000, \.delayMilliseconds)
    conditions.jitterMilliseconds = number("jitter", 0...60_000, \.jitterMilliseconds)
    conditions.frameSize = Int(number("frame-size", 1...4_096, \.frameBytes))
    switch document.value(section, "broken") {
    case "yes", "true", "on", "1": conditions.isBroken = true
    case "no", "false", "off", "0": conditions.isBroken = false
    case nil: break
    default: conditions.isBroken = former.isBroken
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

extension LocalAir.Conditions {
  /// Frames go straight to the socket.
  var isPlain: Bool { loss == 0 && delayMilliseconds == 0 && jitterMilliseconds == 0 }

  fileprivate var frameBytes: Double { Double(frameSize) }
}
