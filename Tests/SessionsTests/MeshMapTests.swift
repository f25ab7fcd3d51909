import Streams
import Testing

@testable import Sessions

@Suite struct MeshMapTests {
  private let now = MonotonicTime(nanoseconds: 1_000_000_000_000)

  private func pairs(_ map: MeshMap, at time: MonotonicTime? = nil) -> [[UInt32]] {
    map.edges(now: time ?? now).map { [$0.edge.low, $0.edge.high] }
  }

  @Test func sideBySideInARouteIsLinked() {
    var map = MeshMap()
    map.note(origin: 9, route: [4, 7], own: 1, hops: 3, now: now)
    #expect(pairs(map) == [[1, 7], [4, 7], [4, 9]])
    map.note(origin: 1, route: [], own: 1, hops: 1, now: now)
    #expect(pairs(map).count == 3, "nobody is linked with itself")
  }

  @Test func aRouteWithGapsTellsNothing() {
    var map = MeshMap()
    map.note(origin: 9, route: [4, 7], own: 1, hops: 4, now: now)
    map.note(origin: 9, route: [4, 7], own: 1, hops: 2, now: now)
    map.note(origin: 9, route: [], own: 1, hops: 0, now: now)
    #expect(pairs(map).isEmpty)
  }

  @Test func theOldestEdgeGoesAndOldOnesAreNotShown() {
    var map = MeshMap()
    for number in 0...UInt32(SessionsLimits.mapEdges) {
      map.note(
        origin: number + 10, route: [], own: 1, hops: 1, now: now.advanced(by: .milliseconds(Int64(number))))
    }
    let later = now.advanced(by: .seconds(2))
    #expect(pairs(map, at: later).count == SessionsLimits.mapEdges && !pairs(map, at: later).contains([1, 10]))
    #expect(pairs(map, at: later.advanced(by: SessionsLimits.mapMemory)).isEmpty)
  }
}
