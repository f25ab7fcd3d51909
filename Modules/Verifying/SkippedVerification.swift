#if SKIPPABLE_VERIFICATIONS
  import Glibc

  /// The one check that this process leaves out, for the tests of the tests.
  enum SkippedVerification {
    static let name: String? = unsafe getenv("RELAYCHAT_SKIP_VERIFICATION").map { unsafe String(cString: $0) }
  }
#endif
