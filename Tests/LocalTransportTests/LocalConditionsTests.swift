import Streams
import TestKit
import Testing
import Transports

@testable import LocalTransport

/// Two linked nodes in an air that changes.
@Suite struct LocalConditionsTests {
  func frame(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

  func number(_ frame: [UInt8]) -> Int { frame.enumerated().reduce(0) { $0 | Int($1.element) << (8 * $1.offset) } }

  func nextNumber(_ link: any TransportLink) async -> Int? {
    while let input = await link.inputs.next() {
      if case .frame(let frame) = input { return number(frame) }
    }
    return nil
  }

  func send(_ number: Int, on link: any TransportLink) async -> Bool {
    while true {
      switch link.send(frame(number)) {
      case .sent: return true
      case .full:
        while let input = await link.inputs.next() {
          if case .writable = input { break }
        }
      default: return false
      }
    }
  }

  /// Reads these frames, in this order.
  func expect(_ numbers: Range<Int>, on link: any TransportLink) async -> Bool {
    for number in numbers {
      let heard = await nextNumber(link)
      guard heard == number else {
        Issue.record("frame \(String(describing: heard)) came in place of \(number)")
        return false
      }
    }
    return true
  }

  func awaitWritable(_ link: any TransportLink) async {
    while let input = await link.inputs.next() {
      if case .writable = input { return }
    }
  }

  @Test func framesAreLostAtTheRateOfTheFile() async throws {
    let harness = LocalHarness()
    try await TransportContractProbe.linked(harness) { pair in
      harness.setAir("air ada bob", "loss = 0.5\nframe-size = 100")
      try await TransportContractProbe.frameSize(100, pair.central)
      for number in 0..<200 { #expect(pair.central.send(frame(number)) == .sent) }
      pair.central.close()
      var numbers: [Int] = []
      while let number = await nextNumber(pair.peripheral) { numbers.append(number) }
      #expect((60...140).contains(numbers.count), "of 200 frames came \(numbers.count)")
      #expect(numbers == numbers.sorted())
    }
  }

  @Test func aDelayKeepsTheOrderAlsoWhenItEnds() async throws {
    let harness = LocalHarness()
    try await TransportContractProbe.linked(harness) { pair in
      harness.setAir("air ada bob", "delay = 30\njitter = 60\nframe-size = 100")
      try await TransportContractProbe.frameSize(100, pair.central)
      for number in 0..<300 { #expect(await send(number, on: pair.central)) }
      harness.setAir("air ada bob", "frame-size = 120")
      try await TransportContractProbe.frameSize(120, pair.central)
      for number in 300..<400 { #expect(await send(number, on: pair.central)) }
      #expect(await expect(0..<400, on: pair.peripheral))
      #expect(pair.peripheral.droppedFrames == 0)
    }
  }

  @Test func delayedFramesWaitForASocketWithoutRoom() async throws {
    let harness = LocalHarness()
    try await TransportContractProbe.linked(harness) { pair in
      harness.setAir("air ada bob", "delay = 5\nframe-size = 100")
      try await TransportContractProbe.frameSize(100, pair.central)
      // More than the reader's inputs, the socket and the delayed ones can hold.
      var sent = 0
      while sent < 100_000, pair.central.send(frame(sent)) == .sent { sent += 1 }
      #expect(sent >= LocalTransportLimits.delayedFramesPerLink && sent < 100_000)
      #expect(await expect(0..<sent - 100, on: pair.peripheral))
      await awaitWritable(pair.central)
      let first = sent - 100
      for _ in 0..<200 where pair.central.send(frame(sent)) == .sent { sent += 1 }
      #expect(await expect(first..<sent, on: pair.peripheral))
      #expect(pair.peripheral.droppedFrames == 0)
    }
  }

  @Test func aNodeThatMovesAwayIsLostAndComesBack() async throws {
    let harness = LocalHarness()
    harness.directory.write("x = 0\nrange = 10\n", to: "ada.place")
    harness.directory.write("x = 10\nrange = 10\n", to: "bob.place")
    try await TransportContractProbe.linked(harness) { pair in
      harness.directory.write("x = 10.5\nrange = 10\n", to: "bob.place")
      while await pair.central.inputs.next() != nil {}
      while await pair.peripheral.inputs.next() != nil {}
      #expect(
        [.lost, .closedByPeer].contains(pair.central.end) && [.lost, .closedByPeer].contains(pair.peripheral.end))
      harness.directory.write("x = 9.5\nrange = 10\n", to: "bob.place")
      let again = try await TransportContractProbe.link(pair)
      #expect(again.central.send(frame(1)) == .sent)
      #expect(await nextNumber(again.peripheral) == 1)
    }
  }

  @Test func aBrokenAirFileIsNotedAndTheFormerStays() async throws {
    let harness = LocalHarness()
    try await TransportContractProbe.linked(harness) { pair in
      harness.setAir("air", "frame-size = 100")
      try await TransportContractProbe.frameSize(100, pair.central)
      harness.directory.write("[air\nframe-size = 200\n", to: "air.ini")
      while harness.notes.isEmpty { await Task.yield() }
      #expect(pair.central.frameSize == 100)
      harness.setAir("air", "frame-size = 150")
      try await TransportContractProbe.frameSize(150, pair.central)
    }
  }

  @Test func bytesThatAreNoMessageEndOneLinkAndNothingElse() async throws {
    let harness = LocalHarness()
    try await TransportContractProbe.linked(harness) { pair in
      let directory = LocalDirectory(path: harness.directory.path, name: "mallory")
      let seed: UInt64 = 3
      var random = SeededGenerator(seed: seed)
      for _ in 0..<200 {
        guard let descriptor = directory.connect(to: "bob") else { continue }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let bytes = (0..<Int.random(in: 1...5_000, using: &random)).map { _ in
            UInt8.random(in: 0...20, using: &random)
          }
          LocalSocket.send(bytes, descriptor)
        }
        LocalSocket.close(descriptor)
      }
      #expect(pair.central.send(frame(5)) == .sent)
      #expect(await nextNumber(pair.peripheral) == 5)
    }
  }

  @Test func aNodeDoesNotDialItself() async throws {
    let harness = LocalHarness()
    let nodes = try TransportContractProbe.nodes(harness, "ada")
    try await TransportContractProbe.running(harness, nodes) {
      do {
        _ = try await nodes[0].connect(to: TransportAddress("ada")) { _ in }
        Issue.record("it has a link with itself")
      } catch {
        #expect(error as? TransportError == .dialFailed(reached: .scan, reason: "out of reach"))
      }
    }
  }
}
