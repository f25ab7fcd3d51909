import Bytes
import Streams
import TestKit
import WireFormat

@testable import NodeRuntime

/// A relay that cannot be trusted: linked with two nodes that do not hear each other, it carries what each sends to the
/// other, opened and sealed again, and keeps all of it.
final class Bridge {
  let adversary: Adversary
  let mesh: Mesh
  private(set) var links: [AdversaryLink] = []
  private var carried = [0, 0]

  init(_ name: String, between one: String, and other: String, on mesh: Mesh) throws {
    self.mesh = mesh
    adversary = try Adversary(name, on: mesh)
    for peer in [one, other] {
      let link = try adversary.join(peer)
      // The two acknowledge to each other, through the bridge.
      link.isAcknowledging = false
      links.append(link)
    }
  }

  /// Everything that either node has sent, its outer seal off.
  var contents: [[UInt8]] { links[0].contents + links[1].contents }

  /// The packets of these kinds among them, each once, put together from their pieces.
  func packets(of kinds: Set<PacketKind>) throws -> [Packet] {
    var identifier = try PacketIdentifier()
    var reassembly = Reassembly()
    var found: [Packet] = []
    var keys: Set<UInt64> = []
    for content in contents {
      var packet: Packet?
      switch try? LinkFrame(decoding: content.rawSpan) {
      case .packet: packet = try? Packet(decoding: Array(content[LinkFrame.packetOffset...]))
      case .fragment(let head):
        let data = content.rawSpan.extracting(LinkFrame.dataOffset..<content.count)
        let result = reassembly.receive(head, data: data, link: 0, now: 0, identifier: &identifier)
        if case .completed(let whole, _) = result.outcome { packet = whole }
      default: break
      }
      guard let packet, kinds.contains(packet.header.kind) else { continue }
      if keys.insert(try identifier.id(of: packet).key).inserted { found.append(packet) }
    }
    return found
  }

  /// Lets time pass and carries.
  func run(for duration: Duration, step: Duration = .milliseconds(20)) {
    let end = mesh.simulation.time.now.advanced(by: duration)
    while mesh.simulation.time.now < end {
      mesh.run(for: step)
      carry()
    }
  }

  private func carry() {
    for side in 0...1 {
      links[side].read()
      let new = links[side].contents[carried[side]...]
      carried[side] = links[side].contents.count
      for content in new { links[1 - side].send(content) }
    }
  }

  func stop() { adversary.stop() }
}
