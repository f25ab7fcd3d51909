internal import Archive
internal import Relaying
internal import Routing
internal import Sessions

/// Keeps what the relay has seen in the archive.
struct SeenShelf: SeenStore {
  let archive: MessageArchive

  func seenGroups(below number: Int64?, limit: Int) async throws(SeenStoreError) -> [(number: Int64, bytes: [UInt8]?)] {
    do {
      return try await archive.seenRows(below: number, limit: limit).map { ($0.number, $0.content) }
    } catch {
      throw SeenStoreError(reason: error.reason)
    }
  }

  func keep(_ save: SeenSave, isLast: Bool) async throws(SeenStoreError) {
    do {
      try await archive.appendSeen(
        save.groups.map { ($0.number, $0.bytes) }, firstKept: save.firstKept, isPromised: isLast)
    } catch {
      throw SeenStoreError(reason: error.reason)
    }
  }
}
