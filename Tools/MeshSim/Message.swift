internal import Routing
internal import WireFormat

/// Something that was said.
struct Message: Sendable {
  var source: Int
  var at: UInt64
  /// Nil for everybody.
  var destination: Int?
  var packet: Packet
  var id: PacketID
  /// Its row among the deliveries; −1 when nobody asks whom it reaches.
  var row: Int
  var isMeasured: Bool
  /// Of a receipt: the message that it answers.
  var answers: Int?
  /// The first receipt for it is back.
  var answeredAfter: UInt64?
  /// Links over which it went, in whole packets.
  var sends = 0
  var reached = 0
}

/// Which message reached which node, and after how long: a table of microseconds.
struct Deliveries: Sendable {
  private let nodes: Int
  private var table: [UInt32] = []
  private(set) var rows = 0

  init(nodes: Int) { self.nodes = nodes }

  mutating func addRow() -> Int {
    table.append(contentsOf: repeatElement(0, count: nodes))
    rows += 1
    return rows - 1
  }

  /// - Parameter latency: in nanoseconds.
  /// - Returns: false when it was there already.
  mutating func note(row: Int, node: Int, latency: UInt64) -> Bool {
    let place = row * nodes + node
    guard table[place] == 0 else { return false }
    table[place] = UInt32(clamping: latency / 1_000 + 1)
    return true
  }

  /// Microseconds; nil when it has not come.
  func latency(row: Int, node: Int) -> Int? {
    let value = table[row * nodes + node]
    return value == 0 ? nil : Int(value) - 1
  }
}

/// When a link was up.
struct LinkWindow: Sendable {
  var link: Int
  var from: UInt64
  var to: UInt64
}

/// What was counted. Sizes in bytes, with the seals.
struct Tally: Sendable {
  var frames = 0
  var payloadSends = 0
  var payloadBytes = 0
  var acknowledgmentBytes = 0
  var controlBytes = 0
  var lostFrames = 0
  var missedEvents = 0
  /// What the relays counted, in the order of `RelayCount.allCases`.
  var counts = [UInt64](repeating: 0, count: RelayCount.allCases.count)
  var overBudget = 0
  var refusedFrames = 0
  var repetitions = 0
  var receptions = 0
  var duplicates = 0
  var offers = 0
  var shownAgain = 0
  var queueFull = 0
  var linkDownDrops = 0
  var givenUp = 0
}
