import Bytes
import Foundation
import Primitives
import Testing
import WireFormat

struct GoldenVectorTests {
  private func bytes(_ name: String) throws -> [UInt8] {
    try #require(GoldenVectors.all[name].flatMap { Hex.decode($0) })
  }

  @Test func theDocumentationHoldsTheSameBytes() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Modules/WireFormat/WireFormat.docc")
    var written: [String: String] = [:]
    for file in ["WireFormat.md", "LinkFrames.md"] {
      let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
      var name: String?
      for line in text.split(separator: "\n") {
        if line.hasPrefix("vector ") {
          name = String(line.dropFirst(7))
        } else if line.hasPrefix("```") {
          name = nil
        } else if let name {
          written[name, default: ""] += line
        }
      }
    }
    #expect(written == GoldenVectors.all)
  }

  @Test func packetsAreTheseBytes() throws {
    let origin = Tag(rawValue: 0xBF0D_B3A1_66D1_901E)
    let personal = try PacketDraft(
      kind: .personal, time: 1_800_000_000_000, origin: origin,
      destination: Tag(rawValue: 0x0011_2233_4455_66FF), body: Array("sealed".utf8)
    ).unsigned()
    #expect(personal.encoded == (try bytes("personal")))
    #expect(personal.relayed(addingAge: 250, appending: 0xA1B2_C3D4) == (try bytes("personal-relayed")))
    #expect(
      personal.relayed(addingAge: 250, appending: 0xA1B2_C3D4, scope: .lane) == (try bytes("personal-lane")))
    let card = try PacketDraft(kind: .card, time: 1_800_000_000_000, origin: origin, body: bytes("card")).unsigned()
    #expect(card.encoded == (try bytes("card-packet")))
    let signature = try bytes("public").suffix(64)
    let room = try PacketDraft(
      kind: .public, time: 1_800_000_000_000, origin: origin, body: Array("hello, mesh".utf8)
    ).signed { _ in Array(signature) }
    #expect(room.encoded == (try bytes("public")))
    try room.verifySignature(by: P256PublicKey(bytes("signing-key")))
  }

  @Test func idsAreTheseBytes() throws {
    var identifier = try PacketIdentifier()
    for (name, copy) in [
      ("personal-id", "personal"), ("personal-id", "personal-relayed"), ("personal-id", "personal-lane"),
      ("public-id", "public"),
      ("public-id", "public-route-cut"), ("card-packet-id", "card-packet"),
    ] {
      let id = try identifier.id(of: Packet(decoding: bytes(copy)))
      #expect(id.description == GoldenVectors.all[name])
    }
  }

  @Test func extremesAreDecodedAsWritten() throws {
    let cut = try Packet(decoding: bytes("public-route-cut"))
    #expect(cut.header.hops == 255 && cut.header.age == .max && cut.header.isRouteCut)
    #expect(cut.route == Array(1...15))
    let unknown = try Packet(decoding: bytes("unknown-kind"))
    #expect(unknown.header.kind.range == .reserved && unknown.header.flags.rawValue == 0x50)
    #expect(unknown.header.timeToLive == 255 && unknown.header.remainingHops == 125)
  }

  @Test func framesAreTheseBytes() throws {
    let packet = try bytes("personal")
    let key = try #require(PacketID(hex: GoldenVectors.all["personal-id"] ?? "")).key
    let other = try #require(PacketID(hex: GoldenVectors.all["public-id"] ?? "")).key
    let pieces = try Fragmenter(packet: packet, key: key, payloadByteCount: 38).frames
    #expect(pieces == [try bytes("frame-fragment-0"), try bytes("frame-fragment-1")])
    #expect(try Fragmenter(packet: packet, key: key, payloadByteCount: 39).frames == [try bytes("frame-packet")])
    #expect(LinkFrame.acknowledgment([key, other]).encoded == (try bytes("frame-acknowledgment")))
    let ranges = [FragmentRange(first: 0, count: 1), FragmentRange(first: 4, count: 2)]
    #expect(LinkFrame.fragmentRequest(key: key, ranges: ranges).encoded == (try bytes("frame-request")))
    #expect(LinkFrame.ping(token: 0x0001_0203_0405_0607).encoded == (try bytes("frame-ping")))
    #expect(LinkFrame.pong(token: 0x0001_0203_0405_0607).encoded == (try bytes("frame-pong")))
    #expect(LinkFrame.goodbye(.duplicateLink).encoded == (try bytes("frame-goodbye")))
    let origins = [Tag(rawValue: 1), Tag(rawValue: 0xa0a1_a2a3_a4a5_a6a7)]
    #expect(LinkFrame.prune(origins).encoded == (try bytes("frame-prune")))
    #expect(LinkFrame.announcement([key, other]).encoded == (try bytes("frame-announcement")))
    #expect(LinkFrame.graft([key]).encoded == (try bytes("frame-graft")))
    #expect(LinkFrame.reopen([]).encoded == (try bytes("frame-reopen-all")))
    #expect(LinkFrame.reopen([origins[1]]).encoded == (try bytes("frame-reopen")))
    let reconciliation: [(String, ReconciliationFrame)] = [
      (
        "comparison",
        .comparison([
          .init(start: 0x2c_f160, count: 2, sum: 0x1122_3344_5566_7788), .init(start: 0, count: 0, sum: 0),
        ])
      ),
      ("difference", .difference(1)),
      (
        "symbol-request",
        .symbolRequest(
          .init(number: 7, salt: 0x0001_0203_0405_0607, start: 0x2c_f160, end: .max, first: 0, count: 8))
      ),
      (
        "symbols",
        .symbols(number: 7, first: 0, [CodedSymbol(count: 2, sum: 0x1122_3344_5566_7788, check: 0xa0a1_a2a3)])
      ),
      ("wanted", .wanted([0x0001_0203_0405_0607])),
    ]
    for (name, frame) in reconciliation {
      #expect(LinkFrame.reconciliation(frame).encoded == (try bytes("frame-" + name)), "\(name)")
    }
    let widen = LinkFrame.widen(.everybody, [key, other])
    #expect(widen.encoded == (try bytes("frame-widen")))
    #expect(frameResult(try bytes("frame-widen")) == .success(widen))
    #expect(frameResult(try bytes("frame-ignored")) == .success(.ignored(type: 90)))
  }
}
