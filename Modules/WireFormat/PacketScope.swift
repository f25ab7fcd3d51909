/// How far this copy of a packet for one node is to go. Written by whoever sends the copy, so it may lie; it is no part of what
/// the packet is, and a wider copy of a packet that was passed on before is passed on once more.
package enum PacketScope: UInt8, Hashable, Sendable, CaseIterable, Comparable {
  /// To every link that does not have it. What nodes without lanes say and understand.
  case everybody = 0
  /// To one neighbour: the next one towards its destination.
  case lane = 1
  /// To one neighbour as well; by a way of its own where the first one has brought no answer.
  case lanes = 2

  private var width: UInt8 { self == .everybody ? 3 : rawValue }

  /// Narrower goes before wider.
  package static func < (left: PacketScope, right: PacketScope) -> Bool { left.width < right.width }
}
