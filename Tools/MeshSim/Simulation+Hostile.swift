internal import Bytes
internal import Links
internal import Routing
internal import Streams
internal import WireFormat

/// What hostile nodes do. They have authenticated links like everybody: what they can forge is what is theirs to write.
extension Simulation {
  /// A hostile node gets a packet.
  ///
  /// - Returns: true when it keeps it from its own rules.
  mutating func meet(_ packet: Packet, id: PacketID, at node: Int) -> Bool {
    switch scenario.hostility {
    case .blackHole: return true
    case .swallow: return packet.header.isForOne
    case .replay:
      if nodes[node].heard.count < 4_096 { nodes[node].heard.append((packet.encoded, id.key)) }
      return false
    case .squat:
      squat(packet, at: node)
      return false
    case .flood, .forgeRoutes, nil: return false
    }
  }

  mutating func hostile(_ node: Int) {
    switch scenario.hostility {
    case .replay(let perSecond):
      if !nodes[node].heard.isEmpty {
        let heard = nodes[node].heard[Int.random(in: 0..<nodes[node].heard.count, using: &hostileRandom)]
        send(heard.packet, key: heard.key, from: node)
      }
      queue.add(.hostile, at: now + 1_000_000_000 / perSecond, node)
    case .flood(let perSecond):
      let number = messages.count
      if let message = try? draft(
        number, from: node, at: now, byteCount: scenario.load.bodyBytes, isTracked: false)
      {
        messages.append(message)
        say(number)
      }
      queue.add(.hostile, at: now + 1_000_000_000 / perSecond, node)
    case .blackHole, .swallow, .forgeRoutes, .squat, nil: break
    }
  }

  /// Straight to every neighbour, past all rules.
  private mutating func send(_ bytes: [UInt8], key: UInt64, from node: Int) {
    for end in nodes[node].slots where links[Int(end) >> 1].isUp {
      ends[Int(end)].transfer.enqueue(
        OutgoingPacket(
          key: key, bytes: bytes, trafficClass: .control, since: time, expiry: .never))
      flush(Int(end))
    }
  }

  /// The same head with another body, ahead of the packet itself: whoever tells packets by their head would take it.
  private mutating func squat(_ packet: Packet, at node: Int) {
    var bytes = packet.encoded
    let body = packet.header.bodyRange
    for index in body where index >= body.lowerBound + 4 { bytes[index] ^= 0xFF }
    guard let junk = try? Packet(decoding: bytes), let id = try? identifier.id(of: junk) else { return }
    send(junk.encoded, key: id.key, from: node)
  }

  /// What a hostile node makes of a packet that it passes on.
  func forged(_ bytes: [UInt8], by node: Int) -> [UInt8] {
    guard case .forgeRoutes = scenario.hostility, let packet = try? Packet(decoding: bytes),
      packet.header.kind.carriesRoute
    else { return bytes }
    // As many neighbours as a route has room for: each of them finds itself named.
    var forged = packet
    for end in nodes[node].slots.prefix(WireLimits.routeEntryCount) {
      let entry = Self.entry(ends[Int(end) ^ 1].node)
      guard let longer = try? Packet(decoding: forged.relayed(addingAge: 0, appending: entry)) else { break }
      forged = longer
    }
    var result = forged.encoded
    // Not as far from its origin as it is.
    result[1] = 0
    return result
  }
}

extension Scenario.Hostility {
  /// Acts of its own accord and not only on what comes.
  var isActive: Bool {
    switch self {
    case .replay, .flood: true
    case .forgeRoutes, .blackHole, .swallow, .squat: false
    }
  }
}
