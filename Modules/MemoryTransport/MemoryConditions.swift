/// What the air between two nodes does to frames.
package struct MemoryConditions: Sendable, Hashable {
  /// Share of frames that are lost, 0 to 1.
  package var loss: Double
  /// Time a frame takes; it never overtakes another of the same direction.
  package var delay: Duration
  /// Added to `delay`, spread evenly from zero.
  package var jitter: Duration
  /// Largest frame in bytes.
  package var frameSize: Int

  package init(loss: Double = 0, delay: Duration = .zero, jitter: Duration = .zero, frameSize: Int = 244) {
    self.loss = loss
    self.delay = delay
    self.jitter = jitter
    self.frameSize = frameSize
  }
}
