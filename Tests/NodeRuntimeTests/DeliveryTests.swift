import MemoryTransport
import Sessions
import TestKit
import Testing

@testable import NodeRuntime

/// Meshes under loss and broken links deliver every message exactly once, counted at the clients' events.
@Suite struct DeliveryTests {
  enum Shape: String, CaseIterable, Sendable {
    case chainOfTen, ringOfEight

    var size: Int { self == .chainOfTen ? 10 : 8 }
  }

  static let messagesPerRun = 500
  static let seeds: [UInt64] = Array(1...10)

  @Test(arguments: Shape.allCases, seeds)
  func everyMessageArrivesExactlyOnce(shape: Shape, seed: UInt64) throws {
    let outcome = try run(shape, seed: seed, isDeduplicating: true)
    #expect(outcome.missing == 0 && outcome.doubled == 0, "\(shape.rawValue) seed \(seed): \(outcome)")
    #expect(outcome.framesLost > 0 && outcome.linksBroken > 0)
    print("\(shape.rawValue) seed \(seed): \(Self.messagesPerRun) messages, \(outcome)")
  }

  @Test func theSameRunFailsWithoutDeduplication() throws {
    let outcome = try run(.ringOfEight, seed: 1, isDeduplicating: false)
    #expect(outcome.linksBroken > 0 && outcome.framesLost > 0)
    #expect(outcome.doubled > 0, "without the table of seen packets messages must come twice: \(outcome)")
  }

  struct Outcome: CustomStringConvertible {
    var missing = 0
    var doubled = 0
    var framesLost: UInt64 = 0
    var linksBroken = 0

    var description: String {
      "\(missing) missing, \(doubled) doubled, \(framesLost) frames lost, \(linksBroken) links broken"
    }
  }

  private func run(
    _ shape: Shape, seed: UInt64, isDeduplicating: Bool, messages: Int = messagesPerRun
  ) throws -> Outcome {
    var random = SeededGenerator(seed: seed)
    let mesh = Mesh(seed: seed, isDeduplicating: isDeduplicating)
    for index in 0..<shape.size { try mesh.add("node-\(index)") }
    if shape == .chainOfTen { mesh.joinChain() } else { mesh.joinRing() }
    mesh.run(for: .seconds(60))
    #expect(!isDeduplicating || mesh.isAcquainted(), "seed \(seed): not everybody knows everybody")
    mesh.medium.setConditions(
      MemoryConditions(loss: 0.1, delay: .milliseconds(5), jitter: .milliseconds(20), frameSize: 244))

    var outcome = Outcome()
    for number in 0..<messages {
      let sender = mesh.members[Int.random(in: 0..<shape.size, using: &random)].node.session
      _ = try mesh.call { try await sender.send("message \(number)", to: .everyone) }
      mesh.run(for: .milliseconds(Int.random(in: 20...400, using: &random)))
      guard number % 10 == 9 else { continue }
      let edge = Int.random(in: 0..<(shape == .chainOfTen ? shape.size - 1 : shape.size), using: &random)
      let (one, other) = (mesh.members[edge].name, mesh.members[(edge + 1) % shape.size].name)
      outcome.linksBroken += 1
      if number % 20 == 9 {
        mesh.medium.breakLinks(one, other)
      } else {
        mesh.medium.setReach(one, other, false)
        mesh.run(for: .seconds(3))
        mesh.medium.setReach(one, other, true)
      }
    }
    let expected = messages * (shape.size - 1)
    mesh.run(for: .seconds(isDeduplicating ? 600 : 5)) { total(mesh) >= expected }
    mesh.run(for: .seconds(isDeduplicating ? 30 : 1))
    for (index, texts) in mesh.heard.enumerated() {
      for number in 0..<messages {
        let count = texts["message \(number)"] ?? 0
        if count > 1 { outcome.doubled += 1 }
        let own = mesh.members[index].store
        if count == 0, !isOwn(number, own, mesh) { outcome.missing += 1 }
      }
    }
    outcome.framesLost = mesh.medium.frameCounts.lost
    mesh.stop()
    return outcome
  }

  private func total(_ mesh: Mesh) -> Int { mesh.heard.reduce(0) { $0 + $1.values.reduce(0, +) } }

  private func isOwn(_ number: Int, _ store: MemoryStore, _ mesh: Mesh) -> Bool {
    let messages = try? mesh.call { try await store.messages(limit: .max) }
    return messages?.contains { $0.text == "message \(number)" && $0.state != .received } ?? false
  }
}
