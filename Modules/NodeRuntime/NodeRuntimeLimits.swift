/// Limits of this module, each with its reason.
enum NodeRuntimeLimits {
  /// How often the time that we have reached is kept: after a crash our clock is behind by at most this, and a disk is
  /// written to a few hundred times a day.
  static let floorInterval: Duration = .seconds(300)
}
