import Arguments
import ControlAPI
import ControlClient
import Glibc
import Lifecycle
import Programs

/// Writes reception events as they come, and what it could not see as a gap.
struct TrafficLogger {
  private struct Gap: Encodable {
    let kind = "gap"
    /// Milliseconds since 1970: the end of the gap.
    let time: Int64
    /// The beginning of it.
    let since: Int64
  }

  private let context: ProgramContext
  private let descriptor: Int32

  init(_ context: ProgramContext) throws(ProgramFailure) {
    self.context = context
    guard let path = context.settings.text("output") else {
      descriptor = 1
      return
    }
    descriptor = unsafe open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw ProgramFailure("The file \(path) cannot be written; choose another one with --output.")
    }
    endBrokenLine()
  }

  /// A line that a full disk or a kill has cut is ended, so that it does not take the next one with it.
  private func endBrokenLine() {
    let size = lseek(descriptor, 0, SEEK_END)
    var last: UInt8 = 0x0A
    guard size > 0, unsafe pread(descriptor, &last, 1, size - 1) == 1, last != 0x0A else { return }
    _ = Output.write([0x0A], to: descriptor)
  }

  /// Returns when the task is cancelled. The first connection must succeed, so that a wrong path is told at once.
  func run() async throws(ProgramFailure) {
    var client = try await context.connect()
    var backoff = Backoff()
    var generator = SystemRandomNumberGenerator()
    var lost: Int64?
    while true {
      do throws(ControlClientError) {
        _ = try await client.subscribe(to: [.reception])
        if let since = lost { try write(Gap(time: now, since: since)) }
        lost = nil
        backoff.reset()
        for await event in client.events { try write(event) }
      } catch {
        switch error {
        case .connectionLost, .timeout: break
        case .systemCall("write", EPIPE): return
        case .systemCall("write", ENOSPC), .systemCall("write", EFBIG), .systemCall("write", EDQUOT):
          let place = context.settings.text("output") ?? "standard output"
          throw ProgramFailure(
            "There is no room left to write to \(place); make room, or name another file with --output.")
        default: throw ProgramFailure(error)
        }
      }
      lost = lost ?? now
      repeat {
        if Task.isCancelled { return }
        guard (try? await context.clock.sleep(for: backoff.next(using: &generator))) != nil else { return }
        guard let again = try? await context.connect() else { continue }
        client = again
        break
      } while true
    }
  }

  private var now: Int64 {
    let time = SystemTime.sinceEpoch().components
    return time.seconds * 1_000 + time.attoseconds / 1_000_000_000_000_000
  }

  private func write(_ value: some Encodable) throws(ControlClientError) {
    guard let line = ControlJSON.line(value) else { return }
    guard Output.write(line, to: descriptor) else { throw .systemCall(name: "write", code: errno) }
  }
}
