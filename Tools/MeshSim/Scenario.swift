internal import TestKit

/// A mesh, what happens to it, and what is said in it. Times are in nanoseconds since the start.
package struct Scenario: Sendable {
  package struct Load: Sendable {
    /// Messages a second, in a thousandth.
    package var perThousandSeconds: UInt64 = 1_000
    /// The node that says all of them; nil for any.
    package var source: Int?
    /// Every node says so many messages in the warm-up, as a node does that sends its card when it starts.
    package var introductions = 0
    /// Bytes of a message, the signature not counted.
    package var bodyBytes = 120
    /// Every message is for one other node, which answers with a receipt, as a session does.
    package var isPrivate = false
    /// People who chat, instead of one message after the other.
    package var chat: Chat?
  }

  /// Of 1,000 messages so many are for one node each, have 1 to 10 kB, and are as large as a packet may be; all others are
  /// public and have at most 120 bytes. Each is one of a burst of its sender, and of two senders the one of the lower rank
  /// speaks more often by as much as its rank is lower.
  package struct Chat: Sendable {
    package var personal = 150
    package var pages = 40
    package var files = 10
    package var burst = 5
    /// Messages a second within the peak, which lasts a thirtieth of the time; outside there is what is left of the load.
    package var peak: UInt64 = 20

    package init() {}
  }

  package struct Breaks: Sendable {
    /// Mean time between two breaks of one link.
    package var meanTime: UInt64
    package var back: ClosedRange<UInt64>
  }

  package struct Churn: Sendable {
    package var meanStay: UInt64
    package var meanAbsence: UInt64
  }

  /// Every second some links end, and their nodes find others.
  package struct Replacement: Sendable {
    package var percent: Int
  }

  /// Links that go down and up at given times.
  package struct Switch: Sendable {
    package var at: UInt64
    /// Indices of the topology's edges.
    package var edges: [Int]
    package var isUp: Bool
  }

  package struct Walk: Sendable {
    /// Side of the square, range, in metres.
    package var side: Double
    package var range: Double
    package var cap: Int
    /// Metres a second.
    package var speed: ClosedRange<Double>
    /// Seconds.
    package var pause: ClosedRange<Double>
  }

  /// A node that stops and starts again.
  package struct Restart: Sendable {
    package var at: UInt64
    package var node: Int
    package var keepsMemory: Bool
  }

  package enum Hostility: Sendable {
    /// Sends what it has received again, so many a second.
    case replay(perSecond: UInt64)
    /// Says new messages of its own, so many a second.
    case flood(perSecond: UInt64)
    /// Writes every node it knows of into the route of what it passes on.
    case forgeRoutes
    /// Takes everything and passes nothing on.
    case blackHole
    /// Passes everything on but what is for one node.
    case swallow
    /// Sends junk under the identity of what it has received, ahead of it.
    case squat
  }

  package var name: String
  package var summary: String
  package var topology: Topology
  package var air = AirModel()
  package var load = Load()
  package var warmUp: UInt64 = 60_000_000_000
  /// How long messages are said that are measured.
  package var measured: UInt64 = 60_000_000_000
  /// How long the last ones may take.
  package var drain: UInt64 = 10_000_000_000
  package var breaks: Breaks?
  package var churn: Churn?
  package var walk: Walk?
  package var replacement: Replacement?
  package var switches: [Switch] = []
  package var restarts: [Restart] = []
  /// Edges that are not there at the start.
  package var downAtStart: [Int] = []
  /// Links a node has at most, where links are made while it runs.
  package var cap = 7
  package var hostility: Hostility?
  package var hostileNodes: [Int] = []
  /// Nodes write themselves into routes, four bytes each; the rivals' packets have none and stay within one frame.
  package var isNamedInRoutes = true
  /// Of a hundred nodes so many know the first rules only.
  package var percentWithoutTrees = 0
  /// When parts are joined: latency counts from here for what was said before.
  package var joinsAt: UInt64?

  package init(name: String, summary: String, topology: Topology) {
    self.name = name
    self.summary = summary
    self.topology = topology
  }

  /// Spread evenly over the numbers, which say nothing about the places.
  func isWithoutTrees(_ node: Int) -> Bool { (node &* 37) % 100 < percentWithoutTrees }

  package var end: UInt64 { warmUp + measured + drain }

  /// A generator of its own for each use, so that one more random number in one place changes nothing in another.
  static func generator(_ seed: UInt64, _ use: UInt64) -> SeededGenerator {
    SeededGenerator(seed: seed &* 0x2545_F491_4F6C_DD1D &+ use)
  }
}

extension Scenario {
  /// The virtual time of day, nanoseconds after the start: it begins on 1 January 2026.
  static func wallMilliseconds(_ nanoseconds: UInt64) -> UInt64 { 1_767_225_600_000 &+ nanoseconds / 1_000_000 }
}
