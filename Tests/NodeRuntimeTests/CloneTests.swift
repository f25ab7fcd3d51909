import Bytes
import CNonces
import MemoryTransport
import Primitives
import Sessions
import Streams
import TestKit
import Testing

@testable import NodeRuntime

/// One state directory in two places, or put back as it was: what would make a counter start again under an old key.
@Suite struct CloneTests {
  struct Sealed: Hashable {
    var key: [UInt8]
    var nonce: [UInt8]
  }

  /// What was sealed on this thread, on which whole meshes run.
  private func record(_ body: () throws -> Void) rethrows -> [Sealed] {
    cnonces_start()
    try body()
    let count = cnonces_stop()
    return (0..<count).map { index in
      var pair = cnonces_pair_at(index)
      return unsafe withUnsafeBytes(of: &pair) { bytes in
        unsafe Sealed(key: Array(bytes[..<32]), nonce: Array(bytes[32...]))
      }
    }
    // The last nonce makes the next key out of the old one, on both sides alike: it seals zeros and is never sent.
    .filter { $0.nonce != [0, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8) }
  }

  @Test func theRecorderSeesARepeatedNonce() throws {
    let sealed = try record {
      let secret = [UInt8](repeating: 7, count: 32)
      for _ in 0..<2 {
        var key = try AEADKey(.aes256GCM, key: secret.rawSpan)
        var buffer: [UInt8] = []
        for counter in 0..<3 as Range<UInt64> {
          try key.seal(
            secret.rawSpan, nonce: AEADNonce(bigEndian: counter), authenticating: secret.rawSpan, appendingTo: &buffer)
        }
      }
    }
    #expect(sealed.count == 6 && Set(sealed).count == 3)
    #expect(sealed[0].key == [UInt8](repeating: 7, count: 32) && sealed[2].nonce.last == 2)
  }

  @Test func threat19_twoCopiesOfOneStateNeverSealUnderOneKeyAndNonce() throws {
    let sealed = try record {
      let mesh = Mesh(seed: 191)
      for name in ["B", "C"] { try mesh.add(name) }
      try mesh.add("A")
      let snapshot = mesh.storedKeys["A"]
      mesh.medium.setReach("A", "B", true)
      mesh.run(for: .seconds(20))
      func talk(_ member: Int) throws {
        let session = mesh.members[member].node.session
        for number in 0..<10 {
          for other in [mesh.members[0].node.session.ownID, mesh.members[1].node.session.ownID] {
            _ = try? mesh.call { try await session.send("the same words \(number)", to: .peer(other)) }
          }
          _ = try mesh.call { try await session.send("the same words \(number)", to: .everyone) }
          mesh.run(for: .seconds(2))
        }
      }
      try talk(2)
      // The copy runs beside the original, first with another neighbour, then with the same.
      try mesh.add("clone", profileName: "A", keys: snapshot, cardSequence: 1)
      mesh.medium.setReach("clone", "C", true)
      mesh.medium.setReach("B", "C", true)
      mesh.run(for: .seconds(20))
      try talk(3)
      mesh.medium.setReach("clone", "B", true)
      mesh.run(for: .seconds(20))
      try talk(2)
      try talk(3)
      // And the original is put back as it was at the start.
      mesh.remove("A")
      try mesh.add("A", keys: snapshot, cardSequence: 1)
      mesh.run(for: .seconds(30))
      try talk(4)
      mesh.stop()
    }
    #expect(sealed.count > 500)
    #expect(Set(sealed).count == sealed.count, "a pair of key and nonce was used twice")
    print("seed 191: \(sealed.count) seals under \(Set(sealed.map(\.key)).count) keys, no pair twice")
  }
}
