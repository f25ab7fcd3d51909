/// One message, as it came or as it is to go.
package struct DBusMessage: Sendable, Hashable {
  package enum Kind: Sendable, Hashable { case call, reply, error, signal }

  package var kind: Kind
  /// The unique name of who sent it, set by the bus.
  package var sender: String?
  package var destination: String?
  package var path: String?
  package var interface: String?
  package var member: String?
  package var errorName: String?
  /// Given by the connection that sends it; 0 before.
  package var serial: UInt32
  /// Of a reply or an error: which call it answers.
  package var replySerial: UInt32
  /// Of a call: whether whoever sent it waits for an answer. Answering one that does not is an error to the bus.
  package var isReplyExpected: Bool
  package var arguments: [DBusValue]

  package init(
    kind: Kind, sender: String? = nil, destination: String? = nil, path: String? = nil, interface: String? = nil,
    member: String? = nil, errorName: String? = nil, serial: UInt32 = 0, replySerial: UInt32 = 0,
    isReplyExpected: Bool = false, arguments: [DBusValue] = []
  ) {
    self.kind = kind
    self.sender = sender
    self.destination = destination
    self.path = path
    self.interface = interface
    self.member = member
    self.errorName = errorName
    self.serial = serial
    self.replySerial = replySerial
    self.isReplyExpected = isReplyExpected
    self.arguments = arguments
  }

  package static func call(
    _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = []
  ) -> DBusMessage {
    DBusMessage(
      kind: .call, destination: destination, path: path, interface: interface, member: member, isReplyExpected: true,
      arguments: arguments)
  }

  package static func signal(
    _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = []
  ) -> DBusMessage {
    DBusMessage(kind: .signal, path: path, interface: interface, member: member, arguments: arguments)
  }

  /// The types of all arguments in one.
  package var typeSignature: String { arguments.map(\.typeSignature).joined() }

  package func argument(_ index: Int) -> DBusValue? { arguments.indices.contains(index) ? arguments[index] : nil }
}

extension DBusMessage {
  /// The message of these bytes of the wire; nil for any others.
  package init?(decoding bytes: [UInt8]) {
    guard let message = MessageReader.decode(bytes) else { return nil }
    self = message
  }

  /// - Parameter serial: not 0.
  package func encoded(serial: UInt32) throws(DBusError) -> [UInt8] {
    try MessageWriter.encode(self, serial: serial)
  }
}
