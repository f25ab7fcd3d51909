package import ControlAPI

/// What the screen of one person shows for another to scan:
///
///     relaychat:verify?id=<PeerID of who shows it, 32 hexadecimal digits>&check=<the sixty digits of the two peers>
///
/// The ID is a hash of the key that signs, so it says which key is meant; the digits are of both peers, so a code made
/// for one person is of no use to another. There is nothing secret in it: whoever sees it can do no more than read it.
package struct VerificationText: Sendable, Equatable, CustomStringConvertible {
  /// What a scanned text says about a peer.
  package enum Verdict: Sendable, Equatable {
    /// It is what this node expects: the two know each other's keys.
    case matches
    /// It is of another peer than the one that is to be verified: another key than the one known by that name.
    case anotherPeer(id: String)
    /// It is of that peer, but made for somebody else than this node: the peer takes another key for ours.
    case madeForAnother
    /// It is what this node itself shows.
    case own
  }

  /// Most bytes of a scanned text that are looked at: several times what one has.
  package static let byteLimit = 1_024

  private static let start = "relaychat:verify?"

  /// 32 hexadecimal digits, lower case.
  package let id: String
  /// Sixty digits.
  package let check: String

  /// What the node `ownID` shows to a contact of its own. Nil when they are no ID and no fingerprint.
  package init?(ownID: String, contact: ContactRecord) {
    self.init(id: ownID, check: contact.fingerprint.filter { $0 != " " })
  }

  /// Reads a scanned text, with white space around it and in capitals too. Parts of other names are for later versions
  /// and are left alone; a part that stands twice is refused.
  package init?(scanned text: some StringProtocol) {
    guard text.utf8.count <= Self.byteLimit else { return nil }
    let lowered = text.lowercased()
    var trimmed = lowered.drop(while: \.isWhitespace)
    while trimmed.last?.isWhitespace == true { trimmed.removeLast() }
    guard trimmed.hasPrefix(Self.start) else { return nil }
    var values: [Substring: Substring] = [:]
    for part in trimmed.dropFirst(Self.start.count).split(separator: "&", omittingEmptySubsequences: false) {
      let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard halves.count == 2, values.updateValue(halves[1], forKey: halves[0]) == nil else { return nil }
    }
    guard let id = values["id"], let check = values["check"] else { return nil }
    self.init(id: String(id), check: String(check))
  }

  private init?(id: String, check: String) {
    let isID = id.utf8.count == 32 && id.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    let isCheck = check.utf8.count == 60 && check.utf8.allSatisfy { (48...57).contains($0) }
    guard isID, isCheck else { return nil }
    self.id = id
    self.check = check
  }

  package var description: String { "\(Self.start)id=\(id)&check=\(check)" }

  /// Compares with what this node, `ownID`, knows of the peer.
  package func verdict(on contact: ContactRecord, ownID: String) -> Verdict {
    if id == contact.id {
      return check == contact.fingerprint.filter { $0 != " " } ? .matches : .madeForAnother
    }
    return id == ownID ? .own : .anotherPeer(id: id)
  }
}
