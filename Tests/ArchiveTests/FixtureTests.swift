import Bytes
import Identities
import Primitives
import Sessions
import Storing
import Testing
import WireFormat

@testable import Archive

/// A state directory as a daemon of 0.1.0 left it: two neighbours, one public and two personal messages. Its keys were
/// made for this and are used nowhere else.
@Suite struct FixtureTests {
  let directory = TemporaryDirectory()

  init() {
    let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    for name in ["plain.db", "archive.db"] {
      directory.copy("/\(tests)/Fixtures/state-0.1.0/\(name)", as: name)
    }
  }

  let ada = PeerID(hex: "706af4240016b22afb09cc45bf6d5037")!
  let bob = PeerID(hex: "d5b34877f82ed7e14986d95eca8ff2c8")!

  @Test func theIdentityOf010IsImported() async throws {
    let state = try StateDirectory(path: directory.path)
    let store = try PlainStore(path: state.plainPath)
    let bytes = try #require(try await store.get("identity.keys"))
    let keys = try IdentityKeys(importing: bytes.rawSpan, random: .system)
    #expect(keys.id == ada)
    #expect(try await store.get("profile.name") == Array("ada".utf8))
    #expect(try await store.get("profile.icon") == Array("🦊".utf8))
    #expect(try await store.get("card.sequence") == [0, 0, 0, 0, 0, 0, 0, 1])
    withExtendedLifetime(state) {}
  }

  @Test func contactsAndMessagesOf010AreThere() async throws {
    let archive = try MessageArchive(path: directory.path + "/archive.db")
    let cards = try await archive.cards(limit: 10)
    #expect(cards.map(\.id) == [bob] && cards.first?.card.name.text == "bob")
    let messages = try await archive.messages(limit: 10)
    #expect(
      messages.map(\.text)
        == ["Good morning, everyone.", "For you alone: the key is under the mat.", "Thank you, Ada."])
    #expect(messages.map(\.author) == [ada, ada, bob])
    #expect(messages.map(\.conversation) == [.everyone, .peer(bob), .peer(bob)])
    #expect(messages.map(\.state) == [.sent, .sent, .received] && messages.map(\.hops) == [0, 0, 1])
    for message in messages where message.author == ada {
      let packet = try Packet(decoding: #require(message.packet))
      #expect(packet.header.origin.rawValue == ada.tag)
    }
  }

  @Test func itCanBeWrittenOn() async throws {
    let archive = try MessageArchive(path: directory.path + "/archive.db")
    var message = try #require(try await archive.messages(limit: 10).last)
    #expect(try await archive.insert(message) == false)
    message.id = MessageID(high: 1, low: 1)
    #expect(try await archive.insert(message))
    #expect(try await archive.messages(limit: 10).count == 4)
  }
}
