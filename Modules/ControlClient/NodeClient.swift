public import ControlAPI
import Streams

/// A program's connection to a node.
///
/// `connect` returns when the node has answered `node.hello`. Calls may be made from many tasks at once; each has its
/// own deadline. When the connection ends, every waiting call throws `connectionLost` and `events` ends: to connect
/// again is up to the program, because only it knows whether a call may be made twice.
public final class NodeClient: Sendable {
  /// What the node said of itself.
  public let hello: HelloAnswer
  private let connection: ClientConnection
  private let clock: any Clock<Duration>

  /// - Parameters:
  ///   - path: of the node's control socket.
  ///   - name: of this program, for the node's log.
  ///   - clock: for the deadlines.
  public static func connect(
    to path: String, as name: String, deadline: Duration = ControlClientLimits.deadline, clock: any Clock<Duration>
  ) async throws(ControlClientError) -> NodeClient {
    let connection = try ClientConnection(path: path)
    do {
      let call = ControlCall.hello(HelloParameters(client: name))
      let hello = try await Self.call(call, HelloAnswer.self, deadline, connection, clock)
      return NodeClient(hello: hello, connection: connection, clock: clock)
    } catch {
      connection.close()
      if case .refused(let refusal) = error, refusal.code == .unsupportedVersion {
        throw .unsupportedVersion(node: refusal.data?.limit)
      }
      throw error
    }
  }

  private init(hello: HelloAnswer, connection: ClientConnection, clock: any Clock<Duration>) {
    self.hello = hello
    self.connection = connection
    self.clock = clock
  }

  deinit { connection.close() }

  /// Ends the connection. Calls that wait throw `connectionLost`.
  public func close() { connection.close() }

  /// What the node tells after `subscribe`; ends with the connection. For one consumer. A program that reads too
  /// slowly gets a `lagged` event in the place of those it missed.
  public var events: some AsyncSequence<ControlEvent, Never> & Sendable { connection.events }

  public func status() async throws(ControlClientError) -> StatusAnswer { try await call(.status) }

  public func stop() async throws(ControlClientError) {
    let _: Nothing = try await call(.stop)
  }

  public func peers() async throws(ControlClientError) -> [PeerRecord] {
    let answer: Peers = try await call(.listPeers)
    return answer.peers
  }

  public func links() async throws(ControlClientError) -> [LinkRecord] {
    let answer: Links = try await call(.listLinks)
    return answer.links
  }

  public func topology() async throws(ControlClientError) -> TopologyAnswer { try await call(.topology) }

  /// Returns when the message is on the node's disk. `isBot` and `isEcho` mark it as the word of a program, which no bot
  /// answers.
  public func send(_ text: String, to recipient: String, isBot: Bool = false, isEcho: Bool = false)
    async throws(ControlClientError) -> SendAnswer
  {
    let parameters = SendParameters(
      to: recipient, text: text, isEcho: isEcho ? true : nil, isBot: isBot ? true : nil)
    return try await call(.sendMessage(parameters))
  }

  public func messageStatus(_ messageID: String) async throws(ControlClientError) -> MessageStatusAnswer {
    try await call(.messageStatus(MessageStatusParameters(messageID: messageID)))
  }

  /// A person has seen these messages of others.
  public func markRead(_ messageIDs: [String]) async throws(ControlClientError) {
    let _: Nothing = try await call(.markRead(ReadParameters(messageIDs: messageIDs)))
  }

  /// The newest messages, oldest of them first.
  public func messages(limit: Int = 50) async throws(ControlClientError) -> [MessageRecord] {
    let answer: Messages = try await call(.listMessages(ListMessagesParameters(limit: limit)))
    return answer.messages
  }

  /// The call's own deadline is a little longer, so that it is the node that says that nobody answered.
  public func ping(_ peer: String, timeout: Duration = .seconds(10)) async throws(ControlClientError) -> PingAnswer {
    let (seconds, attoseconds) = timeout.components
    let bounded = min(max(0, seconds), Int64(ControlAPILimits.millisecondsOfPing / 1_000))
    let milliseconds = Int(bounded) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)
    let parameters = PingParameters(
      peer: peer, timeoutMilliseconds: min(max(1, milliseconds), ControlAPILimits.millisecondsOfPing))
    return try await call(.ping(parameters), deadline: timeout + ControlClientLimits.deadline)
  }

  /// How things stand; `events` tells what changes. A second call replaces the kinds of the first.
  public func subscribe(to kinds: [SubscribeParameters.Kind]) async throws(ControlClientError) -> SubscribeAnswer {
    try await call(.subscribe(SubscribeParameters(kinds: kinds)))
  }

  public func contacts() async throws(ControlClientError) -> [ContactRecord] {
    let answer: Contacts = try await call(.listContacts)
    return answer.contacts
  }

  /// This peer is the one meant by its name; `isVerified` when the fingerprints were compared.
  public func trust(_ peer: String, isVerified: Bool = false) async throws(ControlClientError) -> ContactRecord {
    try await call(.trustContact(TrustParameters(peer: peer, isVerified: isVerified)))
  }

  public func setBlocked(_ isBlocked: Bool, _ peer: String) async throws(ControlClientError) -> ContactRecord {
    let parameters = PeerParameters(peer: peer)
    return try await call(isBlocked ? .blockContact(parameters) : .unblockContact(parameters))
  }

  /// The contact, or what it would be, with the digits that two people compare.
  public func fingerprint(of peer: String) async throws(ControlClientError) -> ContactRecord {
    try await call(.fingerprint(PeerParameters(peer: peer)))
  }

  /// Messages that contain all of some words, newest first; empty pages come too, until `next` is nil.
  public func search(
    _ text: String, with conversation: String? = nil, before: Int64? = nil,
    limit: Int = ControlAPILimits.messagesPerPage
  ) async throws(ControlClientError) -> MessagePage {
    try await call(.searchMessages(SearchParameters(text: text, with: conversation, before: before, limit: limit)))
  }

  /// The history from its beginning.
  public func page(after: Int64? = nil) async throws(ControlClientError) -> MessagePage {
    try await call(.pageMessages(PageParameters(after: after)))
  }

  /// Where settings and keys lie.
  public func store() async throws(ControlClientError) -> StoreRecord { try await call(.storeStatus) }

  /// How far a move or a comparison is that another connection has asked for; nothing while none runs. Calls of one
  /// connection are answered one after the other, so it is no use on that one.
  public func storeProgress() async throws(ControlClientError) -> StoreProgress? {
    let answer: StoreProgressAnswer = try await call(.storeProgress)
    return answer.running
  }

  /// Begins the move into the sealed store, or goes on with it.
  public func migrateStore(isImpatient: Bool) async throws(ControlClientError) -> StoreRecord {
    let parameters = MigrateStoreParameters(isImpatient: isImpatient)
    return try await call(.migrateStore(parameters), deadline: ControlClientLimits.storeDeadline)
  }

  public func verifyStore() async throws(ControlClientError) -> StoreReport {
    try await call(.verifyStore, deadline: ControlClientLimits.storeDeadline)
  }

  public func rollBackStore() async throws(ControlClientError) -> StoreRecord {
    try await call(.rollBackStore, deadline: ControlClientLimits.storeDeadline)
  }

  public func acknowledge(cursor: UInt64) async throws(ControlClientError) {
    let _: Nothing = try await call(.acknowledge(AcknowledgeParameters(cursor: cursor)))
  }

  /// Any call, with the type of its answer.
  public func call<Answer: Decodable & Sendable>(
    _ call: ControlCall, answer: Answer.Type = Answer.self, deadline: Duration = ControlClientLimits.deadline
  ) async throws(ControlClientError) -> Answer {
    try await Self.call(call, answer, deadline, connection, clock)
  }

  private static func call<Answer: Decodable & Sendable>(
    _ call: ControlCall, _ answer: Answer.Type, _ deadline: Duration, _ connection: ClientConnection,
    _ clock: any Clock<Duration>
  ) async throws(ControlClientError) -> Answer {
    let (number, reply) = try connection.send(call)
    let result = await withTaskGroup(of: ClientConnection.Reply.self) { group in
      group.addTask { await reply.next() ?? .failure(.cancelled) }
      group.addTask { .failure((try? await clock.sleep(for: deadline)) == nil ? .cancelled : .timeout) }
      let first = await group.next() ?? .failure(.cancelled)
      group.cancelAll()
      return first
    }
    switch result {
    case .failure(let error):
      connection.forget(number)
      throw error
    case .success(let line):
      guard let value = try? ControlNotice.answer(answer, in: line) else { throw .unexpectedAnswer }
      return value
    }
  }
}

private struct Nothing: Decodable, Sendable {}
private struct Peers: Decodable, Sendable { let peers: [PeerRecord] }
private struct Links: Decodable, Sendable { let links: [LinkRecord] }
private struct Messages: Decodable, Sendable { let messages: [MessageRecord] }
private struct Contacts: Decodable, Sendable { let contacts: [ContactRecord] }
