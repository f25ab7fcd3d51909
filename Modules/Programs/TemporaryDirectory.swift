import Glibc
import Lifecycle

/// A directory that only this user can enter and that goes with the program.
struct TemporaryDirectory: Sendable {
  let path: String

  /// In the first parent where one can be made.
  static func make(inOneOf parents: [String]) -> TemporaryDirectory? {
    for parent in parents {
      if let directory = TemporaryDirectory(in: parent) { return directory }
    }
    return nil
  }

  /// nil when none can be made. `parent` should be short: a socket will lie inside.
  init?(in parent: String) {
    var template = Array((parent + "/relaychat-XXXXXX").utf8CString)
    guard let made = unsafe mkdtemp(&template) else { return nil }
    path = unsafe String(cString: made)
  }

  /// Removes it with all that is in it. Symbolic links are removed, never followed.
  func remove() { Self.remove(path, depth: 0) }

  private static func remove(_ path: String, depth: Int) {
    var facts = stat()
    guard unsafe lstat(path, &facts) == 0 else { return }
    guard facts.st_mode & S_IFMT == S_IFDIR else {
      _ = unsafe unlink(path)
      return
    }
    if depth < ProgramsLimits.depthOfState {
      for name in DirectoryNames.all(in: path) { remove(path + "/" + name, depth: depth + 1) }
    }
    _ = unsafe rmdir(path)
  }
}
