import Bytes
import FuzzSupport
import WireFormat

/// Any bytes are a packet or an error; what relays do leaves the identified region as it is.
private let fuzzer = Fuzzer(
  seeds: {
    let personal = try PacketDraft(
      kind: .personal, time: 1_800_000_000_000, origin: Tag(rawValue: 7), destination: Tag(rawValue: 9),
      body: [1, 2, 3]
    ).unsigned()
    let signed = try PacketDraft(
      kind: .public, time: 1_800_000_000_000, origin: Tag(rawValue: 7), body: Array("hello".utf8)
    ).signed { _ in [UInt8](repeating: 5, count: 64) }
    var routed = signed
    for entry: UInt32 in 1...16 {
      routed = try Packet(decoding: routed.relayed(addingAge: .max / 8, appending: entry))
    }
    let unknown = try PacketDraft(
      kind: PacketKind(rawValue: 200), time: .max, origin: .everyone, body: [], hints: 0xF0
    ).unsigned()
    let kinds = try ([UInt8](0...8) + [64, 128, 255]).map { kind -> (name: String, bytes: [UInt8]) in
      let draft = try PacketDraft(
        kind: PacketKind(rawValue: kind), time: 1, origin: Tag(rawValue: 1), body: [kind])
      let packet =
        try draft.kind.requiresSignature
        ? draft.signed { _ in [UInt8](repeating: kind, count: 64) } : draft.unsigned()
      return ("kind-\(kind)", packet.encoded)
    }
    return kinds + [
      ("personal", personal.encoded), ("signed", signed.encoded), ("routed", routed.encoded),
      ("unknown", unknown.encoded),
    ]
  },
  test: { bytes in
    guard let packet = try? Packet(decoding: bytes) else { return }
    let header = packet.header
    if bytes.count.isMultiple(of: 16) {
      let limit = WireLimits.packetByteCount
      for count in [limit - bytes.count, limit - bytes.count + 1] {
        let isRefused = (try? Packet(decoding: bytes + [UInt8](repeating: 0, count: count))) == nil
        require(isRefused || count + bytes.count == limit && header.routeCount == 15, "a packet has its largest size")
      }
    }
    require(packet.route.count == header.routeCount, "the route has its entries")
    require((packet.signature == nil) == !header.isSigned, "a signature is there when it is said to be")
    require(!header.mayCrossAnotherLink || header.remainingHops >= 2, "hops are counted")
    let kind = header.kind
    require(
      [kind.trafficClass == .bulk, !kind.carriesRoute].allSatisfy { $0 } || kind.range == .known,
      "unknown kinds come last")
    require(kind.lifetime <= 48 * 3_600_000 && header.remainingHops <= 128, "every kind has its end")
    require(!kind.requiresSignature || packet.signature?.count == 64, "what must be signed is")
    require(packet.routeContains(0) == packet.route.contains(0), "the route is searched whole")
    guard let relayed = try? Packet(decoding: packet.relayed(addingAge: 1_000, appending: 42)) else {
      return require(false, "what was relayed is a packet")
    }
    require(
      Array(relayed.encoded[relayed.header.identifiedRange]) == Array(bytes[header.identifiedRange]),
      "the identified region never changes")
    require(relayed.header.age >= header.age && relayed.header.hops >= header.hops, "age and hops never fall")
    require(relayed.routeContains(42) || relayed.header.isRouteCut, "a relay is in the route or the route is cut")
    require(Array(relayed.body) == Array(packet.body), "the body stays")
  })

@_cdecl("FuzzPacket_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
