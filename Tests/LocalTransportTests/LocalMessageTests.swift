import TestKit
import Testing
import Transports

@testable import LocalTransport

@Suite struct LocalMessageTests {
  static let golden: [(LocalMessage, [UInt8])] = [
    (.connect(name: "ada"), [1, 0x61, 0x64, 0x61]),
    (.connected, [2]),
    (.refused(reason: "no"), [3, 0x6e, 0x6f]),
    (.discoverService(Array(0..<16)), [4] + Array(0..<16)),
    (.serviceFound, [5]),
    (.discoverCharacteristic(Array(16..<32)), [6] + Array(16..<32)),
    (.characteristicFound, [7]),
    (.subscribe, [8]),
    (.subscribed, [9]),
    (.frame([0xff, 0]), [16, 0xff, 0]),
    (.frame([]), [16]),
  ]

  @Test func everyMessageHasItsBytes() {
    for (message, bytes) in Self.golden {
      #expect(message.encoded == bytes)
      #expect(LocalMessage(decoding: bytes[...]) == message)
    }
  }

  @Test(arguments: [
    [], [0], [2, 0], [5, 1], [7, 1], [8, 8], [9, 0], [4] + [UInt8](repeating: 0, count: 15),
    [4] + [UInt8](repeating: 0, count: 17), [6], [1], [1, 0x2f], [1, 0xff], [1] + [UInt8](repeating: 0x61, count: 33),
    [3, 0xff], [3] + [UInt8](repeating: 0x61, count: 129), [10], [15], [17, 1], [255],
  ])
  func whatIsNoMessageIsRefused(_ bytes: [UInt8]) { #expect(LocalMessage(decoding: bytes[...]) == nil) }

  @Test func aReasonIsCutBetweenCharacters() {
    let message = LocalMessage.refused(reason: String(repeating: "é", count: 100) + "x")
    #expect(LocalMessage(decoding: message.encoded[...]) == .refused(reason: String(repeating: "é", count: 64)))
    let odd = LocalMessage.refused(reason: "x" + String(repeating: "é", count: 100))
    #expect(LocalMessage(decoding: odd.encoded[...]) == .refused(reason: "x" + String(repeating: "é", count: 63)))
  }

  @Test func anyBytesGiveAMessageThatComesBackOrNone() {
    let seed: UInt64 = 7
    var random = SeededGenerator(seed: seed)
    for round in 0..<50_000 {
      let count = Int.random(in: 0...40, using: &random)
      var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      if count > 0, round.isMultiple(of: 2) { bytes[0] = UInt8.random(in: 0...17, using: &random) }
      if let message = LocalMessage(decoding: bytes[...]) {
        #expect(message.encoded == bytes, "seed \(seed), round \(round)")
      }
    }
  }

  @Test func aNameIsMadeValid() {
    for random in [0, 0xABC, UInt64.max] as [UInt64] { #expect(LocalName.isValid(LocalName.made(from: random))) }
    #expect(LocalName.made(from: 0xABC) == "node-0000000000000abc")
    #expect(
      LocalName.isValid(String(repeating: "x", count: 32)) && !LocalName.isValid(String(repeating: "x", count: 33)))
    #expect(!LocalName.isValid("") && !LocalName.isValid("a.b") && !LocalName.isValid("a/b"))
  }
}

@Suite struct LocalDialTests {
  /// Both ends of a dial, joined by hand.
  func run(admit: @escaping (String) -> String? = { _ in nil }) -> (
    central: LocalDial, peripheral: LocalDial, steps: [Int], ends: [LocalDial.Action]
  ) {
    var (central, first) = LocalDial.outgoing(from: "ada")
    var peripheral = LocalDial.incoming()
    var steps: [Int] = []
    var ends: [LocalDial.Action] = []
    var toPeripheral = [first]
    var toCentral: [LocalMessage] = []
    while !toPeripheral.isEmpty || !toCentral.isEmpty {
      let isForPeripheral = !toPeripheral.isEmpty
      let message = isForPeripheral ? toPeripheral.removeFirst() : toCentral.removeFirst()
      let actions =
        isForPeripheral
        ? peripheral.receive(message, admit: admit) : central.receive(message, admit: { _ in nil })
      for action in actions {
        switch action {
        case .send(let answer): if isForPeripheral { toCentral.append(answer) } else { toPeripheral.append(answer) }
        case .reached(let step): steps.append(step.rawValue)
        case .ready, .fail: ends.append(action)
        }
      }
    }
    return (central, peripheral, steps, ends)
  }

  @Test func aDialReachesEveryStep() {
    let outcome = run()
    #expect(outcome.steps == [2, 3, 4, 5])
    #expect(outcome.ends == [.ready, .ready])
    #expect(outcome.peripheral.peerName == "ada" && outcome.central.reached == .subscribe)
  }

  @Test func aDialThatIsNotAdmittedFailsAtBothEnds() {
    let outcome = run { _ in "out of reach" }
    #expect(outcome.ends == [.fail("out of reach"), .fail("out of reach")])
    #expect(outcome.central.reached == .scan && outcome.peripheral.peerName == nil)
  }

  @Test func aMessageOutOfOrderFails() {
    let messages: [LocalMessage] = LocalMessageTests.golden.map(\.0)
    for message in messages where message != .connected {
      var (central, _) = LocalDial.outgoing(from: "ada")
      let actions = central.receive(message) { _ in nil }
      #expect(actions.count == 1, "\(message)")
      guard case .fail? = actions.first else {
        Issue.record("\(message) was taken")
        continue
      }
    }
    for message in messages {
      if case .connect = message { continue }
      var peripheral = LocalDial.incoming()
      guard case .fail? = peripheral.receive(message, admit: { _ in nil }).last else {
        Issue.record("\(message) was taken")
        continue
      }
    }
  }

  @Test func anotherServiceIsRefused() {
    var peripheral = LocalDial.incoming()
    _ = peripheral.receive(.connect(name: "ada")) { _ in nil }
    let service = peripheral.receive(.discoverService(Array(repeating: 0, count: 16))) { _ in nil }
    #expect(service == [.send(.refused(reason: "no such service")), .fail("no such service")])
    let characteristic = peripheral.receive(.discoverCharacteristic(Array(repeating: 0, count: 16))) { _ in nil }
    #expect(characteristic == [.send(.refused(reason: "no such characteristic")), .fail("no such characteristic")])
    let again = peripheral.receive(.connect(name: "eve")) { _ in nil }
    #expect(again == [.fail("the peer broke the order of the dial")])
  }
}
