import Identities
import Sessions
import Streams
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

  /// A route that names every relay tells who is linked with whom, also where this node has no link.
  @Test func theMapOfANodeIsTheChain() throws {
    let mesh = Mesh(seed: 92)
    defer { mesh.stop() }
    for name in ["ann", "ben", "cid", "dan"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(60))
    try #require(mesh.isAcquainted())
    let dan = mesh.members[3].node.session
    _ = try mesh.call { try await dan.send("hello", to: .everyone) }
    mesh.run(for: .seconds(5))
    let (ann, time) = (mesh.members[0].node.session, mesh.members[0].node.environment.time)
    let edges = try mesh.call { await ann.mapEdges(now: time.now()).map(\.edge) }
    let entries = mesh.members.map { $0.node.session.ownID.routeEntry }
    #expect(Set(edges) == Set((0..<3).map { MeshMap.Edge(entries[$0], entries[$0 + 1]) }))
  }
}
