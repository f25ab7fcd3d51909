package import Streams

/// Which calls wait for an answer, which wait for their turn, and until when: at most `DBusKitLimits.outstandingCalls`
/// are with the bus at a time, and the others go in the order in which they were made. Pure.
package struct CallTable: Sendable {
  /// Names a call for its caller, for the life of the connection.
  package typealias Token = UInt64

  private struct Waiting: Sendable {
    var token: Token
    var deadline: MonotonicTime
  }

  private var bySerial: [UInt32: Token] = [:]
  private var serials: [Token: UInt32] = [:]
  private var deadlines: [Token: MonotonicTime] = [:]
  private var waiting: [Waiting] = []
  private var nextToken: Token = 0

  package init() {}

  package var outstanding: Int { bySerial.count }
  package var waitingCount: Int { waiting.count }

  /// A call was made. - Returns: its token, or nil when too many wait.
  package mutating func begin(deadline: MonotonicTime) -> Token? {
    guard waiting.count < DBusKitLimits.waitingCalls else { return nil }
    nextToken += 1
    waiting.append(Waiting(token: nextToken, deadline: deadline))
    deadlines[nextToken] = deadline
    return nextToken
  }

  /// The next call whose turn it is; `sent` or `end` follows.
  package mutating func next() -> Token? {
    guard bySerial.count < DBusKitLimits.outstandingCalls else { return nil }
    while !waiting.isEmpty {
      let token = waiting.removeFirst().token
      if deadlines[token] != nil { return token }
    }
    return nil
  }

  /// It has left under this serial.
  package mutating func sent(_ token: Token, serial: UInt32) {
    bySerial[serial] = token
    serials[token] = serial
  }

  /// An answer came. - Returns: for whom, or nil when nobody waits any more.
  package mutating func answered(_ serial: UInt32) -> Token? {
    guard let token = bySerial[serial] else { return nil }
    end(token)
    return token
  }

  /// Nobody waits for it any more. A call that has left keeps no place: its answer is dropped when it comes.
  package mutating func end(_ token: Token) {
    if let serial = serials.removeValue(forKey: token) { bySerial[serial] = nil }
    deadlines[token] = nil
    waiting.removeAll { $0.token == token }
  }

  /// The calls whose time is over; they are ended.
  package mutating func expire(now: MonotonicTime) -> [Token] {
    let over = deadlines.filter { $0.value <= now }.keys.sorted()
    for token in over { end(token) }
    return over
  }

  /// Every call there is; they are ended.
  package mutating func endAll() -> [Token] {
    let all = deadlines.keys.sorted()
    self = CallTable(after: nextToken)
    return all
  }

  private init(after token: Token) { nextToken = token }

  /// When `expire` has something to do.
  package var deadline: MonotonicTime? { deadlines.values.min() }
}
