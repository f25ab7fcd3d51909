/// What a reader was asked for and what there was.
///
/// `needed > available`: the bytes end too early. `needed < available`: the bytes should have ended and did not.
///
/// Public for the reason of `ByteReader`.
public struct ByteError: Error, Equatable, Hashable {
  /// Bytes the next field takes.
  public let needed: Int
  /// Bytes that were left.
  public let available: Int

  @inlinable
  package init(needed: Int, available: Int) {
    self.needed = needed
    self.available = available
  }
}
