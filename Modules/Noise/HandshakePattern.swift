/// Which keys travel and which are mixed, message by message: data, so that any pattern that these tokens express runs.
package struct HandshakePattern: Hashable, Sendable {
  /// As in a protocol name: `XX`, `XXpsk0`.
  package let name: String
  /// Public keys that the responder knows of the initiator before the first message.
  package let initiatorKnown: [NoiseToken]
  /// Public keys that the initiator knows of the responder before the first message.
  package let responderKnown: [NoiseToken]
  /// The initiator speaks first, then in turn.
  package let messages: [[NoiseToken]]

  package init(
    _ name: String, initiatorKnown: [NoiseToken] = [], responderKnown: [NoiseToken] = [], messages: [[NoiseToken]]
  ) {
    self.name = name
    self.initiatorKnown = initiatorKnown
    self.responderKnown = responderKnown
    self.messages = messages
  }

  /// Both sides show their static keys, sealed, and prove them: every link.
  package static let XX = HandshakePattern("XX", messages: [[.e], [.e, .ee, .s, .es], [.s, .se]])

  /// `XX` among those who share a key: the first message already fails without it.
  package static let XXpsk0 = XX.addingPresharedKeys([0])

  /// One message to somebody whose key is known, from a sender who shows a static key: a personal message.
  package static let X = HandshakePattern("X", responderKnown: [.s], messages: [[.e, .es, .s, .ss]])

  /// The pattern with the modifiers `psk<position>`: 0 in front of the first message, n behind message n.
  package func addingPresharedKeys(_ positions: [Int]) -> HandshakePattern {
    var messages = messages
    for position in positions {
      if position == 0 {
        messages[0].insert(.psk, at: 0)
      } else if position <= messages.count {
        messages[position - 1].append(.psk)
      }
    }
    let modifiers = positions.map { "psk\($0)" }.joined(separator: "+")
    return HandshakePattern(
      name + modifiers, initiatorKnown: initiatorKnown, responderKnown: responderKnown, messages: messages)
  }

  /// Whether only the initiator ever speaks.
  package var isOneWay: Bool { messages.count == 1 }

  var presharedKeyCount: Int { messages.joined().count { $0 == .psk } }
}
