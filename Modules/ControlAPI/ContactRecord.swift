/// One line of `contact.list`: somebody we have to do with.
public struct ContactRecord: Codable, Sendable, Equatable {
  public enum State: String, Codable, Sendable, CaseIterable {
    /// Nobody has compared fingerprints.
    case seen
    /// The fingerprints were compared.
    case verified
    /// Another key bears the name; `contact.trust` settles who is meant.
    case changed
  }

  public var id: String
  public var name: String
  public var state: State
  public var isBlocked: Bool
  /// `contact.trust` has said that this peer is the one meant by its name.
  public var isMeant: Bool
  /// Who else bears the name, while that is not settled.
  public var rivalID: String?
  /// The sixty digits to compare with the rival.
  public var rivalFingerprint: String?
  /// The sixty digits that the two people compare, in twelve groups.
  public var fingerprint: String

  public init(
    id: String, name: String, state: State, isBlocked: Bool, isMeant: Bool = false, rivalID: String?,
    rivalFingerprint: String? = nil, fingerprint: String
  ) {
    self.id = id
    self.name = name
    self.state = state
    self.isBlocked = isBlocked
    self.isMeant = isMeant
    self.rivalID = rivalID
    self.rivalFingerprint = rivalFingerprint
    self.fingerprint = fingerprint
  }
}
