internal import CLinux

/// What the kernel knows about the time of day.
enum SystemClock {
  /// Whether something keeps it right: `adjtimex` does not say that it is unsynchronised.
  static var isSynchronised: Bool { clinux_is_clock_synchronised() == 1 }
}
