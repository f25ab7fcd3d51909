/// What a client asks of the node: every method of the protocol with its parameters.
public enum ControlCall: Sendable, Equatable {
  /// `node.hello`: the first call on every connection.
  case hello(HelloParameters)
  /// `node.status`
  case status
  /// `node.stop`: the node ends after the answer.
  case stop
  /// `peers.list`
  case listPeers
  /// `links.list`
  case listLinks
  /// `node.topology`: who is linked with whom, as far as this node knows.
  case topology
  /// `message.send`
  case sendMessage(SendParameters)
  /// `message.status`
  case messageStatus(MessageStatusParameters)
  /// `message.read`: a person has seen these messages; their authors are told.
  case markRead(ReadParameters)
  /// `messages.list`: the newest, oldest of them first.
  case listMessages(ListMessagesParameters)
  /// `node.ping`
  case ping(PingParameters)
  /// `events.subscribe`: the answer is a snapshot, then `event` notifications follow.
  case subscribe(SubscribeParameters)
  /// `events.acknowledge`: messages up to the cursor need not be shown again.
  case acknowledge(AcknowledgeParameters)
  /// `contact.list`
  case listContacts
  /// `contact.trust`: this peer is the one meant by its name; settles a change.
  case trustContact(TrustParameters)
  /// `contact.block`: nothing it writes is shown or passed on.
  case blockContact(PeerParameters)
  /// `contact.unblock`
  case unblockContact(PeerParameters)
  /// `contact.fingerprint`: the digits that two people compare.
  case fingerprint(PeerParameters)
  /// `messages.search`: messages that contain all of some words, newest first, a part of the history at a time.
  case searchMessages(SearchParameters)
  /// `messages.page`: the history from its beginning, a page at a time; also what blocked peers wrote.
  case pageMessages(PageParameters)
  /// `store.status`: where settings and keys lie, and how far their move into the sealed store is.
  case storeStatus
  /// `store.progress`: how far `store.migrate` or `store.verify` is that another connection has asked for.
  case storeProgress
  /// `store.migrate`: begins the move, or takes the steps of it that have been earned.
  case migrateStore(MigrateStoreParameters)
  /// `store.verify`: compares all that both stores have; what differs is settled by a second call.
  case verifyStore
  /// `store.rollback`: the plain store alone counts again, as long as it is there.
  case rollBackStore

  public var method: ControlMethod {
    switch self {
    case .hello: .hello
    case .status: .status
    case .stop: .stop
    case .listPeers: .listPeers
    case .listLinks: .listLinks
    case .topology: .topology
    case .sendMessage: .sendMessage
    case .messageStatus: .messageStatus
    case .markRead: .markRead
    case .listMessages: .listMessages
    case .ping: .ping
    case .subscribe: .subscribe
    case .acknowledge: .acknowledge
    case .listContacts: .listContacts
    case .trustContact: .trustContact
    case .blockContact: .blockContact
    case .unblockContact: .unblockContact
    case .fingerprint: .fingerprint
    case .searchMessages: .searchMessages
    case .pageMessages: .pageMessages
    case .storeStatus: .storeStatus
    case .storeProgress: .storeProgress
    case .migrateStore: .migrateStore
    case .verifyStore: .verifyStore
    case .rollBackStore: .rollBackStore
    }
  }
}

/// The names of the methods, and what each needs.
public enum ControlMethod: String, Sendable, CaseIterable {
  case hello = "node.hello"
  case status = "node.status"
  case stop = "node.stop"
  case listPeers = "peers.list"
  case listLinks = "links.list"
  case topology = "node.topology"
  case sendMessage = "message.send"
  case messageStatus = "message.status"
  case markRead = "message.read"
  case listMessages = "messages.list"
  case ping = "node.ping"
  case subscribe = "events.subscribe"
  case acknowledge = "events.acknowledge"
  case listContacts = "contact.list"
  case trustContact = "contact.trust"
  case blockContact = "contact.block"
  case unblockContact = "contact.unblock"
  case fingerprint = "contact.fingerprint"
  case searchMessages = "messages.search"
  case pageMessages = "messages.page"
  case storeStatus = "store.status"
  case storeProgress = "store.progress"
  case migrateStore = "store.migrate"
  case verifyStore = "store.verify"
  case rollBackStore = "store.rollback"

  public var permission: ControlPermission {
    switch self {
    case .hello, .status, .listPeers, .listLinks, .topology, .messageStatus, .listMessages, .subscribe, .listContacts,
      .fingerprint, .storeStatus, .storeProgress, .searchMessages, .pageMessages:
      .read
    case .sendMessage, .markRead, .ping, .acknowledge: .send
    case .stop, .trustContact, .blockContact, .unblockContact, .migrateStore, .verifyStore, .rollBackStore: .admin
    }
  }
}
