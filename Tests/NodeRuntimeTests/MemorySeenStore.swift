import Relaying
import Routing
import Streams

/// What relays have seen, for runs that follow each other. While it is frozen it takes nothing, as after a kill.
final class MemorySeenStore: SeenStore {
  private struct State: Sendable {
    var groups: [(number: Int64, bytes: [UInt8]?)] = []
    var saves = 0
    var isFrozen = false
  }

  private let state = Protected(State())

  var saves: Int { state.withLock { $0.saves } }
  var isFrozen: Bool {
    get { state.withLock { $0.isFrozen } }
    set { state.withLock { $0.isFrozen = newValue } }
  }

  func seenGroups(below number: Int64?, limit: Int) async throws(SeenStoreError) -> [(number: Int64, bytes: [UInt8]?)] {
    state.withLock { state in
      Array(state.groups.reversed().filter { group in number.map { group.number < $0 } ?? true }.prefix(limit))
    }
  }

  func keep(_ save: SeenSave, isLast: Bool) async throws(SeenStoreError) {
    let isFrozen = state.withLock { state in
      guard !state.isFrozen else { return true }
      state.groups.removeAll { $0.number < save.firstKept }
      state.groups += save.groups.map { ($0.number, $0.bytes) }
      state.saves += 1
      return false
    }
    if isFrozen { throw SeenStoreError(reason: "frozen") }
  }
}
