internal import Storing
internal import Telemetry
internal import Transports

/// Keeps in the plain store what a transport wants to know again. One for each scheme; keys lie beside each other as
/// `transport.SCHEME.KEY`.
actor TransportShelf {
  private let scheme: String
  private let store: any KeyValueStore
  private let log: Log

  init(scheme: String, store: any KeyValueStore, log: Log) {
    self.scheme = scheme
    self.store = store
    self.log = log
  }

  nonisolated var memory: TransportMemory {
    TransportMemory(recall: { await self.recall($0) }, keep: { await self.keep($0, $1) })
  }

  private var start: String { "transport.\(scheme)." }

  private func recall(_ key: String) async -> [UInt8]? {
    guard let value = try? await store.get(start + key), TransportMemory.isWithinLimits(key, value) else { return nil }
    return value
  }

  private func keep(_ key: String, _ value: [UInt8]) async {
    guard TransportMemory.isWithinLimits(key, value) else {
      log.warning("too long to be kept for a transport", ["key": .text(String(key.prefix(64)))])
      return
    }
    do {
      let start = start
      let names = try await store.names().filter { $0.hasPrefix(start) }
      guard names.count < TransportsLimits.keys || names.contains(start + key) else {
        log.warning("a transport keeps too much", ["key": .text(key)])
        return
      }
      try await store.put([(start + key, value)])
    } catch {
      log.warning("nothing can be kept for a transport", ["reason": .description(error)])
    }
  }
}
