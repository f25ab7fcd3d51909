internal import Links
internal import Streams
internal import Transports

/// Keeps at which addresses peers were proved, so that after a restart they are dialled first. An address says where to
/// look and nothing else: who answers there proves itself anew.
///
/// Under `proved.NAME` of each transport: for each address its length (1 byte) and its text, the best first, as many as
/// fit.
final class AddressKeeper: Sendable {
  let links: LinkManager
  /// Names and memories, in the order of the node; a transport without a memory keeps nothing.
  let transports: [String]
  let memories: [TransportMemory]
  let time: TimeSource
  private let kept = Protected<[Int: Set<TransportAddress>]>([:])

  init(links: LinkManager, transports: [String], memories: [TransportMemory], time: TimeSource) {
    self.links = links
    self.transports = transports
    self.memories = memories
    self.time = time
  }

  /// Before anything is dialled.
  func recall() async {
    for (index, memory) in memories.enumerated() where index < transports.count {
      guard let bytes = await memory.recall(Self.key(transports[index])) else { continue }
      let addresses = Self.decode(bytes)
      kept.withLock { $0[index] = Set(addresses) }
      await links.expect(addresses, on: index)
    }
  }

  func run() async {
    while !Task.isCancelled {
      try? await time.sleep(time.now().advanced(by: NodeRuntimeLimits.addressInterval))
      guard !Task.isCancelled else { return }
      await keep()
    }
  }

  /// Writes what has changed. A run that has met nobody leaves what an earlier one has kept.
  func keep() async {
    for (index, memory) in memories.enumerated() where index < transports.count {
      let bytes = Self.encode(await links.provedAddresses(on: index))
      let addresses = Set(Self.decode(bytes))
      guard !addresses.isEmpty, kept.withLock({ $0[index] != addresses }) else { continue }
      kept.withLock { $0[index] = addresses }
      await memory.keep(Self.key(transports[index]), bytes)
    }
  }

  private static func key(_ transport: String) -> String { "proved." + transport }

  static func encode(_ addresses: [TransportAddress]) -> [UInt8] {
    var bytes: [UInt8] = []
    for address in addresses {
      let text = Array(address.description.utf8)
      guard !text.isEmpty, bytes.count + 1 + text.count <= TransportsLimits.bytesOfMemory else { continue }
      bytes.append(UInt8(clamping: text.count))
      bytes += text
    }
    return bytes
  }

  /// What does not hold to the form ends the list.
  static func decode(_ bytes: [UInt8]) -> [TransportAddress] {
    var addresses: [TransportAddress] = []
    var rest = bytes[...]
    while let length = rest.popFirst(), length > 0, rest.count >= Int(length) {
      guard let text = String(validating: rest.prefix(Int(length)), as: UTF8.self) else { break }
      addresses.append(TransportAddress(text))
      rest = rest.dropFirst(Int(length))
    }
    return addresses
  }
}
