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
    reconciler.receive(
      frame, from: slot, carry.set, now: now, isKnown: { [carry, met] in carry.hasMet($0) || met.contains($0) },
      into: &found)
    carryOut(found, into: &actions)
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
        sendBacklog(slot, backlog.add(slot, keys: lacked), into: &actions)
      }
    }
  }
}
