public import Streams

/// A way for nodes to meet: hears others, can be heard, and carries frames over links.
///
/// The contract, which `TransportContract` in the test kit checks for every transport:
///
/// * `run` owns everything the transport needs (sockets, threads, bus connections) and returns only when its task is
///   cancelled, or throws when it can do its work no longer; it may then be called again. When it ends every link is
///   closed and `state` is `.poweredOff`. What no other attempt can mend it throws as `TransportUnusableError`.
/// * `state` is told before anything else; nothing may be asked of a transport before it says `.poweredOn`, and what
///   is asked earlier fails with `.notPoweredOn`.
/// * Links are told apart by `LinkID`; an identifier is never used twice in one process.
/// * Neither a slow consumer nor a lost peer blocks the transport: streams are bounded, what is dropped is counted.
public protocol Transport: Sendable {
  /// What this transport is, and what it can carry. Constant.
  var properties: TransportProperties { get }

  /// Whether it can be used now; always the newest value.
  var state: Latest<TransportState> { get }

  /// Advertisements heard while scanning; newest per address wins.
  var sightings: Hints<TransportAddress, Sighting> { get }

  /// Links that another node opened to us, subscribed and ready for frames. One consumer.
  var inbound: Channel<any TransportLink> { get }

  /// What the transport has counted since it was made, by names in the manner of `droppedFrames`; shown by `status`. May
  /// be asked at any time from anywhere. `TransportsLimits.counters` of them are shown.
  var counters: [String: UInt64] { get }

  /// Runs the transport. See the contract above.
  func run() async throws

  /// Replaces what is advertised; nil stops advertising. Who calls: the Advertiser, one call at a time.
  func advertise(_ advertisement: Advertisement?) async throws(TransportError)

  /// Starts or stops listening for advertisements. Who calls: the Scanner, one call at a time.
  func scan(_ isScanning: Bool) async throws(TransportError)

  /// Opens a link to an address that was heard. Goes through the six steps of a Bluetooth LE dial and reports each
  /// one through `progress` as it is reached; a failure names the step that failed. Cancelling the task gives up.
  func connect(
    to address: TransportAddress, progress: @escaping @Sendable (DialStep) -> Void
  ) async throws(TransportError) -> any TransportLink
}

extension Transport {
  /// Nothing is counted.
  public var counters: [String: UInt64] { [:] }
}

/// What a transport is and what it carries, constant for its life.
public struct TransportProperties: Sendable, Hashable {
  /// The scheme it was made with: `bluez`, `local`, `memory`.
  public var scheme: String
  /// The name shown to people, unique in a node: `local`, `bluez:hci0`.
  public var name: String
  /// Bytes a second that one link carries at best, both directions together; budgets derive from it.
  public var bytesPerSecond: Int
  /// Links it holds at once at most.
  public var linkLimit: Int

  public init(scheme: String, name: String, bytesPerSecond: Int, linkLimit: Int) {
    self.scheme = scheme
    self.name = name
    self.bytesPerSecond = bytesPerSecond
    self.linkLimit = linkLimit
  }
}

/// Whether a transport can be used, in the words of Core Bluetooth.
public enum TransportState: String, Sendable, Hashable, CaseIterable {
  /// There is nothing to use: no adapter, no directory.
  case unsupported
  /// We may not use it.
  case unauthorized
  /// It is there and switched off.
  case poweredOff
  /// It can be used.
  case poweredOn
  /// It lost its state and is coming back.
  case resetting
}

/// Where a transport can reach a node: opaque to everybody but the transport that made it. At most 64 bytes.
public struct TransportAddress: Sendable, Hashable, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}

/// What a node tells the air about itself: nothing that says who it is.
public struct Advertisement: Sendable, Hashable {
  /// Random per boot, 4 bytes: lets two sightings of one node be seen as one.
  public var hint: UInt32
  /// Digest of the newest messages held, 2 bytes: another digest is a reason to connect.
  public var digest: UInt16

  public init(hint: UInt32, digest: UInt16) {
    self.hint = hint
    self.digest = digest
  }
}

/// An advertisement as it was heard.
public struct Sighting: Sendable, Hashable {
  public var address: TransportAddress
  /// Nil when the advertisement had none that could be read; nothing may depend on it.
  public var advertisement: Advertisement?
  /// Signal strength in dBm, if the transport knows.
  public var signalStrength: Int8?

  public init(address: TransportAddress, advertisement: Advertisement?, signalStrength: Int8?) {
    self.address = address
    self.advertisement = advertisement
    self.signalStrength = signalStrength
  }
}
