internal import Archive
internal import ControlAPI
internal import Sessions

/// The history, as the control socket asks for it.
extension NodeService {
  /// Goes on until it has found something, or has looked through so much that others should be answered first.
  func search(_ parameters: SearchParameters) async throws(ControlError) -> MessagePage {
    guard let words = SearchWords(parameters.text) else {
      throw ControlError(
        .invalidParameters, "Say what to search for: 1 to \(ArchiveLimits.searchWords) words.",
        limit: ArchiveLimits.searchWords)
    }
    var conversation: Conversation?
    if let with = parameters.with {
      conversation = with == Self.publicRoom ? .everyone : .peer(try await resolve(with).id)
    }
    var cursor = parameters.before.map { ArchiveCursor(number: $0) }
    var found: [MessageRecord] = []
    var unreadable: UInt64 = 0
    do throws(SessionStoreError) {
      for _ in 0..<NodeRuntimeLimits.searchSlices {
        let page = try await vault.archive.searchSlice(
          words, in: conversation, before: cursor, limit: parameters.limit - found.count)
        for one in page.messages { found.append(await node.record(of: one.message)) }
        cursor = page.next
        unreadable += page.unreadable
        if !found.isEmpty || cursor == nil { break }
      }
    } catch {
      throw ControlError(.internal, "The archive does not answer.")
    }
    return MessagePage(
      messages: found, next: cursor?.number, unreadable: unreadable > 0 ? unreadable : nil)
  }

  func page(_ parameters: PageParameters) async throws(ControlError) -> MessagePage {
    do throws(SessionStoreError) {
      let page = try await vault.archive.messages(
        after: parameters.after.map { ArchiveCursor(number: $0) }, limit: parameters.limit, withBlocked: true)
      var records: [MessageRecord] = []
      for one in page.messages { records.append(await node.record(of: one.message)) }
      return MessagePage(
        messages: records, next: page.next?.number, unreadable: page.unreadable > 0 ? page.unreadable : nil)
    } catch {
      throw ControlError(.internal, "The archive does not answer.")
    }
  }
}
