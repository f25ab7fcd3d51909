import Foundation

/// Open descriptors of this process.
enum FileDescriptors {
  private static var all: [Int32] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).compactMap { Int32($0) }
  }

  static var count: Int { all.count }

  /// Those of connections, and duplicates of them, to the socket at `path`: what other tests hold does not count.
  static func connected(to path: String) -> Int {
    all.count { descriptor in
      var address = sockaddr_un()
      var size = socklen_t(MemoryLayout<sockaddr_un>.size)
      let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getpeername(descriptor, $0, &size) }
      }
      guard result == 0, Int32(address.sun_family) == AF_UNIX else { return false }
      return unsafe withUnsafeBytes(of: &address.sun_path) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) == path
      }
    }
  }
}
