import ControlAPI
import Testing

@testable import ControlServer

@Suite struct LineSplitterTests {
  @Test func linesComeWhole() {
    var splitter = LineSplitter(limit: 10)
    splitter.append(Array("ab\n\ncd".utf8))
    #expect(splitter.next() == .line(Array("ab".utf8)))
    #expect(splitter.next() == nil)
    splitter.append(Array("ef\n".utf8))
    #expect(splitter.next() == .line(Array("cdef".utf8)))
    #expect(splitter.next() == nil)
  }

  @Test func lineMayHaveTheLimitAndNoMore() {
    var splitter = LineSplitter(limit: 4)
    splitter.append(Array("abc\n".utf8))
    #expect(splitter.next() == .line(Array("abc".utf8)))
    splitter.append(Array("abc".utf8))
    #expect(splitter.next() == nil)
    splitter.append(Array("d".utf8))
    #expect(splitter.next() == .tooLong)
    var whole = LineSplitter(limit: 4)
    whole.append(Array("abcd\n".utf8))
    #expect(whole.next() == .tooLong)
  }

  @Test func anyCutGivesTheSameLines() {
    let text = Array("one\ntwo\n\nthree\nfour".utf8)
    for cut in 0...text.count {
      var splitter = LineSplitter(limit: 100)
      var lines: [LineSplitter.Piece] = []
      for part in [text[..<cut], text[cut...]] {
        splitter.append(part)
        while let piece = splitter.next() { lines.append(piece) }
      }
      #expect(lines == ["one", "two", "three"].map { .line(Array($0.utf8)) })
    }
  }
}

@Suite struct OutputQueueTests {
  private func drain(_ queue: inout OutputQueue) -> String {
    var text = ""
    while true {
      let bytes = queue.next { Array("lagged(\($0)) ".utf8) }
      if bytes.isEmpty { return text }
      text += String(decoding: bytes, as: UTF8.self)
      queue.wrote(bytes.count)
    }
  }

  private func line(_ text: String) -> [UInt8] { Array((text + " ").utf8) }

  /// For calls that change what they ask, which `#expect` cannot take apart.
  private func check(_ isTrue: Bool, _ location: SourceLocation = #_sourceLocation) {
    #expect(isTrue, sourceLocation: location)
  }

  @Test func eventsWaitForTheSnapshot() {
    var queue = OutputQueue()
    queue.isHoldingEvents = true
    queue.append(event: line("event"))
    #expect(drain(&queue).isEmpty && queue.isEmpty)
    queue.isHoldingEvents = false
    check(queue.append(answer: line("answer")))
    #expect(drain(&queue) == "answer event ")
    #expect(queue.isEmpty)
  }

  @Test func oldestEventsGoAndTheSubscriberIsTold() {
    var queue = OutputQueue()
    for number in 0..<(ControlServerLimits.waitingEvents + 3) { queue.append(event: line("\(number)")) }
    #expect(drain(&queue).hasPrefix("lagged(3) 3 4 5 "))
    queue.miss(7)
    #expect(!queue.isEmpty)
    #expect(drain(&queue) == "lagged(7) ")
  }

  @Test func bytesOfEventsAreBounded() {
    var queue = OutputQueue()
    let half = [UInt8](repeating: 65, count: ControlServerLimits.bytesOfEvents / 2)
    check(queue.append(event: half) == 0)
    check(queue.append(event: half) == 0)
    check(queue.append(event: half) == 1)
  }

  @Test func answersAreBoundedButOneAlwaysFits() {
    var queue = OutputQueue()
    check(queue.append(answer: [UInt8](repeating: 65, count: ControlServerLimits.bytesOfAnswers * 2)))
    check(!queue.append(answer: line("x")))
  }

  @Test func anotherUserHasNoPermission() {
    func permission(user: UInt32, isOfGroup: Bool) -> ControlPermission? {
      ConnectedClient.permission(user: user, own: 1_000, groupPermission: .send) { isOfGroup }
    }
    #expect(permission(user: 1_000, isOfGroup: false) == .admin)
    #expect(permission(user: 0, isOfGroup: false) == .admin)
    #expect(permission(user: 1_001, isOfGroup: true) == .send)
    #expect(permission(user: 1_001, isOfGroup: false) == nil)
  }

  @Test func partialWritesGoOnWhereTheyStopped() {
    var queue = OutputQueue()
    _ = queue.append(answer: line("hello"))
    var text = ""
    while let byte = queue.next(lagged: { _ in nil }).first {
      text.unicodeScalars.append(Unicode.Scalar(byte))
      queue.wrote(1)
    }
    #expect(text == "hello ")
  }
}

@Suite struct ClientSessionTests {
  @Test func helloComesFirstAndNamesTheVersion() throws {
    var session = ClientSession()
    #expect(throws: ControlError(.notReady, "node.hello comes first")) {
      try session.admit(.status, permission: .admin)
    }
    #expect(throws: ControlError.self) {
      try session.admit(.hello(HelloParameters(apiVersion: 2, client: "x")), permission: .admin)
    }
    try session.admit(.hello(HelloParameters(client: "x")), permission: .read)
    try session.admit(.status, permission: .read)
    #expect(throws: ControlError.self) { try session.admit(.stop, permission: .send) }
    #expect(throws: ControlError.self) {
      try session.admit(.sendMessage(SendParameters(to: "a", text: "b")), permission: .read)
    }
  }
}
