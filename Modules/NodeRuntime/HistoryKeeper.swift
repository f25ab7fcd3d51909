internal import Archive
internal import Sessions
internal import Streams
internal import Telemetry

/// Keeps the history in order while the node runs: seals what an earlier version wrote plainly, reads all of it once, and
/// lets go what is too old or too much.
///
/// Each step is short, and others are let at the archive in between.
struct HistoryKeeper: Sendable {
  let archive: MessageArchive
  let policy: RetentionPolicy
  let isClockSynchronised: @Sendable () -> Bool
  let time: TimeSource
  let log: Log

  func run() async {
    do {
      try await seal()
      try await check()
    } catch {
      log.error("the history cannot be looked through", ["reason": .text(error.reason)])
    }
    while !Task.isCancelled {
      do { try await trim() } catch {
        log.error("old messages cannot be let go", ["reason": .text(error.reason)])
      }
      try? await time.sleep(time.now().advanced(by: NodeRuntimeLimits.storeInterval))
    }
  }

  private func seal() async throws(SessionStoreError) {
    var sealing = await archive.sealing
    guard sealing.phase != .plain, !sealing.isDone else { return }
    log.notice("the history is being sealed", ["messages": .signed(sealing.total - sealing.done)])
    while !sealing.isDone, !Task.isCancelled { sealing = try await archive.sealNext() }
    guard sealing.isDone else { return }
    log.notice("the history is sealed", ["leftPlain": .signed(Int64(sealing.leftPlain))])
  }

  private func check() async throws(SessionStoreError) {
    while !Task.isCancelled {
      let check = try await archive.checkNext()
      switch check.outcome {
      case .goingOn: continue
      case .sound: return
      case .damaged(let number):
        log.error(
          "messages are damaged on the disk: stop the node and run relaychatd salvage",
          ["after": .signed(number), "readable": .signed(Int64(check.checked))])
        return
      }
    }
  }

  /// By age only while something keeps the clock right: a clock that is years ahead would let everything go.
  private func trim() async throws(SessionStoreError) {
    var policy = policy
    if !isClockSynchronised() { policy.ageMilliseconds = .max }
    var removed = 0
    while !Task.isCancelled {
      let trim = try await archive.trim(policy, now: time.wallMilliseconds())
      removed += trim.removed
      if trim.isDone { break }
    }
    if removed > 0 { log.notice("old messages were let go", ["messages": .signed(Int64(removed))]) }
  }
}
