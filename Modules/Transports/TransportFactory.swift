public import Streams

/// Why a transport could not do what was asked.
public enum TransportError: Error, Sendable, Equatable {
  case notPoweredOn
  /// A dial failed after it had reached `reached`; the step after that is the one that failed.
  case dialFailed(reached: DialStep, reason: String)
  /// The transport holds as many links as it can.
  case noFreeLink(limit: Int)
  case cancelled
  /// Anything else that the transport's documentation names.
  case failed(reason: String)
}

/// What `Transport.run` throws when no other attempt could end differently: the node ends and says why.
///
/// After any other error the transport is started again, with growing delays.
public struct TransportUnusableError: Error, Sendable, Equatable, CustomStringConvertible {
  /// One sentence with the remedy, without a full stop.
  public var reason: String

  public init(reason: String) { self.reason = reason }

  public var description: String { reason }
}

/// An option that a transport does not understand, or a value that it cannot use.
public struct TransportConfigurationError: Error, Sendable, Equatable {
  public var option: String
  public var reason: String

  public init(option: String, reason: String) {
    self.option = option
    self.reason = reason
  }
}

/// What a transport is made from: `--transport SCHEME:key=value,key=value` or `[transport.NAME]` of the configuration.
public struct TransportOptions: Sendable, Equatable {
  public var scheme: String
  public var values: [String: String]

  public init(scheme: String, values: [String: String]) {
    self.scheme = scheme
    self.values = values
  }

  /// Parses `SCHEME:key=value,key=value`; a lone value without `=` is the option `path`.
  public init(parsing text: String) throws(TransportConfigurationError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    scheme = String(parts[0])
    guard !scheme.isEmpty else { throw TransportConfigurationError(option: text, reason: "the scheme is missing") }
    values = [:]
    guard parts.count == 2, !parts[1].isEmpty else { return }
    for item in parts[1].split(separator: ",", omittingEmptySubsequences: true) {
      let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let key = pair.count == 2 ? String(pair[0]) : "path"
      guard values.updateValue(String(pair[pair.count - 1]), forKey: key) == nil else {
        throw TransportConfigurationError(option: key, reason: "it is given twice")
      }
    }
  }
}

/// What the node lends a transport while it makes one.
public struct TransportContext: Sendable {
  public var time: TimeSource
  /// 64 random bits from the node's source of randomness; for jitter and tokens, never for keys.
  public var random: @Sendable () -> UInt64
  /// The next link identifier of this process.
  public var nextLinkID: @Sendable () -> LinkID
  /// The node's name, for transports that show one.
  public var nodeName: String
  /// A message for the log: never payloads, never keys.
  public var note: @Sendable (String) -> Void
  /// What was learned and is to be known again after a restart.
  public var memory: TransportMemory

  public init(
    time: TimeSource, random: @escaping @Sendable () -> UInt64, nextLinkID: @escaping @Sendable () -> LinkID,
    nodeName: String, note: @escaping @Sendable (String) -> Void, memory: TransportMemory = .none
  ) {
    self.time = time
    self.random = random
    self.nextLinkID = nextLinkID
    self.nodeName = nodeName
    self.note = note
    self.memory = memory
  }
}

/// A kind of transport that a daemon was built with, found at run time by its scheme.
public struct TransportFactory: Sendable {
  /// Lower-case letters and digits.
  public var scheme: String
  /// One line for `--help`: `local:DIRECTORY[,x=0,y=0,range=10]`.
  public var usage: String
  public var make: @Sendable (TransportOptions, TransportContext) throws(TransportConfigurationError) -> any Transport

  public init(
    scheme: String, usage: String,
    make: @escaping @Sendable (TransportOptions, TransportContext) throws(TransportConfigurationError) -> any Transport
  ) {
    self.scheme = scheme
    self.usage = usage
    self.make = make
  }
}
