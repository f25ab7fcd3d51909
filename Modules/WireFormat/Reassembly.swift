internal import Bytes

/// Makes packets of fragments, per link and packet. Bounded in number, memory and time; nothing is taken on the word of
/// a count, and what is complete must have the ID that its key says.
///
/// Call `receive` for every fragment, and `missing` and `expire` when `nextDeadline` has come. Times are milliseconds
/// on any clock; one that goes back only delays.
package struct Reassembly: Sendable {
  private struct LinkState: Sendable {
    var buffers: [UInt64: ReassemblyBuffer] = [:]
    var charge = 0
    /// A ring of the packets completed last.
    var completed: [UInt64] = []
    var nextCompleted = 0
    var windowStart: UInt64 = 0
    var requestsInWindow = 0

    func longestWaiting(except key: UInt64?) -> UInt64? {
      buffers.filter { $0.key != key }.min { ($0.value.progress, $0.key) < ($1.value.progress, $1.key) }?.key
    }

    mutating func remember(_ key: UInt64) {
      if completed.count < WireLimits.completedPerLink {
        completed.append(key)
      } else {
        completed[nextCompleted] = key
        nextCompleted = (nextCompleted + 1) % WireLimits.completedPerLink
      }
    }
  }

  private var links: [UInt64: LinkState] = [:]
  /// Memory that all pieces answer for, in bytes.
  package private(set) var charge = 0

  package init() {}

  /// Packets in pieces.
  package var bufferCount: Int { links.values.reduce(0) { $0 + $1.buffers.count } }

  package func bufferCount(link: UInt64) -> Int { links[link]?.buffers.count ?? 0 }

  package func charge(link: UInt64) -> Int { links[link]?.charge ?? 0 }

  /// Takes one fragment that came over `link`.
  package mutating func receive(
    _ head: FragmentHead, data: RawSpan, link: UInt64, now: UInt64, identifier: inout PacketIdentifier
  ) -> ReassemblyResult {
    var state = links.removeValue(forKey: link) ?? LinkState()
    var dropped: [DroppedReassembly] = []
    let outcome = insert(head, data, link: link, now: now, into: &state, dropped: &dropped, identifier: &identifier)
    links[link] = state
    while charge > WireLimits.bufferedByteCount, let victim = dropFromHeaviest(except: (link, head.key)) {
      dropped.append(victim)
    }
    return ReassemblyResult(outcome: outcome, dropped: dropped)
  }

  /// Gives up what had no new fragment for 30 s.
  package mutating func expire(now: UInt64) -> [DroppedReassembly] {
    var dropped: [DroppedReassembly] = []
    for link in links.keys.sorted() {
      var state = links.removeValue(forKey: link) ?? LinkState()
      let stale = state.buffers.filter { now >= $0.value.progress &+ WireLimits.reassemblyPatience }.keys.sorted()
      for key in stale { remove(key, link: link, from: &state, reason: .timedOut, into: &dropped) }
      links[link] = state
    }
    return dropped
  }

  /// The fragments to ask for now: of packets that were quiet long enough, at most eight requests a second and link,
  /// each with at most `rangeLimit` ranges so that it fits a frame of that link.
  package mutating func missing(
    now: UInt64, rangeLimit: Int = WireLimits.smallestRequestRangeCount
  ) -> [MissingFragments] {
    var requests: [MissingFragments] = []
    let limit = min(max(rangeLimit, 1), WireLimits.requestedRangeCount)
    for link in links.keys.sorted() {
      var state = links.removeValue(forKey: link) ?? LinkState()
      if now >= state.windowStart &+ 1_000 || now < state.windowStart {
        state.windowStart = now
        state.requestsInWindow = 0
      }
      let due = state.buffers.filter { now >= $0.value.requestDue }
        .sorted { ($0.value.requestDue, $0.key) < ($1.value.requestDue, $1.key) }
      for (key, buffer) in due where state.requestsInWindow < WireLimits.requestsPerSecond {
        requests.append(MissingFragments(link: link, key: key, ranges: buffer.missing(limit: limit)))
        state.buffers[key]?.noteRequest(now: now)
        state.requestsInWindow += 1
      }
      links[link] = state
    }
    return requests
  }

  /// The link is gone, and with it what came over it. Returns how many packets were in pieces.
  @discardableResult
  package mutating func drop(link: UInt64) -> Int {
    guard let state = links.removeValue(forKey: link) else { return 0 }
    charge -= state.charge
    return state.buffers.count
  }

  /// When `missing` or `expire` has something to do, or nothing while no packet is in pieces.
  package var nextDeadline: UInt64? {
    var earliest: UInt64?
    for state in links.values {
      for buffer in state.buffers.values {
        let request =
          state.requestsInWindow < WireLimits.requestsPerSecond
          ? buffer.requestDue : max(buffer.requestDue, state.windowStart &+ 1_000)
        let deadline = min(request, buffer.progress &+ WireLimits.reassemblyPatience)
        earliest = min(earliest ?? deadline, deadline)
      }
    }
    return earliest
  }

  private mutating func insert(
    _ head: FragmentHead, _ data: RawSpan, link: UInt64, now: UInt64, into state: inout LinkState,
    dropped: inout [DroppedReassembly], identifier: inout PacketIdentifier
  ) -> FragmentOutcome {
    let isNew = state.buffers[head.key] == nil
    if isNew, state.completed.contains(head.key) { return .late }
    var buffer = state.buffers.removeValue(forKey: head.key) ?? ReassemblyBuffer(count: head.count, now: now)
    let before = isNew ? 0 : buffer.charge
    let insertion = buffer.insert(head, data, now: now)
    if isNew, case .refused(let refusal) = insertion { return .refused(refusal) }
    if insertion == .complete {
      state.charge -= before
      charge -= before
      return complete(buffer, head.key, link: link, in: &state, dropped: &dropped, identifier: &identifier)
    }
    state.charge += buffer.charge - before
    charge += buffer.charge - before
    state.buffers[head.key] = buffer
    while state.buffers.count > WireLimits.buffersPerLink, let oldest = state.longestWaiting(except: head.key) {
      remove(oldest, link: link, from: &state, reason: .tooManyBuffers, into: &dropped)
    }
    while state.charge > WireLimits.bufferedByteCountPerLink, let oldest = state.longestWaiting(except: head.key) {
      remove(oldest, link: link, from: &state, reason: .linkMemory, into: &dropped)
    }
    switch insertion {
    case .inserted, .complete: return .kept
    case .duplicate: return .duplicate
    case .refused(let refusal): return .refused(refusal)
    }
  }

  private func complete(
    _ buffer: ReassemblyBuffer, _ key: UInt64, link: UInt64, in state: inout LinkState,
    dropped: inout [DroppedReassembly], identifier: inout PacketIdentifier
  ) -> FragmentOutcome {
    func drop(_ reason: ReassemblyDrop) -> FragmentOutcome {
      dropped.append(DroppedReassembly(link: link, key: key, reason: reason, byteCount: buffer.byteCount))
      return .dropped
    }
    let packet: Packet
    do { packet = try Packet(decoding: buffer.assembled()) } catch { return drop(.notAPacket(error)) }
    let id: PacketID
    do { id = try identifier.id(of: packet) } catch { return drop(.noDigest) }
    guard id.key == key else { return drop(.wrongKey) }
    state.remember(key)
    return .completed(packet, id)
  }

  private mutating func remove(
    _ key: UInt64, link: UInt64, from state: inout LinkState, reason: ReassemblyDrop,
    into dropped: inout [DroppedReassembly]
  ) {
    guard let buffer = state.buffers.removeValue(forKey: key) else { return }
    state.charge -= buffer.charge
    charge -= buffer.charge
    dropped.append(DroppedReassembly(link: link, key: key, reason: reason, byteCount: buffer.byteCount))
  }

  private mutating func dropFromHeaviest(except current: (link: UInt64, key: UInt64)) -> DroppedReassembly? {
    let byWeight = links.sorted { ($0.value.charge, $1.key) > ($1.value.charge, $0.key) }
    for (link, state) in byWeight {
      let spared = link == current.link ? current.key : nil
      if let key = state.longestWaiting(except: spared), var owner = links.removeValue(forKey: link) {
        var dropped: [DroppedReassembly] = []
        remove(key, link: link, from: &owner, reason: .totalMemory, into: &dropped)
        links[link] = owner
        return dropped.first
      }
    }
    return nil
  }
}
