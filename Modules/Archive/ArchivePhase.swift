/// How far the archive is sealed; kept in it.
///
///     plain → sealing → scrubbing → sealed
///               ↓↑         ↓          ↓
///             unsealing ←─────────────┘ → plain
///
/// Contacts and cards change sides in one transaction when `sealing` or `unsealing` begins, messages in groups after
/// that, so that a kill leaves rows that are plain or sealed, and both are read. In `sealed` a plain row is no row.
package enum ArchivePhase: String, Sendable, CaseIterable {
  case plain
  case sealing
  /// Every row is sealed; pages may still hold what once stood in them.
  case scrubbing
  case sealed
  case unsealing

  /// Whether what is written now is sealed.
  var seals: Bool { self == .sealing || self == .scrubbing || self == .sealed }
  /// Whether there may be rows of the other kind.
  var isMixed: Bool { self == .sealing || self == .unsealing }
}

/// How far a change of the phase has come.
package struct ArchiveSealing: Sendable, Equatable {
  package var phase: ArchivePhase
  /// The number of the last message dealt with, and the highest there is.
  package var done: Int64
  package var total: Int64
  /// Messages that could not be read and were left as they were by the changes since the archive was opened: what stands
  /// in them in plain still does. They are shown to nobody.
  package var leftPlain = 0

  package var isDone: Bool { phase == .plain || phase == .sealed }
}
