/// Parameters that are checked on both sides: names that are not listed are refused, and so are values out of bounds.
protocol ControlParameters: Codable, Sendable {
  static var names: Set<String> { get }
  func check() throws(ControlError)
}

public struct HelloParameters: ControlParameters, Equatable {
  public var apiVersion: Int
  /// The name of the program, for the log.
  public var client: String

  public init(apiVersion: Int = ControlAPILimits.apiVersion, client: String) {
    self.apiVersion = apiVersion
    self.client = client
  }

  static let names: Set<String> = ["apiVersion", "client"]
  func check() throws(ControlError) { try checkReference(client, "client") }
}

public struct SendParameters: ControlParameters, Equatable {
  /// `#public`, a full peer ID, a unique prefix of one with eight digits or more, or a unique name.
  public var to: String
  public var text: String
  /// Marks the text as the answer of an echo bot, which no bot answers.
  public var isEcho: Bool?
  /// Marks the author as a bot, whom no bot answers.
  public var isBot: Bool?

  public init(to: String, text: String, isEcho: Bool? = nil, isBot: Bool? = nil) {
    self.to = to
    self.text = text
    self.isEcho = isEcho
    self.isBot = isBot
  }

  static let names: Set<String> = ["to", "text", "isEcho", "isBot"]
  func check() throws(ControlError) {
    try checkReference(to, "to")
    guard !text.isEmpty else { throw ControlError(.invalidParameters, "text is empty") }
    guard text.utf8.count <= ControlAPILimits.bytesOfText else {
      throw ControlError(.tooLong, "text is too long", limit: ControlAPILimits.bytesOfText)
    }
  }
}

public struct MessageStatusParameters: ControlParameters, Equatable {
  /// Hexadecimal.
  public var messageID: String

  public init(messageID: String) { self.messageID = messageID }

  static let names: Set<String> = ["messageID"]
  func check() throws(ControlError) { try checkReference(messageID, "messageID") }
}

public struct ReadParameters: ControlParameters, Equatable {
  /// Each hexadecimal, 32 digits.
  public var messageIDs: [String]

  public init(messageIDs: [String]) { self.messageIDs = messageIDs }

  static let names: Set<String> = ["messageIDs"]
  func check() throws(ControlError) {
    try checkRange(messageIDs.count, "the number of messageIDs", 1...ControlAPILimits.messagesPerReceipt)
    guard messageIDs.allSatisfy(isMessageID) else {
      throw ControlError(.invalidParameters, "a message ID has 32 hexadecimal digits")
    }
  }
}

public struct ListMessagesParameters: ControlParameters, Equatable {
  public var limit: Int

  public init(limit: Int = 50) { self.limit = limit }

  static let names: Set<String> = ["limit"]
  func check() throws(ControlError) { try checkRange(limit, "limit", 1...ControlAPILimits.messagesPerList) }
}

public struct PingParameters: ControlParameters, Equatable {
  public var peer: String
  /// How long the answer may take.
  public var timeoutMilliseconds: Int

  public init(peer: String, timeoutMilliseconds: Int = 10_000) {
    self.peer = peer
    self.timeoutMilliseconds = timeoutMilliseconds
  }

  static let names: Set<String> = ["peer", "timeoutMilliseconds"]
  func check() throws(ControlError) {
    try checkReference(peer, "peer")
    try checkRange(timeoutMilliseconds, "timeoutMilliseconds", 1...ControlAPILimits.millisecondsOfPing)
  }
}

public struct PeerParameters: ControlParameters, Equatable {
  /// A full peer ID, a unique prefix of one with eight digits or more, or a unique name that is like none.
  public var peer: String

  public init(peer: String) { self.peer = peer }

  static let names: Set<String> = ["peer"]
  func check() throws(ControlError) { try checkReference(peer, "peer") }
}

public struct TrustParameters: ControlParameters, Equatable {
  public var peer: String
  /// Whether the fingerprints were compared.
  public var isVerified: Bool?

  public init(peer: String, isVerified: Bool? = nil) {
    self.peer = peer
    self.isVerified = isVerified
  }

  static let names: Set<String> = ["peer", "isVerified"]
  func check() throws(ControlError) { try checkReference(peer, "peer") }
}

public struct SearchParameters: ControlParameters, Equatable {
  /// Words between spaces, each of which is part of the text, in capitals or not.
  public var text: String
  /// `#public` or a peer: only what was said there.
  public var with: String?
  /// Where an earlier answer says to go on.
  public var before: Int64?
  public var limit: Int

  public init(text: String, with: String? = nil, before: Int64? = nil, limit: Int = ControlAPILimits.messagesPerPage) {
    self.text = text
    self.with = with
    self.before = before
    self.limit = limit
  }

  static let names: Set<String> = ["text", "with", "before", "limit"]
  func check() throws(ControlError) {
    guard text.utf8.count <= ControlAPILimits.bytesOfSearch else {
      throw ControlError(.tooLong, "text is too long", limit: ControlAPILimits.bytesOfSearch)
    }
    if let with { try checkReference(with, "with") }
    try checkRange(limit, "limit", 1...ControlAPILimits.messagesPerPage)
  }
}

public struct PageParameters: ControlParameters, Equatable {
  /// Where an earlier answer says to go on; left out, the beginning.
  public var after: Int64?
  public var limit: Int

  public init(after: Int64? = nil, limit: Int = ControlAPILimits.messagesPerPage) {
    self.after = after
    self.limit = limit
  }

  static let names: Set<String> = ["after", "limit"]
  func check() throws(ControlError) { try checkRange(limit, "limit", 1...ControlAPILimits.messagesPerPage) }
}

public struct MigrateStoreParameters: ControlParameters, Equatable {
  /// Whether to wait for no days and restarts without trouble.
  public var isImpatient: Bool?

  public init(isImpatient: Bool? = nil) { self.isImpatient = isImpatient }

  static let names: Set<String> = ["isImpatient"]
  func check() throws(ControlError) {}
}

public struct SubscribeParameters: ControlParameters, Equatable {
  public enum Kind: String, Sendable, Codable, CaseIterable {
    /// Messages and what became of our own.
    case message
    case peer
    case link
    /// One event for each packet that a link carried.
    case reception
    case all
  }

  public var kinds: [Kind]

  public init(kinds: [Kind]) { self.kinds = kinds }

  static let names: Set<String> = ["kinds"]
  func check() throws(ControlError) { try checkRange(kinds.count, "the number of kinds", 1...Kind.allCases.count) }

  /// The kinds of events that are wanted.
  public var eventKinds: Set<ControlEventKind> {
    var kinds: Set<ControlEventKind> = []
    for kind in self.kinds {
      switch kind {
      case .message: kinds.formUnion([.message, .delivery])
      case .peer: kinds.formUnion([.peer, .contact])
      case .link: kinds.insert(.link)
      case .reception: kinds.insert(.reception)
      case .all: kinds.formUnion(ControlEventKind.allCases)
      }
    }
    return kinds
  }
}

public struct AcknowledgeParameters: ControlParameters, Equatable {
  /// The `cursor` of the newest event that was dealt with.
  public var cursor: UInt64

  public init(cursor: UInt64) { self.cursor = cursor }

  static let names: Set<String> = ["cursor"]
  func check() throws(ControlError) {}
}

private func isMessageID(_ text: String) -> Bool {
  text.utf8.count == 32 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) }
}

private func checkReference(_ text: String, _ name: String) throws(ControlError) {
  guard !text.isEmpty else { throw ControlError(.invalidParameters, "\(name) is empty") }
  guard text.utf8.count <= ControlAPILimits.bytesOfReference else {
    throw ControlError(.tooLong, "\(name) is too long", limit: ControlAPILimits.bytesOfReference)
  }
}

private func checkRange(_ value: Int, _ name: String, _ range: ClosedRange<Int>) throws(ControlError) {
  guard range.contains(value) else {
    throw ControlError(
      .invalidParameters, "\(name) must be from \(range.lowerBound) to \(range.upperBound)", limit: range.upperBound)
  }
}
