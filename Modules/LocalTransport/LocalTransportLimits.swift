/// Bounds of the transport between processes, each with its reason.
package enum LocalTransportLimits {
  /// Bytes a second that a link is taken to carry: a socket is as fast as the machine.
  static let bytesPerSecond = 100_000_000
  /// Links a node holds.
  static let links = 32
  /// Nodes of one directory that are looked at; more are ignored.
  static let nodes = 256
  /// Bytes of a node's name, so that its socket fits the 107 bytes of a path.
  package static let nameBytes = 32
  /// Bytes of one file of the directory.
  static let fileBytes = 64 << 10
  /// A dial that has not ended by then has failed.
  static let dialTimeout: Duration = .seconds(5)
  /// A node that goes on advertising is heard again after this time.
  static let sightingInterval: Duration = .seconds(10)
  /// Messages taken from a socket at once.
  static let batch = 32
  /// The largest message: a mark and a frame.
  static let messageBytes = 1 + 4_096
  /// Frames of one link under way with a delay; a sender is told that there is no room for more, and that there is
  /// again when half of them have left.
  static let delayedFramesPerLink = 1_024
  /// Dials that wait for the loop; more are refused. A node makes two at a time.
  static let waitingDials = 64
  /// Bytes of the reason why a dial is refused.
  static let reasonBytes = 128
  /// How long a link waits whose reader is slow, before it is tried again.
  static let stallMilliseconds: Int32 = 1
  /// The frame size unless told otherwise: what a good Bluetooth LE link offers.
  package static let frameSize = 509
}
