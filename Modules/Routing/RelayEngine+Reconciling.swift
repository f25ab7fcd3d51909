internal import Streams
internal import WireFormat

/// What neighbours lack of each other's packets: compared when a link comes up and again and again, found, and sent. What
/// comes so is new to this node and goes on its way like anything new.
extension RelayEngine {
  mutating func compare(now: MonotonicTime, wallMilliseconds: UInt64, into actions: inout [RelayAction]) {
    guard reconciler.deadline <= now else { return }
    carry.purge(now: now)
    var found: [Reconciler.Action] = []
    reconciler.tick(carry.set, now: now, wallMilliseconds: wallMilliseconds, into: &found)
    carryOut(found, into: &actions)
  }

  mutating func reconcile(
    _ frame: ReconciliationFrame, from slot: Int, now: MonotonicTime, into actions: inout [RelayAction]
  ) {
    var found: [Reconciler.Action] = []
    var onLane: [UInt64] = []
    reconciler.receive(
      frame, from: slot, carry.set, now: now,
      isKnown: { [carry, met] key in
        if let held = carry[key], held.scope != .everybody { onLane.append(key) }
        return carry.hasMet(key) || met.contains(key)
      }, into: &found)
    carryOut(found, into: &actions)
    // The neighbour has them for everybody.
    if !onLane.isEmpty { widen(onLane, to: .everybody, toldBy: slot, now: now, into: &actions) }
  }

  private mutating func carryOut(_ found: [Reconciler.Action], into actions: inout [RelayAction]) {
    for action in found {
      switch action {
      case .send(let frame, let slot): actions.append(.control(slot: slot, .reconciliation(frame)))
      case .count(let reason, let number): actions.append(.count(reason, number))
      case .push(let keys, let slot, let isAsked):
        // What it has taken over once, and does not keep, it has forgotten: it is not sent round after round.
        let lacked = keys.filter { key in
          carry[key].map { isAsked || !$0.holders.contains(slot) } ?? false
        }
        if !isAsked {
          // What it may have for a lane only, it is to have for everybody.
          let having = keys.filter { key in
            guard let packet = carry[key] else { return false }
            return packet.holders.contains(slot) && (packet.kind == .personal || packet.kind == .receipt)
          }
          for start in stride(from: 0, to: having.count, by: WireLimits.acknowledgedKeyCount) {
            let some = having[start..<min(start + WireLimits.acknowledgedKeyCount, having.count)]
            actions.append(.control(slot: slot, .widen(.everybody, Array(some))))
          }
        }
        sendBacklog(slot, backlog.add(slot, keys: lacked), into: &actions)
      }
    }
  }
}
