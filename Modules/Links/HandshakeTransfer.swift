package import Streams

/// Why bytes on a link are not a handshake.
package enum HandshakeTransferError: Error, Sendable, Equatable {
  case malformed
  /// More than `LinksLimits.handshakeBytes` without the end of a message.
  case tooLong
}

/// Carries handshake messages over a link that may lose frames: in order, each piece acknowledged before the next.
///
/// A handshake frame is told from a sealed one by its first byte, because a sealed frame starts with a length below
/// 2^15. Layout:
///
///     piece            0x80 ‖ sequence 1 ‖ last 1 (0 or 1) ‖ data 1…
///     acknowledgement  0x81 ‖ sequence 1
///
/// Pure; one per link, kept after the handshake because the last acknowledgement may be asked for again.
package struct HandshakeTransfer: Sendable {
  static let pieceMark: UInt8 = 0x80
  static let acknowledgementMark: UInt8 = 0x81
  static let pieceHeader = 3

  private struct Sent: Sendable {
    var frame: [UInt8]
    var deadline: MonotonicTime
  }

  private var outgoing: [(bytes: [UInt8], offset: Int)] = []
  private var answers: [[UInt8]] = []
  private var unacknowledged: Sent?
  private var nextSent: UInt8 = 0
  private var nextReceived: UInt8 = 0
  private var buffer: [UInt8] = []

  package init() {}

  /// Whether a frame belongs to the handshake.
  package static func owns(_ frame: [UInt8]) -> Bool { (frame.first ?? 0) >= pieceMark }

  /// Whether everything handed over was acknowledged.
  package var isSettled: Bool { outgoing.isEmpty && unacknowledged == nil }

  package mutating func send(_ message: [UInt8]) { outgoing.append((message, 0)) }

  /// - Returns: a message that is whole now.
  package mutating func receive(_ frame: [UInt8]) throws(HandshakeTransferError) -> [UInt8]? {
    guard frame.count >= 2 else { throw .malformed }
    switch frame[0] {
    case Self.acknowledgementMark:
      guard frame.count == 2 else { throw .malformed }
      if let sent = unacknowledged, sent.frame[1] == frame[1] { unacknowledged = nil }
      return nil
    case Self.pieceMark:
      guard frame.count > Self.pieceHeader, frame[2] <= 1 else { throw .malformed }
      return try receivePiece(frame)
    default: throw .malformed
    }
  }

  private mutating func receivePiece(_ frame: [UInt8]) throws(HandshakeTransferError) -> [UInt8]? {
    let isNext = frame[1] == nextReceived
    guard isNext || frame[1] == nextReceived &- 1 else { return nil }
    answers = [[Self.acknowledgementMark, frame[1]]]
    guard isNext else { return nil }
    guard buffer.count + frame.count - Self.pieceHeader <= LinksLimits.handshakeBytes else { throw .tooLong }
    nextReceived &+= 1
    buffer += frame[Self.pieceHeader...]
    guard frame[2] == 1 else { return nil }
    defer { buffer = [] }
    return buffer
  }

  /// The next frame to send, or nil when it is the peer's turn.
  package mutating func nextFrame(limit: Int, now: MonotonicTime) -> [UInt8]? {
    if let answer = answers.popLast() { return answer }
    if var sent = unacknowledged {
      guard sent.deadline <= now else { return nil }
      sent.deadline = now.advanced(by: LinksLimits.handshakeRetry)
      unacknowledged = sent
      return sent.frame
    }
    guard let (bytes, offset) = outgoing.first else { return nil }
    let end = min(bytes.count, offset + max(1, limit - Self.pieceHeader))
    let isLast = end == bytes.count
    let frame = [Self.pieceMark, nextSent, isLast ? 1 : 0] + bytes[offset..<end]
    if isLast { outgoing.removeFirst() } else { outgoing[0].offset = end }
    nextSent &+= 1
    unacknowledged = Sent(frame: frame, deadline: now.advanced(by: LinksLimits.handshakeRetry))
    return frame
  }

  /// When a piece is to be sent again.
  package var deadline: MonotonicTime? { unacknowledged?.deadline }
}
