import PowerCuts
import TestKit

/// One thing that is asked of a store, or done to its process.
enum Step: Sendable {
  case open
  /// A clean end of the process.
  case close
  /// Its end at once, and of the machine unless everything is left.
  case die(Leftover)
  case put([String: [UInt8]], isErasing: Bool)
  case remove([String])
  case get(String)
  case nextDay
  case advance
  case migrate
  case verify
  case rollback
  /// The process dies in the short time between two phases of one step, so that the next one starts in `copyAll`.
  case dieInCopyAll

  var word: String {
    switch self {
    case .open: "open"
    case .close: "close"
    case .die: "die"
    case .put(_, let isErasing): isErasing ? "put, erasing" : "put"
    case .remove: "remove"
    case .get: "get"
    case .nextDay: "next day"
    case .advance: "advance"
    case .migrate: "migrate"
    case .verify: "verify"
    case .rollback: "rollback"
    case .dieInCopyAll: "die in copyAll"
    }
  }
}

/// A node's store from its first start to long after its plain store is deleted, the way back and every phase included.
/// The same for the same seed.
struct Journey {
  private(set) var steps: [Step] = []
  private var choices: SeededGenerator
  private var counter: UInt64 = 0
  static let names = ["identity", "name", "icon", "peers", "clock", "sequence", "prekey.1", "prekey.2", "note"]

  private let isLosing: Bool
  private(set) var beginsSealed = false

  /// - Parameters:
  ///   - length: calls in each phase.
  ///   - isLosing: whether its own ends lose what is not synced, which a disk that does not keep its word cannot bear.
  init(seed: UInt64, length: Int, isLosing: Bool = true) {
    choices = SeededGenerator(seed: seed)
    self.isLosing = isLosing
    steps = [.open]
    calls(length)
    steps += [.die(.everything), .open]
    calls(length / 2)
    // The first step, some calls, and back.
    steps += [.advance]
    calls(length)
    steps += [.rollback]
    calls(length / 2)
    steps += [.die(isLosing ? .nothing : .everything), .open, .advance]
    calls(length / 3)
    steps += [.migrate]
    calls(length)
    restart()
    calls(length / 2)
    steps += [.verify, .nextDay, .advance]
    calls(length)
    restart()
    steps += [.verify]
    calls(length / 3)
    steps += [.nextDay, .dieInCopyAll, .open]
    calls(length)
    restart(isAdvancing: false)
    steps += [.verify]
    if seed.isMultiple(of: 2) {
      // Back from the last phase that has a way back, and all of it again.
      steps += [.rollback]
      calls(length / 3)
      steps += [.migrate]
      calls(length / 3)
      steps += [.nextDay, .advance]
      calls(length / 3)
      steps += [.nextDay, .advance]
    } else {
      steps += [.advance]
    }
    calls(length)
    restart()
    calls(length / 2)
    steps += [.verify, .close]
  }

  /// A node that begins sealed, as `init` makes it: there never is a plain store.
  static func sealed(seed: UInt64, length: Int) -> Journey {
    var journey = Journey(seed: seed, length: 0)
    journey.beginsSealed = true
    journey.steps = [.open]
    journey.calls(length)
    journey.restart()
    journey.calls(length)
    journey.restart()
    journey.steps += [.verify, .close]
    return journey
  }

  private mutating func restart(isAdvancing: Bool = true) {
    let isClean = Bool.random(using: &choices)
    let leftover = Leftover.some(seed: choices.next())
    steps.append(isClean ? .close : .die(isLosing ? leftover : .everything))
    steps += isAdvancing ? [.open, .advance] : [.open]
  }

  private mutating func calls(_ count: Int) {
    for _ in 0..<count {
      switch choices.next() % 16 {
      case 0...5: steps.append(.put(values(1), isErasing: false))
      case 6: steps.append(.put(values(3), isErasing: false))
      case 7, 8: steps.append(.put(values(1), isErasing: true))
      case 9: steps.append(.put(values(2), isErasing: true))
      case 10, 11: steps.append(.remove([name()]))
      case 12: steps.append(.remove([name(), name()]))
      default: steps.append(.get(name()))
      }
    }
  }

  /// At most so many.
  private mutating func values(_ count: Int) -> [String: [UInt8]] {
    var values: [String: [UInt8]] = [:]
    for _ in 0..<count { values[name()] = value() }
    return values
  }

  private mutating func name() -> String { Self.names[Int(choices.next() % UInt64(Self.names.count))] }

  /// Never the same twice; some are longer than a page.
  private mutating func value() -> [UInt8] {
    counter += 1
    let count = choices.next() % 24 == 0 ? 5_000 : Int(choices.next() % 200)
    let fill = UInt8(truncatingIfNeeded: choices.next())
    return Array("\(counter).".utf8) + [UInt8](repeating: fill, count: count)
  }
}
