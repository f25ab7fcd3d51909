import Glibc
import LocalTransport
import Streams
import TestKit
import Transports

/// A directory of its own for one test, removed with it.
final class TemporaryDirectory: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/relaychat-local-XXXXXX".utf8CString)
    _ = unsafe mkdtemp(&template)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    if let directory = unsafe opendir(path) {
      while let entry = unsafe readdir(directory) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
          unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        unsafe unlink("\(path)/\(name)")
      }
      unsafe closedir(directory)
    }
    unsafe rmdir(path)
  }

  func write(_ text: String, to file: String) {
    let (temporary, bytes) = ("\(path)/.new-\(file)", Array(text.utf8))
    let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    _ = unsafe Glibc.write(descriptor, bytes, bytes.count)
    close(descriptor)
    unsafe rename(temporary, "\(path)/\(file)")
  }

  func has(_ file: String) -> Bool { unsafe access("\(path)/\(file)", F_OK) == 0 }
}

/// A socket of somebody who does not keep to the rules.
enum LocalSocket {
  static func send(_ bytes: [UInt8], _ descriptor: Int32) {
    _ = unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  static func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }
}

/// Nodes of one directory, in real time.
final class LocalHarness: TransportHarness {
  private struct State: Sendable {
    var random = SeededGenerator(seed: 1)
    var air: [String: String] = [:]
    var notes: [String] = []
  }

  let directory = TemporaryDirectory()
  private let links = LinkCounter()
  private let state = Shared()

  private final class Shared: Sendable {
    let state = Protected(State())

    func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result { state.withLock(body) }
  }

  var context: TransportContext {
    let clock = ContinuousClock()
    let start = clock.now
    let now: @Sendable () -> MonotonicTime = { MonotonicTime.start.advanced(by: start.duration(to: clock.now)) }
    return TransportContext(
      time: TimeSource(
        now: now, wallMilliseconds: { 0 }, sleep: { try await clock.sleep(until: start.advanced(by: $0.since(.start))) }
      ),
      random: { [state] in state.withLock { $0.random.next() } },
      nextLinkID: { [links] in links.next() },
      nodeName: "node", note: { [state] text in state.withLock { $0.notes.append(text) } })
  }

  var notes: [String] { state.withLock { $0.notes } }

  func makeTransport(_ name: String) -> any Transport {
    LocalRadio(path: directory.path, name: name, place: nil, context: context)
  }

  func address(of name: String) -> TransportAddress { TransportAddress(name) }

  var addressOfNobody: TransportAddress { TransportAddress("nobody") }

  func setFrameSize(_ byteCount: Int, between one: String, _ other: String) {
    setAir("air \(one) \(other)", "frame-size = \(byteCount)")
  }

  func setReach(_ one: String, _ other: String, _ isInReach: Bool) {
    setAir("air \(one) \(other)", isInReach ? "" : "broken = yes")
  }

  /// Replaces one section of `air.ini`.
  func setAir(_ section: String, _ lines: String) {
    let text = state.withLock { state in
      state.air[section] = lines
      return state.air.sorted { $0.key < $1.key }.map { "[\($0.key)]\n\($0.value)\n" }.joined()
    }
    directory.write(text, to: "air.ini")
  }

  func setPower(_ name: String, _ isOn: Bool) -> Bool { false }

  var canFill: Bool { true }

  func expire() async throws {
    let clock = ContinuousClock()
    try await clock.sleep(for: .seconds(20))
  }
}
