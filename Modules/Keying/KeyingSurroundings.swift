internal import Glibc
internal import Lifecycle
package import Primitives

/// Environment variables as this module reads them.
package protocol KeyingEnvironment: Sendable {
  func value(of name: String) -> String?
}

/// The clock that makes a refusal take its time.
package protocol KeyingClock: Sendable {
  /// Since any moment; never runs backwards.
  func now() -> Duration
  /// Blocks the calling thread.
  func wait(_ duration: Duration)
}

/// Variables that were read at the start.
package struct ReadEnvironment: KeyingEnvironment {
  private let values: [String: String]

  package init(_ values: [String: String]) { self.values = values }

  package func value(of name: String) -> String? { values[name] }
}

/// The clock of the machine.
package struct SystemKeyingClock: KeyingClock {
  package init() {}

  package func now() -> Duration { SystemTime.monotonic() }

  package func wait(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return }
    var rest = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    while true {
      let wanted = rest
      guard unsafe withUnsafePointer(to: wanted, { unsafe nanosleep($0, &rest) }) != 0, errno == EINTR else { return }
    }
  }
}

/// Everything outside that keys are made of and kept in.
package struct KeyingSurroundings: Sendable {
  package var fileSystem: any FileSystem
  package var environment: any KeyingEnvironment
  package var clock: any KeyingClock
  package var random: RandomSource
  package var stretcher: PassphraseStretcher

  package init(
    fileSystem: any FileSystem, environment: any KeyingEnvironment, clock: any KeyingClock, random: RandomSource,
    stretcher: PassphraseStretcher = .scrypt
  ) {
    self.fileSystem = fileSystem
    self.environment = environment
    self.clock = clock
    self.random = random
    self.stretcher = stretcher
  }

  /// Those of the machine.
  package static func system(environment: [String: String]) -> KeyingSurroundings {
    KeyingSurroundings(
      fileSystem: SystemFileSystem(), environment: ReadEnvironment(environment), clock: SystemKeyingClock(),
      random: .system)
  }
}
