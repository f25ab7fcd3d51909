internal import Streams
internal import Telemetry

/// Has the files of a sealed node remember how far each is, half a minute after a write and at the end: what is put back
/// from before that is noticed at the next start.
struct RecordKeeper: Sendable {
  /// Nothing in a plain node.
  let recorder: StateRecorder?
  let time: TimeSource
  let log: Log

  func run() async {
    guard let recorder else { return }
    while !Task.isCancelled {
      try? await time.sleep(time.now().advanced(by: NodeRuntimeLimits.recordInterval))
      guard !Task.isCancelled else { return }
      do throws(DaemonError) { try await recorder.recordIfWritten() } catch { report(error) }
    }
  }

  /// When nothing is written any more.
  func end() async {
    do throws(DaemonError) { try await recorder?.end() } catch { report(error) }
  }

  private func report(_ error: DaemonError) {
    log.error("the files cannot remember how far they are", ["reason": .text(error.sentence)])
  }
}
