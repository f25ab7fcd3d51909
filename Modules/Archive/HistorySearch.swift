package import Sessions

/// The results of a search as they are found, newest first. Each slice of the search is one call into the archive, made
/// when its results are asked for: whoever stops asking ends the search.
package struct HistorySearch: AsyncSequence, Sendable {
  package typealias Element = ArchivedMessage
  package typealias Failure = SessionStoreError

  let archive: MessageArchive
  let words: SearchWords
  let conversation: Conversation?
  let before: ArchiveCursor?
  let limit: Int

  package struct AsyncIterator: AsyncIteratorProtocol {
    package typealias Element = ArchivedMessage
    package typealias Failure = SessionStoreError

    let search: HistorySearch
    var next: ArchiveCursor?
    var left: Int
    /// Newest last.
    var found: [ArchivedMessage] = []
    var isAtEnd = false

    package mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(SessionStoreError) -> ArchivedMessage? {
      while found.isEmpty, !isAtEnd, left > 0 {
        let page = try await search.archive.searchSlice(
          search.words, in: search.conversation, before: next, limit: left)
        found = page.messages.reversed()
        next = page.next
        isAtEnd = page.next == nil
      }
      guard left > 0 else { return nil }
      left -= 1
      return found.popLast()
    }

    package mutating func next() async throws(SessionStoreError) -> ArchivedMessage? {
      try await next(isolation: nil)
    }
  }

  package func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(search: self, next: before, left: limit)
  }
}
