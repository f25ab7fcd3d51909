import Glibc

/// flynn/noise, a Noise written in Go, as the program that `Tools/bench` builds of `Tools/Bench/flynn` where Go is
/// installed. `RELAYCHAT_FLYNN` says where it lies.
struct GoNoise {
  private let path: String

  /// Nil where it was not built.
  init?() {
    guard let path = unsafe getenv("RELAYCHAT_FLYNN"), unsafe access(path, X_OK) == 0 else { return nil }
    self.path = unsafe String(cString: path)
  }

  /// Nanoseconds for one XX handshake, both sides, over so many. `Tools/bench` gives a path without quotes.
  func handshake(operations: Int) throws -> Double {
    guard let output = unsafe popen("'\(path)' \(operations)", "r") else { throw RawPeer.Failure(what: "flynn/noise") }
    var line = [CChar](repeating: 0, count: 64)
    let isRead = unsafe fgets(&line, Int32(line.count), output) != nil
    let status = unsafe pclose(output)
    let digits = line.prefix { (48...57).contains($0) }.map { UInt8(bitPattern: $0) }
    guard isRead, status == 0, let value = Double(String(decoding: digits, as: UTF8.self)) else {
      throw RawPeer.Failure(what: "flynn/noise")
    }
    return value
  }
}
