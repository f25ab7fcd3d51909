import PowerCuts
import Testing

/// What the model of a disk keeps, may lose and may tear.
@Suite struct DiskStateTests {
  private static let seeds: Range<UInt64> = 0..<200

  private func disk(_ operations: DiskOperation...) -> DiskState {
    var state = DiskState()
    for operation in operations { state.apply(operation) }
    return state
  }

  @Test func whatIsSyncedStays() {
    let bytes = [UInt8](repeating: 7, count: 2_000)
    let state = disk(
      .create(path: "/a", file: 1), .write(file: 1, offset: 0, bytes: bytes), .sync(file: 1), .syncDirectory)
    #expect(state.isSettled)
    #expect(state.afterCut(.nothing).content("/a") == bytes)
    for seed in Self.seeds { #expect(state.afterCut(.some(seed: seed)).content("/a") == bytes, "seed \(seed)") }
  }

  @Test func whatIsNotSyncedMayGoAndMayStay() {
    let state = disk(
      .create(path: "/a", file: 1), .sync(file: 1), .syncDirectory, .write(file: 1, offset: 0, bytes: [1, 2, 3]))
    #expect(!state.isSettled)
    #expect(state.afterCut(.nothing).content("/a") == [])
    #expect(state.afterCut(.everything).content("/a") == [1, 2, 3])
    let found = Set(Self.seeds.map { state.afterCut(.some(seed: $0)).content("/a")?.count ?? -1 })
    #expect(found == [0, 3])
  }

  @Test func nameIsLostThoughItsFileIsSynced() {
    let state = disk(.create(path: "/a", file: 1), .write(file: 1, offset: 0, bytes: [1]), .sync(file: 1))
    #expect(state.afterCut(.nothing).paths == [])
    #expect(state.afterCut(.everything).content("/a") == [1])
  }

  @Test func deletedNamesComeBackEachForItself() {
    var state = disk(.create(path: "/a", file: 1), .create(path: "/b", file: 2), .syncDirectory)
    state.apply(.unlink(path: "/a"))
    state.apply(.unlink(path: "/b"))
    #expect(state.paths == [])
    #expect(state.afterCut(.nothing).paths == ["/a", "/b"])
    #expect(Set(Self.seeds.map { state.afterCut(.some(seed: $0)).paths }) == [[], ["/a"], ["/b"], ["/a", "/b"]])
  }

  @Test func writeIsTornBetweenItsSectorsOnly() {
    let (old, new) = ([UInt8](repeating: 1, count: 2_048), [UInt8](repeating: 2, count: 1_200))
    var state = disk(
      .create(path: "/a", file: 1), .write(file: 1, offset: 0, bytes: old), .sync(file: 1), .syncDirectory)
    state.apply(.write(file: 1, offset: 100, bytes: new))
    var kinds: Set<[UInt8]> = []
    for seed in Self.seeds {
      guard let content = state.afterCut(.some(seed: seed)).content("/a") else {
        Issue.record("seed \(seed)")
        continue
      }
      #expect(content.count == 2_048)
      // 100 to 1,300 lies in three sectors; what is outside is never touched.
      let parts = [100..<512, 512..<1_024, 1_024..<1_300].map { Set(content[$0]) }
      #expect(parts.allSatisfy { $0.count == 1 } && Set(content[..<100] + content[1_300...]) == [1], "seed \(seed)")
      kinds.insert(parts.compactMap(\.first))
    }
    #expect(kinds.count == 8)
  }

  @Test func laterWriteMayStayWithoutTheEarlierOne() {
    let state = disk(
      .create(path: "/a", file: 1), .syncDirectory, .write(file: 1, offset: 0, bytes: [1]),
      .write(file: 1, offset: 600, bytes: [2]))
    let found = Set(Self.seeds.map { state.afterCut(.some(seed: $0)).content("/a") ?? [] })
    // A hole is zeros.
    #expect(found.contains([UInt8](repeating: 0, count: 600) + [2]) && found.contains([1]) && found.contains([]))
  }

  @Test func truncationIsAChangeLikeOthers() {
    var state = disk(
      .create(path: "/a", file: 1), .write(file: 1, offset: 0, bytes: [1, 2, 3]), .sync(file: 1), .syncDirectory)
    state.apply(.truncate(file: 1, size: 1))
    #expect(state.content("/a") == [1])
    #expect(state.afterCut(.nothing).content("/a") == [1, 2, 3])
    state.apply(.sync(file: 1))
    #expect(state.afterCut(.nothing).content("/a") == [1])
  }

  @Test func failedSyncHasDroppedWhatItShouldHaveWritten() {
    var state = disk(.create(path: "/a", file: 1), .syncDirectory, .write(file: 1, offset: 0, bytes: [1]))
    state.forgetPending(1)
    state.apply(.sync(file: 1))
    #expect(state.content("/a") == [1])
    #expect(state.afterCut(.everything).content("/a") == [])
  }
}
