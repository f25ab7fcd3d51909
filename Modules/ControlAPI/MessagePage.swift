/// A part of the history: what `messages.search` and `messages.page` answer.
public struct MessagePage: Codable, Sendable, Equatable {
  public var messages: [MessageRecord]
  /// Where to go on, in the next call; left out at the end. A page without messages is not the end.
  public var next: Int64?
  /// Messages of this part that could not be read: they are damaged on the disk, or do not open. Left out when there
  /// are none.
  public var unreadable: UInt64?

  public init(messages: [MessageRecord], next: Int64?, unreadable: UInt64? = nil) {
    self.messages = messages
    self.next = next
    self.unreadable = unreadable
  }
}
