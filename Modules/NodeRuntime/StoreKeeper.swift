internal import Storing
internal import Streams
internal import Telemetry

/// Lets a store go on with its move into the sealed form when the days for it have passed.
struct StoreKeeper: Sendable {
  let store: MigratingStore?
  /// The state directory.
  let directory: String
  let time: TimeSource
  let log: Log

  func run() async {
    removeLeftovers()
    guard let store else { return }
    while !Task.isCancelled {
      try? await time.sleep(time.now().advanced(by: NodeRuntimeLimits.storeInterval))
      guard !Task.isCancelled else { return }
      do { try await store.advance() } catch {
        log.error("the store could not go on with its move", ["reason": .description(error)])
      }
      // What is sealed by now must not lie here in the clear.
      removeLeftovers()
    }
  }

  private func removeLeftovers() {
    let removed = BackupLeftovers.remove(from: directory)
    guard !removed.isEmpty else { return }
    log.notice(
      "copies in the clear that an interrupted backup had left were removed",
      ["files": .text(removed.joined(separator: ", "))])
  }
}
