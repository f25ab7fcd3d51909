/// Something that has to hold before anything is believed: one type for each such check, declared beside the code that
/// makes it, and listed with the test that notices its absence in `Tools/verifications`.
///
/// A check is written `guard holds || Check.isSkipped else { refuse }`, so that what holds costs nothing more. Parsing is
/// no verification: where bytes make no value, there is nothing that could be believed.
///
/// A debug build, the one that tests run in, skips the check that `RELAYCHAT_SKIP_VERIFICATION` names.
/// `Tools/verifications --skip-each` runs the listed test with each check skipped and fails when it stays green. A release
/// build has no such variable: `isSkipped` is constant there.
package protocol Verification: Sendable {
  /// Lower case, words joined by hyphens, unique.
  static var name: String { get }
}

extension Verification {
  /// False in every build that is shipped.
  package static var isSkipped: Bool {
    #if SKIPPABLE_VERIFICATIONS
      SkippedVerification.name == name
    #else
      false
    #endif
  }
}
