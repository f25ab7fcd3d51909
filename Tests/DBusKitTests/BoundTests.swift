import DBusKit
import FakeBlueZ
import Streams
import TestKit
import Testing

/// How much may be with a bus at a time.
struct BoundTests {
  @Test func thirtyTwoCallsAreOutstandingAndTheOthersFollowInTheirOrder() {
    var table = CallTable()
    let tokens = (0..<100).compactMap { _ in table.begin(deadline: .never) }
    #expect(tokens.count == 100)
    var sent: [CallTable.Token] = []
    func sendAll() {
      while let token = table.next() {
        sent.append(token)
        table.sent(token, serial: UInt32(sent.count))
      }
    }
    sendAll()
    #expect(table.outstanding == 32 && sent == Array(tokens[..<32]))
    let answered = (UInt32(1)...10).compactMap { table.answered($0) }
    #expect(answered == Array(tokens[..<10]))
    sendAll()
    #expect(table.outstanding == 32 && sent == Array(tokens[..<42]))
  }

  @Test func callsThatWaitAreBoundedToo() {
    var table = CallTable()
    var taken = 0
    while table.begin(deadline: .never) != nil { taken += 1 }
    #expect(taken == DBusKitLimits.waitingCalls)
  }

  /// The connection does not run, so everything stays in the queue: it takes 256 KiB and not a message more.
  @Test func queueForTheBusIsBoundedInBytes() async throws {
    let bus = try #require(PrivateBus(), "dbus-daemon is needed")
    let connection = try await DBusConnection.open(.address(bus.address), time: ManualTime().source)
    var sent = 0
    var refusal: DBusError?
    while refusal == nil, sent < 10_000 {
      do throws(DBusError) {
        try await connection.send(.signal("/a", "a.b", "C", [.bytes([UInt8](repeating: 1, count: 1_000))]))
        sent += 1
      } catch { refusal = error }
    }
    #expect(refusal == .queueFull)
    let queued = await connection.queuedBytes
    #expect(queued >= DBusKitLimits.queuedBytes && queued < DBusKitLimits.queuedBytes + 2_000, "\(queued)")
  }
}
