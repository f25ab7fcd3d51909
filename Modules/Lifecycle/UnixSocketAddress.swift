package import Glibc

/// The address of a Unix socket, checked for its length.
package struct UnixSocketAddress: Sendable, Equatable {
  package enum Failure: Error, Equatable {
    case empty
    /// The path has more than `LifecycleLimits.bytesOfSocketPath`, or a zero byte.
    case pathTooLong(bytes: Int)
    case zeroByteInPath
  }

  package let path: String
  /// True for a name in the abstract namespace of Linux, written with a leading `@`.
  package var isAbstract: Bool { path.utf8.first == UInt8(ascii: "@") }

  package init(path: String) throws(Failure) {
    guard !path.isEmpty else { throw .empty }
    guard path.utf8.count <= LifecycleLimits.bytesOfSocketPath else { throw .pathTooLong(bytes: path.utf8.count) }
    guard !path.utf8.contains(0) else { throw .zeroByteInPath }
    self.path = path
  }

  /// Lends the address in the form that `bind`, `connect` and `sendto` take.
  package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let offset = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
      for (index, byte) in bytes.enumerated() { unsafe field[index] = byte }
      if isAbstract { unsafe field[0] = 0 }
    }
    let size = isAbstract ? offset + bytes.count : MemoryLayout<sockaddr_un>.size
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, socklen_t(size)) }
    }
  }
}
