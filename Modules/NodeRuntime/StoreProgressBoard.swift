internal import ControlAPI
internal import Storing
internal import Streams

/// How far the store is that works now. Written by its thread, read by whoever asks.
final class StoreProgressBoard: Sendable {
  private let shown = Protected<StoreProgress?>(nil)

  /// Nothing while no run is under way.
  var now: StoreProgress? { shown.withLock { $0 } }

  func show(_ progress: MigrationProgress) {
    let work: StoreProgress.Work =
      switch progress.work {
      case .settling: .settling
      case .copying: .copying
      case .comparing: .comparing
      }
    shown.withLock { $0 = StoreProgress(work: work, done: progress.done, total: progress.total) }
  }

  func end() { shown.withLock { $0 = nil } }
}
