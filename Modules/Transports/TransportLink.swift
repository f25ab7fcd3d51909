public import Streams

/// Names one link for the life of the process.
public struct LinkID: Sendable, Hashable, Comparable, CustomStringConvertible {
  public let number: UInt64

  public init(number: UInt64) { self.number = number }

  public var description: String { "link-\(number)" }

  public static func < (left: LinkID, right: LinkID) -> Bool { left.number < right.number }
}

/// Which end of a link we are.
public enum LinkRole: String, Sendable, Hashable {
  /// We dialled.
  case central
  /// We were dialled.
  case peripheral
}

/// How far a dial has come: the six steps that make two strangers a link, in order.
public enum DialStep: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// The peer advertises our service.
  case advertise
  /// We heard it.
  case scan
  /// The radio connection stands.
  case connect
  /// Our service was found there.
  case discoverService
  /// Its characteristic was found.
  case discoverCharacteristic
  /// We are subscribed: frames flow both ways.
  case subscribe

  public static func < (left: DialStep, right: DialStep) -> Bool { left.rawValue < right.rawValue }
}

/// What happens on a link.
public enum LinkInput: Sendable {
  /// A whole frame, in the order and with the bytes that the peer sent.
  case frame([UInt8])
  /// After `send` said `.full`: there is room again.
  case writable
  /// The largest frame changed, in bytes. Later frames may be that long.
  case frameSize(Int)
}

/// What became of a frame that was handed to a link.
public enum LinkSend: Sendable, Hashable {
  case sent
  /// No room now: nothing was taken, `LinkInput.writable` follows.
  case full
  /// The frame is longer than `frameSize`: nothing was taken.
  case tooLong
  case closed
}

/// Why a link ended.
public enum LinkEnd: String, Sendable, Hashable {
  /// We closed it.
  case closedHere
  /// The peer closed it, or its process ended.
  case closedByPeer
  /// The peer is out of range or the radio lost it.
  case lost
  /// The transport stopped or was switched off.
  case transportStopped
  /// The peer broke the transport's own rules.
  case protocolViolation
}

/// One open connection that carries frames: best effort, in order, each whole or not at all.
///
/// A link may lose frames (a radio does) but never alters, splits, joins, reorders or doubles them; who needs
/// more builds it above. `inputs` has one consumer and finishes when the link has ended; `end` then says why.
public protocol TransportLink: AnyObject, Sendable {
  var id: LinkID { get }
  var role: LinkRole { get }
  var address: TransportAddress { get }
  /// The largest frame that can be sent now, in bytes: 64 at least, 509 at most on Bluetooth.
  var frameSize: Int { get }
  /// Bounded: a frame that finds no room is dropped and counted in `droppedFrames`.
  var inputs: Channel<LinkInput> { get }
  /// Nil while the link is open.
  var end: LinkEnd? { get }
  /// Received frames dropped because `inputs` was full.
  var droppedFrames: UInt64 { get }

  /// Hands over one frame without waiting.
  func send(_ frame: [UInt8]) -> LinkSend

  /// Closes the link; frames already sent may still arrive. Doing it twice does nothing more.
  func close()
}
