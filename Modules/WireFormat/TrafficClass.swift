/// In which order a link sends, and what it drops first when it cannot: the last class, the oldest in it.
package enum TrafficClass: UInt8, CaseIterable, Comparable, Sendable {
  case control, personal, `public`, bulk

  package static func < (one: TrafficClass, other: TrafficClass) -> Bool { one.rawValue < other.rawValue }
}
