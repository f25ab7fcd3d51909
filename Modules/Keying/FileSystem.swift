/// A call to the file system that failed, and with what error number.
package struct FileSystemError: Error, Equatable, Sendable {
  package enum Call: String, Sendable {
    case facts, list, open, read, write, sync, rename, unlink, removeDirectory, syncDirectory
  }

  package var call: Call
  package var path: String
  /// An `errno`.
  package var code: Int32

  package init(_ call: Call, path: String, code: Int32) {
    self.call = call
    self.path = path
    self.code = code
  }
}

/// What is known of a file without reading it.
package struct FileFacts: Equatable, Sendable {
  package enum Kind: Sendable { case file, directory, other }

  package var kind: Kind
  /// In bytes.
  package var size: Int
  /// Permission bits, at most 07777.
  package var mode: UInt32
  /// User number.
  package var owner: UInt32

  package init(kind: Kind, size: Int, mode: UInt32, owner: UInt32) {
    self.kind = kind
    self.size = size
    self.mode = mode
    self.owner = owner
  }
}

/// What an opened file is for.
package enum FilePurpose: Sendable {
  case read
  /// Made with mode 0600; an error when it is there.
  case create
  /// Written from its first byte on, its size kept.
  case overwrite
}

/// An open file of one `FileSystem`.
package struct OpenFile: Hashable, Sendable {
  package let number: Int32

  package init(number: Int32) { self.number = number }
}

/// The calls by which anything here reaches a disk, one call of the system each, so that a model of a disk can stop,
/// tear and fail every one of them. Nothing is durable before its `sync`, a name not before `syncDirectory` of the
/// directory that holds it.
package protocol FileSystem: Sendable {
  /// The user that files of ours belong to.
  var user: UInt32 { get }
  /// Of the path itself: a link is `other`. Nothing when there is no such file.
  func facts(of path: String) throws(FileSystemError) -> FileFacts?
  func facts(of file: OpenFile) throws(FileSystemError) -> FileFacts
  /// The path without links and dots, or nothing when there is no such file.
  func resolved(_ path: String) -> String?
  /// Names in a directory in any order, at most `KeyingLimits.namesInDirectory`; none when there is no directory.
  func names(in directory: String) throws(FileSystemError) -> [String]
  /// Writing never follows a link in the last part of the path, and never waits for a pipe.
  func open(_ path: String, for purpose: FilePurpose) throws(FileSystemError) -> OpenFile
  /// Reads on, at most as much as `span` has room for. 0 at the end.
  func read(_ file: OpenFile, into span: inout MutableRawSpan) throws(FileSystemError) -> Int
  /// Writes on; says how much, which may be less than all.
  func write(_ file: OpenFile, _ bytes: RawSpan) throws(FileSystemError) -> Int
  func sync(_ file: OpenFile) throws(FileSystemError)
  func close(_ file: OpenFile)
  /// Replaces `target` at once.
  func rename(_ path: String, to target: String) throws(FileSystemError)
  func unlink(_ path: String) throws(FileSystemError)
  func removeDirectory(_ path: String) throws(FileSystemError)
  func syncDirectory(_ path: String) throws(FileSystemError)
}
