internal import WireFormat

/// Takes what earlier runs have seen, group after group, newest first, and tells on the clock of this run when it was.
///
/// Within a run the monotonic clock says how far two saves lie apart. Between two runs only the time of day can, and it is
/// believed where it was known to be right at both ends; elsewhere no time counts as passed. So a packet may be
/// remembered for longer than the horizon and never for less. The watermark goes with it: where a table was full and
/// nobody keeps the clock, what was made while the node was away may be refused as too old.
package struct SeenLoad: Sendable {
  /// A group, placed on the clock of this run.
  package struct Placed: Sendable {
    var group: SeenGroup
    /// How many seconds before the start of this run it was saved.
    var age: UInt64
    var now: UInt64

    /// Zero when nothing had been forgotten within the horizon.
    package var watermarkSecond: UInt64 {
      group.watermarkAgeSeconds.map { now - min(now, age.saturatingAdd(UInt64($0))) } ?? 0
    }

    /// Calls `take` with the ID, the second and the hops left of each packet within the horizon.
    func forEach(_ take: (PacketID, UInt64, UInt8) -> Bool) -> Outcome {
      var outcome = Outcome()
      for entry in group.entries {
        let entryAge = age.saturatingAdd(UInt64(entry.ageSeconds))
        guard entryAge < RoutingLimits.dedupHorizonSeconds else {
          outcome.expired += 1
          continue
        }
        // At least a second before this run, so that the two can be told apart.
        let second = now - min(now, max(1, entryAge))
        if take(entry.id, second, entry.hopsLeft) {
          outcome.taken += 1
        } else {
          outcome.leftOut += 1
          outcome.leftOutSecond = max(outcome.leftOutSecond, second)
        }
        outcome.newestSecond = max(outcome.newestSecond, second)
      }
      return outcome
    }
  }

  struct Outcome: Sendable {
    var taken = 0
    var expired = 0
    var leftOut = 0
    var leftOutSecond: UInt64 = 0
    var newestSecond: UInt64 = 0
  }

  /// Now, on the clock of this run's table.
  package let second: UInt64
  private let wallMilliseconds: UInt64
  private let isClockSynchronised: Bool
  private var later: (run: UInt64, second: UInt64, wall: UInt64, isRight: Bool)?
  private var age: UInt64 = 0
  /// The group that is being taken.
  private var current: (number: Int64, count: Int)?
  /// The groups on disk that hold something, newest first.
  private(set) var kept: [SeenHistory.Kept] = []
  private(set) var highestNumber: Int64 = 0

  /// Packets that are remembered now.
  package private(set) var taken = 0
  /// Packets from before the horizon.
  package private(set) var expired = 0
  /// Packets for which there was no room: the oldest.
  package private(set) var leftOut = 0
  /// Groups that did not open, or are none.
  package private(set) var damaged = 0
  /// The second of the newest packet left out.
  package private(set) var leftOutSecond: UInt64 = 0

  /// - Parameters:
  ///   - second: now, as `RelayState.second` tells it.
  ///   - wallMilliseconds: the time of day.
  ///   - isClockSynchronised: whether it is known to be right.
  package init(second: UInt64, wallMilliseconds: UInt64, isClockSynchronised: Bool) {
    self.second = second
    self.wallMilliseconds = wallMilliseconds
    self.isClockSynchronised = isClockSynchronised
  }

  /// - Returns: nil for a group that is damaged.
  mutating func take(_ bytes: [UInt8]?, number: Int64) -> Placed? {
    highestNumber = max(highestNumber, number)
    guard let bytes, let group = SeenGroup(decoding: bytes) else {
      damaged += 1
      return nil
    }
    if let later, later.run == group.run {
      age = age.saturatingAdd(later.second - min(later.second, group.second))
    } else if later?.isRight ?? isClockSynchronised, group.isClockSynchronised {
      let wall = later?.wall ?? wallMilliseconds
      age = age.saturatingAdd((wall - min(wall, group.wallMilliseconds)) / 1_000)
    }
    later = (group.run, group.second, group.wallMilliseconds, group.isClockSynchronised)
    current = (number, group.entries.count)
    return Placed(group: group, age: age, now: second)
  }

  mutating func inserted(_ outcome: Outcome) {
    taken += outcome.taken
    expired += outcome.expired
    leftOut += outcome.leftOut
    leftOutSecond = max(leftOutSecond, outcome.leftOutSecond)
    guard let current, outcome.newestSecond > 0 else { return }
    kept.append(SeenHistory.Kept(number: current.number, count: current.count, newestSecond: outcome.newestSecond))
  }
}

extension UInt64 {
  func saturatingAdd(_ other: UInt64) -> UInt64 {
    let (sum, isOver) = addingReportingOverflow(other)
    return isOver ? .max : sum
  }
}
