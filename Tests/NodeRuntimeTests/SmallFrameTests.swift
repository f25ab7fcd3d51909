import Links
import MemoryTransport
import Sessions
import Telemetry
import TestKit
import Testing

@testable import NodeRuntime

/// Links whose frames are small, or become so while they are up.
@Suite struct SmallFrameTests {
  @Test func manyPacketsInPiecesDoNotPushEachOtherOut() throws {
    let mesh = Mesh(seed: 51)
    for name in ["A", "B"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(20))
    mesh.medium.setConditions(MemoryConditions(loss: 0.3, delay: .milliseconds(2), frameSize: 64))
    let sender = mesh.members[0].node.session
    let text = String(repeating: "x", count: 400)
    for number in 0..<50 { _ = try mesh.call { try await sender.send("\(number) \(text)", to: .everyone) } }
    mesh.run(for: .seconds(120)) { mesh.heard[1].count == 50 }
    #expect(mesh.heard[1].count == 50 && mesh.heard[1].values.allSatisfy { $0 == 1 })
    #expect(mesh.members[1].node.links.counters[.reassembliesDropped] == 0)
    mesh.stop()
  }

  @Test func linkWhoseFramesBecomeTooSmallIsClosedAndComesBack() throws {
    let sink = MemoryLogSink()
    let mesh = Mesh(seed: 52, log: Log(label: "node", threshold: .warning, sink: sink))
    for name in ["A", "B"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(20))
    let sender = mesh.members[0].node
    mesh.medium.setConditions(MemoryConditions(frameSize: 40))
    mesh.run(for: .seconds(5))
    let ready = try mesh.call { await sender.links.records().count { $0.step == .ready } }
    #expect(ready == 0, "a link below 64 bytes is not kept")
    #expect(sender.links.counters[.tooNarrow] > 0)
    let said = sink.records.first { $0.message.hasPrefix("the frames of a link are too small") }
    let facts = said?.fields.entries.map { "\($0.name) \($0.value)" } ?? []
    #expect(facts.contains("bytes signed(40)") && facts.contains("needed signed(64)"), "\(facts)")
    for number in 0..<20 { _ = try mesh.call { try await sender.session.send("\(number)", to: .everyone) } }
    mesh.medium.setConditions(MemoryConditions(frameSize: 244))
    mesh.run(for: .seconds(120)) { mesh.heard[1].count == 20 }
    #expect(mesh.heard[1].count == 20 && mesh.heard[1].values.allSatisfy { $0 == 1 })
    mesh.stop()
  }
}
