/// Bounds of the transport in memory.
enum MemoryTransportLimits {
  /// What a link is taken to carry, for windows and budgets: a good Bluetooth LE link.
  static let bytesPerSecond = 60_000
  /// How often a node that goes on advertising is heard again.
  static let sightingInterval: Duration = .seconds(5)
}
