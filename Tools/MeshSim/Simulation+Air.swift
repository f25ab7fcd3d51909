internal import Bytes
internal import Links
internal import Routing
internal import Streams
internal import WireFormat

/// From the transport of one node to that of another.
extension Simulation {
  /// The next event of a link at which something can go.
  @inline(__always)
  mutating func schedule(_ link: Int, from time: UInt64) {
    let at = links[link].clock.next(from: max(time, links[link].busyUntil))
    guard at < links[link].eventAt else { return }
    links[link].eventAt = at
    queue.add(.anchor, at: at, link)
  }

  /// A connection event: frames go both ways until nothing waits or the next event is near.
  mutating func anchor(_ link: Int) {
    guard links[link].isUp, links[link].eventAt == now else { return }
    links[link].eventAt = .max
    let (one, other) = (2 * link, 2 * link + 1)
    guard !queues[one].isEmpty || !queues[other].isEmpty else { return }
    let (central, peripheral) = (links[link].central, links[link].peripheral)
    if scenario.air.isRadioExclusive,
      radios[central].busyUntil > now || radios[peripheral].busyUntil > now
    {
      // The radio is with another neighbour: this event is missed.
      tally.missedEvents += 1
      schedule(link, from: now + 1)
      return
    }
    let close = links[link].clock.next(from: now + 1)
    var time = now
    while true {
      let forward = queues[one].first.map { frames.content($0).count + AirModel.sealByteCount }
      let backward = queues[other].first.map { frames.content($0).count + AirModel.sealByteCount }
      guard forward != nil || backward != nil else { break }
      let duration = AirModel.exchange(forward, backward)
      // At least one exchange goes, however long.
      guard time == now || time + duration <= close else { break }
      time += duration
      if forward != nil { leave(one, over: link, to: other, at: time) }
      if backward != nil { leave(other, over: link, to: one, at: time) }
    }
    links[link].busyUntil = time
    radios[central].busyUntil = time
    radios[peripheral].busyUntil = time
    radios[central].time += time - now
    radios[peripheral].time += time - now
    writable(one)
    writable(other)
    if !queues[one].isEmpty || !queues[other].isEmpty { schedule(link, from: time) }
  }

  private mutating func leave(_ end: Int, over link: Int, to other: Int, at time: UInt64) {
    guard let frame = queues[end].popFirst() else { return }
    countSend(frames.content(frame))
    if isLost(link) {
      tally.lostFrames += 1
      _ = frames.take(Int(frame))
    } else {
      queue.add(.arrival, at: time, Int(frame), other)
    }
  }

  private mutating func isLost(_ link: Int) -> Bool {
    if let bursts = scenario.air.bursts {
      while links[link].burst.to <= now {
        let from = links[link].burst.to + Numbers.exponential(mean: bursts.gap, using: &radioRandom)
        links[link].burst = (from, from + Numbers.exponential(mean: bursts.length, using: &radioRandom))
      }
      if links[link].burst.from <= now { return true }
    }
    let loss = scenario.air.lossMillionths
    return loss > 0 && UInt64.random(in: 0..<1_000_000, using: &radioRandom) < loss
  }

  /// What a frame is for, and which message it carries, for the numbers.
  private mutating func countSend(_ content: [UInt8]) {
    tally.frames += 1
    let size = content.count + AirModel.sealByteCount
    let type = content.first ?? 0
    guard type == 1 || type == 2 else {
      if type == 3 { tally.acknowledgmentBytes += size } else { tally.controlBytes += size }
      return
    }
    let start = type == 1 ? LinkFrame.packetOffset : LinkFrame.dataOffset
    let span = content.rawSpan
    if type == 2, span.number(UInt16.self, at: 9) != 0 {
      tally.payloadBytes += size
      return
    }
    let head = start + PacketHeader.routeOffset + 4 * Int(span.number(UInt8.self, at: start + 6) & 0x0F)
    let kind = PacketKind(rawValue: span.number(UInt8.self, at: head))
    guard kind.range == .known else {
      tally.controlBytes += size
      return
    }
    tally.payloadBytes += size
    tally.payloadSends += 1
    let number = Int(span.number(UInt32.self, at: head + WireLimits.identifiedHeadByteCount))
    if number < messages.count { messages[number].sends += 1 }
  }

  /// The transport of this end has room again for what it had refused.
  private mutating func writable(_ end: Int) {
    guard ends[end].refused != nil else { return }
    ends[end].transfer.moved(now: time)
    flush(end)
  }

  /// Hands to the transport what may be sent, as far as it takes it.
  mutating func flush(_ end: Int) {
    let link = end >> 1
    guard links[link].isUp else { return }
    let room = scenario.air.queuedFrames
    if let content = ends[end].refused {
      guard queues[end].count < room else { return }
      ends[end].refused = nil
      queues[end].append(frames.add(content, epoch: links[link].epoch))
    }
    let limit = scenario.air.attPayload - AirModel.sealByteCount
    while let content = ends[end].transfer.nextContent(limit: limit, now: time) {
      guard queues[end].count < room else {
        ends[end].refused = content
        break
      }
      queues[end].append(frames.add(content, epoch: links[link].epoch))
    }
    if let due = ends[end].transfer.nextDeadline()?.nanoseconds, due < ends[end].dueAt {
      ends[end].dueAt = max(due, now)
      queue.add(.transferDue, at: max(due, now), end)
    }
    if !queues[end].isEmpty { schedule(link, from: now) }
  }

  mutating func transferDue(_ end: Int) {
    guard ends[end].dueAt == now else { return }
    ends[end].dueAt = .max
    guard links[end >> 1].isUp else { return }
    ends[end].transfer.tick(now: time)
    settleDrops(end)
    flush(end)
  }

  mutating func settleDrops(_ end: Int) {
    let drops = ends[end].transfer.takeDrops()
    guard !drops.isEmpty else { return }
    tally.queueFull += Int(drops[.queueFull] ?? 0)
    tally.linkDownDrops += Int(drops[.linkDown] ?? 0)
    tally.givenUp += Int((drops[.unacknowledged] ?? 0) + (drops[.expired] ?? 0) + (drops[.tooLong] ?? 0))
  }
}
