import ControlAPI
import Testing

@testable import Programs

@Suite struct VerificationTextTests {
  private let own = String(repeating: "0b", count: 16)
  private let ann = String(repeating: "a1", count: 16)
  private let digits = Array(repeating: "01234", count: 12).joined(separator: " ")

  private func contact(_ id: String, _ fingerprint: String? = nil) -> ContactRecord {
    ContactRecord(
      id: id, name: "Ann", state: .seen, isBlocked: false, rivalID: nil, fingerprint: fingerprint ?? digits)
  }

  /// What Ann's screen shows for us.
  private var shown: String {
    VerificationText(ownID: ann, contact: contact(own)).map(\.description) ?? ""
  }

  @Test func theTextHasTheWholeIDAndAllDigits() {
    #expect(shown == "relaychat:verify?id=\(ann)&check=\(digits.replacing(" ", with: ""))")
  }

  @Test func whatIsShownIsReadBackAndMatches() {
    for text in [shown, " \(shown)\r\n", shown.uppercased(), shown + "&later=1"] {
      let scanned = VerificationText(scanned: text)
      #expect(scanned?.verdict(on: contact(ann), ownID: own) == .matches, "\(text)")
    }
  }

  @Test func aCodeOfAnotherPeerIsToldFromOneMadeForAnother() throws {
    let scanned = try #require(VerificationText(scanned: shown))
    let other = String(repeating: "c2", count: 16)
    #expect(scanned.verdict(on: contact(other), ownID: own) == .anotherPeer(id: ann))
    #expect(scanned.verdict(on: contact(ann, digits.replacing("4", with: "5")), ownID: own) == .madeForAnother)
    #expect(scanned.verdict(on: contact(ann, ""), ownID: own) == .madeForAnother)
    #expect(scanned.verdict(on: contact(other), ownID: ann) == .own)
  }

  @Test func everyChangedCharacterIsRefusedOrDoesNotMatch() {
    for index in shown.indices {
      for new in ["0", "9", "f", "&", "=", "", "é", " "] where String(shown[index]) != new {
        let changed = shown.replacingCharacters(at: index, with: new)
        let verdict = VerificationText(scanned: changed)?.verdict(on: contact(ann), ownID: own)
        #expect(verdict != .matches, "\(changed)")
      }
    }
  }

  @Test(arguments: [
    "", "relaychat:verify?", "relaychat:verify?id=&check=", "https://example.org", "relaychat:verify?id&check",
    "relaychat:verify?&&&", "\u{1B}[31m", String(repeating: "relaychat:verify?", count: 100),
  ]) func whatIsNoCodeIsRefused(text: String) { #expect(VerificationText(scanned: text) == nil) }

  @Test func aPartThatStandsTwiceIsRefused() {
    #expect(VerificationText(scanned: shown + "&id=\(ann)") == nil)
    #expect(VerificationText(scanned: shown + "&x=1&x=1") == nil)
    #expect(VerificationText(scanned: shown + String(repeating: "&x=1", count: 400)) == nil)
  }

  @Test func whatIsNoFingerprintIsNotShown() {
    #expect(VerificationText(ownID: "", contact: contact(ann)) == nil)
    #expect(VerificationText(ownID: own, contact: contact(ann, "")) == nil)
  }
}

extension String {
  fileprivate func replacingCharacters(at index: Index, with text: String) -> String {
    String(self[..<index]) + text + self[self.index(after: index)...]
  }
}
