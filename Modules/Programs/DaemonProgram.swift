internal import Arguments
internal import Glibc

/// The program `relaychatd` that lies beside this one.
package enum DaemonProgram {
  /// Its path, where it is there and may be run.
  static func path() -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let size = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    guard size > 0 else { return nil }
    let own = String(decoding: buffer[..<size].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard let slash = own.lastIndex(of: "/") else { return nil }
    let path = own[..<slash] + "/relaychatd"
    return unsafe access(String(path), X_OK) == 0 ? String(path) : nil
  }

  /// Takes the place of this process, with its descriptors and its environment.
  ///
  /// - Returns: why it did not.
  package static func become(_ words: [String]) -> ProgramFailure {
    guard let path = path() else {
      return ProgramFailure("There is no relaychatd beside this program; put it there, or run it yourself.")
    }
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + words).map { unsafe strdup($0) }
    unsafe arguments.append(nil)
    unsafe execv(path, &arguments)
    let code = errno
    unsafe arguments.forEach { unsafe free($0) }
    return ProgramFailure("\(TerminalText.neutralised(path)) cannot be run (errno \(code)).")
  }
}
