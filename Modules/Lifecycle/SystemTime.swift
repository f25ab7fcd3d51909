import Glibc

/// The clocks of the machine. Read only where a program is put together, and handed to everything else as a closure.
package enum SystemTime {
  /// Since 1970-01-01 UTC. May be wrong, and may jump.
  package static func sinceEpoch() -> Duration { read(CLOCK_REALTIME) }

  /// Since the machine started, sleep included. Never runs backwards.
  package static func sinceBoot() -> Duration { read(CLOCK_BOOTTIME) }

  /// Since the machine started, without sleep; what systemd calls monotonic.
  package static func monotonic() -> Duration { read(CLOCK_MONOTONIC) }

  private static func read(_ clock: clockid_t) -> Duration {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }
}
