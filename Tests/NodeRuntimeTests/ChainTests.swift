import Sessions
import Testing

@testable import NodeRuntime

@Suite struct ChainTests {
  @Test func messageReachesTheOtherEndOnce() throws {
    let mesh = Mesh(seed: 1)
    for name in ["A", "B", "C", "D"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(30))
    #expect(mesh.isAcquainted())
    let sender = mesh.members[0].node.session
    _ = try mesh.call { try await sender.send("hello", to: .everyone) }
    mesh.run(for: .seconds(10))
    #expect(mesh.heard.dropFirst().map { $0["hello"] } == [1, 1, 1])
    mesh.stop()
  }
}
