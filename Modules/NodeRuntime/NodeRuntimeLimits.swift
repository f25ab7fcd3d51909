/// Limits of this module, each with its reason.
enum NodeRuntimeLimits {
  /// How often the time that we have reached is kept: after a crash our clock is behind by at most this, and a disk is
  /// written to a few hundred times a day.
  static let floorInterval: Duration = .seconds(300)
  /// How often the addresses of proved peers are looked at; they are written when they have changed.
  static let addressInterval: Duration = .seconds(60)
  /// Parts of the history that one call searches before it answers, found or not: a tenth of a second.
  static let searchSlices = 20
  /// How often a store looks whether it may go on with its move: what it waits for is counted in days.
  static let storeInterval: Duration = .seconds(3_600)
  /// Days and restarts without trouble that a step of that move may be told to wait for: none is as good as
  /// `store migrate --now`, and nobody waits longer than a year.
  static let sealDays = 0...365
  static let sealRestarts = 0...100
  /// How often the files of a sealed node remember how far each is, where anything was written: what is put back from a
  /// copy of less than this before a kill goes unnoticed, and a card is written to a few thousand times a day at most.
  static let recordInterval: Duration = .seconds(30)
}
