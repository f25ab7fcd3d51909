/// An address worth dialling: what the scanner tells the links.
package struct Candidate: Sendable, Equatable {
  /// Names an address on one of the node's transports.
  package struct Key: Sendable, Hashable {
    /// Index of the transport in the node.
    package var transport: Int
    package var address: TransportAddress

    package init(transport: Int, address: TransportAddress) {
      self.transport = transport
      self.address = address
    }
  }

  package var key: Key
  /// Smoothed, in dBm.
  package var signalStrength: Int8?
  /// The random hint of the peer's boot; another one means that it has started anew.
  package var hint: UInt32?

  package init(key: Key, signalStrength: Int8?, hint: UInt32?) {
    self.key = key
    self.signalStrength = signalStrength
    self.hint = hint
  }
}

/// How full the links are: what the links tell those who advertise and scan.
package struct LinkOccupancy: Sendable, Equatable {
  package var links: Int
  package var limit: Int

  package init(links: Int, limit: Int) {
    self.links = links
    self.limit = limit
  }

  package var hasRoom: Bool { links < limit }
}
