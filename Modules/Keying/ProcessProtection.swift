internal import CLinux

/// Keeps the memory of this process to itself: no core dump, no tracing by others of the same user.
package enum ProcessProtection {
  /// Called once at the start, before anything secret is read. Says whether it holds now.
  package static func begin() -> Bool { clinux_set_undumpable() == 0 && isActive }

  /// Asked of the kernel.
  package static var isActive: Bool { clinux_is_dumpable() == 0 }
}
