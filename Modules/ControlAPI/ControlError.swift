/// What went wrong, as a stable number. Numbers are never reused.
public enum ControlErrorCode: Int, Sendable, Codable, CaseIterable {
  /// The line is no JSON.
  case parse = -32700
  /// The line is no request of JSON-RPC 2.0.
  case invalidRequest = -32600
  case unknownMethod = -32601
  case invalidParameters = -32602
  /// The node failed; the request was right.
  case `internal` = -32603
  case permission = -32001
  case notFound = -32002
  /// The name or prefix fits several peers; the candidates are listed.
  case ambiguous = -32003
  case tooLong = -32004
  case timeout = -32005
  /// The node cannot do this yet, or not in its present state.
  case notReady = -32006
  case unsupportedVersion = -32007
  /// Another key bears the name of this contact: both are listed, and `contact.trust` settles who is meant.
  case contactChanged = -32008
  /// The peer is blocked here.
  case blocked = -32009
}

/// An error as it goes over the socket. `message` is short and for people; programs look at `code` and the facts.
public struct ControlError: Error, Sendable, Equatable, Codable {
  public struct Facts: Sendable, Equatable, Codable {
    /// What an ambiguous reference could mean, each good as a reference itself.
    public var candidates: [String]?
    /// The largest number or size that would have been taken.
    public var limit: Int?

    public init(candidates: [String]? = nil, limit: Int? = nil) {
      self.candidates = candidates
      self.limit = limit
    }
  }

  public let code: ControlErrorCode
  public let message: String
  public let data: Facts?

  public init(_ code: ControlErrorCode, _ message: String, candidates: [String]? = nil, limit: Int? = nil) {
    self.code = code
    self.message = message
    data = candidates == nil && limit == nil ? nil : Facts(candidates: candidates, limit: limit)
  }
}
