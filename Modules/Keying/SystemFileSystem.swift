internal import Glibc
internal import Lifecycle

/// The file system of the machine.
package struct SystemFileSystem: FileSystem {
  package init() {}

  package var user: UInt32 { geteuid() }

  package func facts(of path: String) throws(FileSystemError) -> FileFacts? {
    var facts = stat()
    guard unsafe lstat(path, &facts) == 0 else {
      if errno == ENOENT { return nil }
      throw FileSystemError(.facts, path: path, code: errno)
    }
    return Self.read(facts)
  }

  package func facts(of file: OpenFile) throws(FileSystemError) -> FileFacts {
    var facts = stat()
    guard unsafe fstat(file.number, &facts) == 0 else { throw FileSystemError(.facts, path: "", code: errno) }
    return Self.read(facts)
  }

  package func resolved(_ path: String) -> String? {
    guard let text = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
  }

  package func names(in directory: String) throws(FileSystemError) -> [String] {
    var names: [String] = []
    var isFull = false
    let code = DirectoryNames.forEach(in: directory) { name in
      isFull = names.count == KeyingLimits.namesInDirectory
      if !isFull { names.append(name) }
      return !isFull
    }
    if code == ENOENT { return [] }
    if let code = isFull ? E2BIG : code { throw FileSystemError(.list, path: directory, code: code) }
    return names
  }

  package func open(_ path: String, for purpose: FilePurpose) throws(FileSystemError) -> OpenFile {
    let flags =
      switch purpose {
      case .read: O_RDONLY | O_CLOEXEC | O_NONBLOCK
      case .create: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
      case .overwrite: O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
      }
    let number = unsafe Glibc.open(path, flags, 0o600)
    guard number >= 0 else { throw FileSystemError(.open, path: path, code: errno) }
    return OpenFile(number: number)
  }

  package func read(_ file: OpenFile, into span: inout MutableRawSpan) throws(FileSystemError) -> Int {
    let count = unsafe span.withUnsafeMutableBytes { target in
      while true {
        let count = unsafe Glibc.read(file.number, target.baseAddress, target.count)
        if count >= 0 || errno != EINTR { return count }
      }
    }
    guard count >= 0 else { throw FileSystemError(.read, path: "", code: errno) }
    return count
  }

  package func write(_ file: OpenFile, _ bytes: RawSpan) throws(FileSystemError) -> Int {
    let count = unsafe bytes.withUnsafeBytes { source in
      while true {
        let count = unsafe Glibc.write(file.number, source.baseAddress, source.count)
        if count >= 0 || errno != EINTR { return count }
      }
    }
    guard count >= 0 else { throw FileSystemError(.write, path: "", code: errno) }
    return count
  }

  package func sync(_ file: OpenFile) throws(FileSystemError) {
    guard fsync(file.number) == 0 else { throw FileSystemError(.sync, path: "", code: errno) }
  }

  package func close(_ file: OpenFile) { _ = Glibc.close(file.number) }

  package func rename(_ path: String, to target: String) throws(FileSystemError) {
    guard unsafe Glibc.rename(path, target) == 0 else { throw FileSystemError(.rename, path: path, code: errno) }
  }

  package func unlink(_ path: String) throws(FileSystemError) {
    guard unsafe Glibc.unlink(path) == 0 else { throw FileSystemError(.unlink, path: path, code: errno) }
  }

  package func removeDirectory(_ path: String) throws(FileSystemError) {
    guard unsafe rmdir(path) == 0 else { throw FileSystemError(.removeDirectory, path: path, code: errno) }
  }

  package func syncDirectory(_ path: String) throws(FileSystemError) {
    if let code = DirectoryNames.sync(path) { throw FileSystemError(.syncDirectory, path: path, code: code) }
  }

  private static func read(_ facts: stat) -> FileFacts {
    let kind: FileFacts.Kind =
      switch facts.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .directory
      default: .other
      }
    return FileFacts(kind: kind, size: Int(facts.st_size), mode: facts.st_mode & 0o7777, owner: facts.st_uid)
  }
}
