internal import Links
internal import Routing
internal import Streams
internal import WireFormat

/// Links that come and go, nodes that come and go, and what is said.
extension Simulation {
  /// The link of two nodes, made when they have none.
  mutating func link(_ central: Int, _ peripheral: Int) -> Int {
    let pair = UInt64(min(central, peripheral)) << 32 | UInt64(max(central, peripheral))
    if let known = pairs[pair] {
      links[known].central = central
      links[known].peripheral = peripheral
      (ends[2 * known].node, ends[2 * known + 1].node) = (central, peripheral)
      return known
    }
    let number = links.count
    pairs[pair] = number
    links.append(
      Link(
        central: central, peripheral: peripheral, clock: LinkClock(scenario.air, generator: &worldRandom)))
    for node in [central, peripheral] {
      queues.append(FrameQueue())
      ends.append(
        End(
          transfer: LinkTransfer(bytesPerSecond: Self.bytesPerSecond),
          budget: LinkBudget(bytesPerSecond: Self.bytesPerSecond, now: .start), node: node))
    }
    return number
  }

  /// What a Bluetooth transport declares.
  static var bytesPerSecond: Int { 100_000 }

  mutating func comeUp(_ link: Int) {
    let (one, other) = (links[link].central, links[link].peripheral)
    links[link].isComing = false
    guard !links[link].isUp, nodes[one].isPresent, nodes[other].isPresent else {
      if !links[link].isUp { release(link) }
      return
    }
    links[link].isUp = true
    links[link].epoch &+= 1
    links[link].eventAt = .max
    links[link].window = windows.count
    windows.append(LinkWindow(link: link, from: now, to: .max))
    for end in [2 * link, 2 * link + 1] {
      ends[end].budget = LinkBudget(bytesPerSecond: Self.bytesPerSecond, now: time)
      ends[end].dueAt = .max
      settleSlot(end)
    }
    for end in [2 * link, 2 * link + 1] {
      let (node, peer) = (ends[end].node, ends[end ^ 1].node)
      nodes[node].rules.neighbourUp(
        ends[end].slot, entry: Self.entry(peer), tag: Self.tag(peer), isCentral: node == links[link].central, now: time,
        into: &actions)
      perform(node)
    }
    if let breaks = scenario.breaks {
      let at = now + Numbers.exponential(mean: breaks.meanTime, using: &worldRandom)
      queue.add(.linkDown, at: at, link, Int(links[link].epoch))
    }
  }

  /// The neighbour gets the slot that it had; else a free one; else the lowest whose neighbour is away.
  private mutating func settleSlot(_ end: Int) {
    let node = ends[end].node
    let known = ends[end].slot
    if known >= 0, known < nodes[node].slots.count, Int(nodes[node].slots[known]) == end { return }
    var slot = nodes[node].slots.count
    if slot >= LinksLimits.slots - 1 {
      slot = nodes[node].slots.firstIndex { !links[Int($0) >> 1].isUp } ?? 0
      ends[Int(nodes[node].slots[slot])].slot = -1
      nodes[node].rules.reassigned(slot)
      nodes[node].slots[slot] = Int32(truncatingIfNeeded: end)
      ends[end].transfer = LinkTransfer(bytesPerSecond: Self.bytesPerSecond)
    } else {
      nodes[node].slots.append(Int32(truncatingIfNeeded: end))
    }
    ends[end].slot = slot
  }

  /// Both ends make room for a link to come.
  mutating func reserve(_ link: Int) {
    links[link].isComing = true
    nodes[links[link].central].linkCount += 1
    nodes[links[link].peripheral].linkCount += 1
  }

  private mutating func release(_ link: Int) {
    nodes[links[link].central].linkCount -= 1
    nodes[links[link].peripheral].linkCount -= 1
  }

  mutating func breakDown(_ link: Int, epoch: UInt32) {
    guard links[link].isUp, links[link].epoch == epoch else { return }
    takeDown(link)
    guard let breaks = scenario.breaks else { return }
    reserve(link)
    queue.add(.linkUp, at: now + UInt64.random(in: breaks.back, using: &worldRandom), link)
  }

  mutating func takeDown(_ link: Int) {
    guard links[link].isUp else { return }
    links[link].isUp = false
    links[link].eventAt = .max
    windows[links[link].window].to = now
    release(link)
    for end in [2 * link, 2 * link + 1] {
      while let frame = queues[end].popFirst() { _ = frames.take(Int(frame)) }
      ends[end].refused = nil
      ends[end].transfer.reset()
      settleDrops(end)
      let node = ends[end].node
      nodes[node].reassembly.drop(link: UInt64(ends[end].slot))
      nodes[node].rules.neighbourDown(ends[end].slot, now: time, into: &actions)
      perform(node)
    }
  }

  /// Some links end; both of their nodes look for others, and may find each other again.
  mutating func replaceLinks() {
    guard let replacement = scenario.replacement else { return }
    let up = links.indices.filter { links[$0].isUp }
    var rest = up.count * replacement.percent / 100
    var seeking: [Int] = []
    for link in up.shuffled(using: &worldRandom) where rest > 0 {
      rest -= 1
      seeking += [links[link].central, links[link].peripheral]
      takeDown(link)
    }
    for node in seeking { seekLinks(node) }
  }

  // MARK: Nodes

  mutating func leave(_ node: Int) {
    guard nodes[node].isPresent else { return }
    nodes[node].isPresent = false
    nodes[node].absentSince = now
    for end in nodes[node].slots where links[Int(end) >> 1].isUp {
      let link = Int(end) >> 1
      let peer = ends[Int(end) ^ 1].node
      takeDown(link)
      seekLinks(peer)
    }
  }

  mutating func arrive(_ node: Int) {
    guard !nodes[node].isPresent else { return }
    nodes[node].isPresent = true
    nodes[node].presentSince = now
    nodes[node].absentSince = .max
    seekLinks(node)
  }

  /// Dials some of those in range, as far as both have room.
  mutating func seekLinks(_ node: Int) {
    guard nodes[node].isPresent else { return }
    var candidates = scenario.topology.inRange[node]
    candidates.shuffle(using: &worldRandom)
    for peer in candidates where nodes[node].linkCount < scenario.cap {
      guard nodes[peer].isPresent, nodes[peer].linkCount < scenario.cap else { continue }
      let link = link(node, peer)
      guard !links[link].isUp, !links[link].isComing else { continue }
      reserve(link)
      queue.add(.linkUp, at: now + UInt64.random(in: scenario.air.setUp, using: &worldRandom), link)
    }
  }

  /// Whether a message that was said at `time` was to reach this node.
  func wasThere(_ node: Int, at time: UInt64) -> Bool {
    let stay: UInt64 = 5_000_000_000
    guard nodes[node].presentSince == 0 || nodes[node].presentSince + stay <= time else { return false }
    return nodes[node].absentSince >= time + stay
  }
}
