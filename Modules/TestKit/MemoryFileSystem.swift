internal import Bytes
internal import Glibc
package import Keying
internal import Streams

/// A disk in memory that keeps apart what was written and what is durable, and can stop, fail and lie at any call.
///
/// Content is durable after `sync` of the file, names after `syncDirectory`. A crash gives the disk as the next start
/// finds it. A sync that failed has dropped what it should have written, as Linux does, so that another one helps nothing.
/// Directories themselves are durable at once.
package final class MemoryFileSystem: FileSystem {
  /// What of the unsynced is there after a crash.
  package enum Crash: Sendable, CustomStringConvertible {
    /// Nothing.
    case forgetting
    /// Everything: the process died and the machine did not.
    case keeping
    /// Any part: of writes a beginning, of names some, in any combination.
    case tearing(seed: UInt64)

    package var description: String {
      switch self {
      case .forgetting: "forgetting"
      case .keeping: "keeping"
      case .tearing(let seed): "tearing(\(seed))"
      }
    }
  }

  package enum Fault: Sendable {
    /// Fails with this `errno`.
    case failing(Int32)
    /// Writes half of what it is given.
    case short
  }

  private struct Write {
    var offset: Int
    var bytes: [UInt8]
  }

  private struct Node {
    var kind: FileFacts.Kind
    var mode: UInt32
    var owner: UInt32
    var content: [UInt8] = []
    var durable: [UInt8] = []
    var pending: [Write] = []
  }

  private struct NameChange {
    var changes: [(path: String, node: Int?)]
  }

  private struct State {
    var user: UInt32
    var nodes: [Int: Node] = [:]
    var nextNode = 1
    var names: [String: Int] = [:]
    var durableNames: [String: Int] = [:]
    var pendingNames: [NameChange] = []
    var files: [Int32: (node: Int, offset: Int)] = [:]
    var nextFile: Int32 = 3
    /// One line for each call.
    var log: [String] = []
    var cut: Int?
    var fault: (index: Int, Fault)?
    var ignoredSyncs: Set<Int> = []
    var written: [[UInt8]] = []
  }

  private let state: Protected<State>

  package init(user: UInt32 = 1_000, directories: [String] = []) {
    var state = State(user: user)
    for path in directories {
      state.nodes[state.nextNode] = Node(kind: .directory, mode: 0o700, owner: user)
      state.names[path] = state.nextNode
      state.durableNames[path] = state.nextNode
      state.nextNode += 1
    }
    self.state = Protected(state)
  }

  private init(_ state: State) { self.state = Protected(state) }

  // MARK: What tests ask and arrange

  /// The same disk again, with no calls counted and no faults.
  package func copy() -> MemoryFileSystem {
    MemoryFileSystem(state.withLock { Self.fresh($0) })
  }

  /// The calls so far, one line each. The number of a call is its place here.
  package var log: [String] { state.withLock { $0.log } }
  /// Every run of bytes that was ever written.
  package var written: [[UInt8]] { state.withLock { $0.written } }
  package var user: UInt32 { state.withLock { $0.user } }

  /// From call `index` on, every call fails: the machine is off.
  package func cut(at index: Int) { state.withLock { $0.cut = index } }
  package func inject(_ fault: Fault, at index: Int) { state.withLock { $0.fault = (index, fault) } }
  /// The sync at call `index` says that it is done and does nothing.
  package func ignoreSync(at index: Int) { state.withLock { _ = $0.ignoredSyncs.insert(index) } }

  /// A file that is durable.
  package func put(_ path: String, _ bytes: [UInt8], mode: UInt32 = 0o600, owner: UInt32? = nil) {
    state.withLock { state in
      state.nodes[state.nextNode] = Node(
        kind: .file, mode: mode, owner: owner ?? state.user, content: bytes, durable: bytes)
      state.names[path] = state.nextNode
      state.durableNames[path] = state.nextNode
      state.nextNode += 1
    }
  }

  /// All files with their content, as a running process sees them.
  package var contents: [String: [UInt8]] {
    state.withLock { state in
      state.names.compactMapValues { id in state.nodes[id].flatMap { $0.kind == .file ? $0.content : nil } }
    }
  }

  /// The disk after the machine went off now.
  package func crashed(_ crash: Crash) -> MemoryFileSystem {
    MemoryFileSystem(
      state.withLock { state in
        var after = state
        var generator = SeededGenerator(seed: 0)
        if case .tearing(let seed) = crash { generator = SeededGenerator(seed: seed) }
        after.names = state.durableNames
        for change in state.pendingNames {
          let isKept: Bool =
            switch crash {
            case .forgetting: false
            case .keeping: true
            case .tearing: Bool.random(using: &generator)
            }
          if isKept { for (path, node) in change.changes { after.names[path] = node } }
        }
        for (id, node) in state.nodes.sorted(by: { $0.key < $1.key }) {
          var content = node.durable
          switch crash {
          case .forgetting: break
          case .keeping: content = node.content
          case .tearing:
            for write in node.pending {
              let bytes = write.bytes
              let kept = Int.random(in: 0...bytes.count, using: &generator)
              let isWhole = Int.random(in: 0..<3, using: &generator) == 0
              Self.apply(Array(bytes.prefix(isWhole ? bytes.count : kept)), at: write.offset, to: &content)
            }
          }
          after.nodes[id]?.content = content
          after.nodes[id]?.durable = content
          after.nodes[id]?.pending = []
        }
        after.durableNames = after.names
        after.pendingNames = []
        return Self.fresh(after)
      })
  }

  private static func fresh(_ state: State) -> State {
    var fresh = state
    fresh.files = [:]
    fresh.log = []
    fresh.cut = nil
    fresh.fault = nil
    fresh.ignoredSyncs = []
    fresh.written = []
    return fresh
  }

  private static func apply(_ bytes: [UInt8], at offset: Int, to content: inout [UInt8]) {
    if bytes.isEmpty { return }
    if content.count < offset + bytes.count {
      content += [UInt8](repeating: 0, count: offset + bytes.count - content.count)
    }
    content.replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }

  // MARK: Calls

  /// Counts a call; fails where one was told to. Says whether the write is to be short.
  private static func count(
    _ call: FileSystemError.Call, _ path: String, _ state: inout State
  ) throws(FileSystemError) -> (index: Int, isShort: Bool) {
    let index = state.log.count
    state.log.append("\(call.rawValue) \(path)")
    if let cut = state.cut, index >= cut { throw FileSystemError(call, path: path, code: ESHUTDOWN) }
    guard let fault = state.fault, fault.index == index else { return (index, false) }
    switch fault.1 {
    case .failing(let code):
      if call == .sync, let id = state.names[path] { state.nodes[id]?.pending = [] }
      throw FileSystemError(call, path: path, code: code)
    case .short: return (index, true)
    }
  }

  package func facts(of path: String) throws(FileSystemError) -> FileFacts? {
    try state.withLock { (state) throws(FileSystemError) in
      _ = try Self.count(.facts, path, &state)
      return state.names[path].flatMap { state.nodes[$0] }.map { Self.facts($0) }
    }
  }

  package func facts(of file: OpenFile) throws(FileSystemError) -> FileFacts {
    try state.withLock { (state) throws(FileSystemError) in
      _ = try Self.count(.facts, Self.path(file, state), &state)
      guard let open = state.files[file.number], let node = state.nodes[open.node] else {
        throw FileSystemError(.facts, path: "", code: EBADF)
      }
      return Self.facts(node)
    }
  }

  package func resolved(_ path: String) -> String? { state.withLock { $0.names[path] == nil ? nil : path } }

  package func names(in directory: String) throws(FileSystemError) -> [String] {
    try state.withLock { (state) throws(FileSystemError) in
      _ = try Self.count(.list, directory, &state)
      return state.names.keys.filter { $0.hasPrefix(directory + "/") }
        .map { String($0.dropFirst(directory.count + 1)) }.filter { !$0.contains("/") }
    }
  }

  package func open(_ path: String, for purpose: FilePurpose) throws(FileSystemError) -> OpenFile {
    try state.withLock { (state) throws(FileSystemError) in
      _ = try Self.count(.open, path, &state)
      let id: Int
      if let found = state.names[path], let node = state.nodes[found] {
        id = found
        guard node.kind != .directory || purpose == .read else {
          throw FileSystemError(.open, path: path, code: EISDIR)
        }
        guard node.owner == state.user || (purpose == .read && node.mode & 0o004 != 0) || state.user == 0 else {
          throw FileSystemError(.open, path: path, code: EACCES)
        }
        guard purpose != .create else { throw FileSystemError(.open, path: path, code: EEXIST) }
      } else {
        guard purpose == .create else { throw FileSystemError(.open, path: path, code: ENOENT) }
        id = state.nextNode
        state.nextNode += 1
        state.nodes[id] = Node(kind: .file, mode: 0o600, owner: state.user)
        state.names[path] = id
        state.pendingNames.append(NameChange(changes: [(path, id)]))
      }
      let file = OpenFile(number: state.nextFile)
      state.files[state.nextFile] = (id, 0)
      state.nextFile += 1
      return file
    }
  }

  package func read(_ file: OpenFile, into span: inout MutableRawSpan) throws(FileSystemError) -> Int {
    let room = span.byteCount
    let bytes = try state.withLock { (state) throws(FileSystemError) in
      let isShort = try Self.count(.read, Self.path(file, state), &state).isShort
      guard let open = state.files[file.number], let node = state.nodes[open.node] else {
        throw FileSystemError(.read, path: "", code: EBADF)
      }
      let count = min(isShort ? max(1, room / 2) : room, max(0, node.content.count - open.offset))
      state.files[file.number]?.offset += count
      return Array(node.content[open.offset..<open.offset + count])
    }
    for (index, byte) in bytes.enumerated() { span.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
    return bytes.count
  }

  package func write(_ file: OpenFile, _ bytes: RawSpan) throws(FileSystemError) -> Int {
    var all: [UInt8] = []
    for index in 0..<bytes.byteCount { all.append(bytes.byte(at: index) ?? 0) }
    let given = all
    return try state.withLock { (state) throws(FileSystemError) in
      let isShort = try Self.count(.write, Self.path(file, state), &state).isShort
      guard let open = state.files[file.number], state.nodes[open.node] != nil else {
        throw FileSystemError(.write, path: "", code: EBADF)
      }
      let run = isShort ? Array(given.prefix(max(1, given.count / 2))) : given
      Self.apply(
        run, at: open.offset, to: &state.nodes[open.node, default: Node(kind: .file, mode: 0, owner: 0)].content)
      state.nodes[open.node]?.pending.append(Write(offset: open.offset, bytes: run))
      state.files[file.number]?.offset += run.count
      state.written.append(run)
      return run.count
    }
  }

  package func sync(_ file: OpenFile) throws(FileSystemError) {
    try state.withLock { (state) throws(FileSystemError) in
      let index = try Self.count(.sync, Self.path(file, state), &state).index
      guard let open = state.files[file.number], let node = state.nodes[open.node] else {
        throw FileSystemError(.sync, path: "", code: EBADF)
      }
      guard !state.ignoredSyncs.contains(index) else { return }
      state.nodes[open.node]?.durable = node.content
      state.nodes[open.node]?.pending = []
    }
  }

  package func close(_ file: OpenFile) { state.withLock { state in _ = state.files.removeValue(forKey: file.number) } }

  package func rename(_ path: String, to target: String) throws(FileSystemError) {
    try state.withLock { (state) throws(FileSystemError) in
      _ = try Self.count(.rename, path, &state)
      guard let id = state.names[path] else { throw FileSystemError(.rename, path: path, code: ENOENT) }
      state.names[target] = id
      state.names[path] = nil
      state.pendingNames.append(NameChange(changes: [(target, id), (path, nil)]))
    }
  }

  package func unlink(_ path: String) throws(FileSystemError) {
    try remove(.unlink, path) { node, _ in node.kind == .directory ? EISDIR : nil }
  }

  package func removeDirectory(_ path: String) throws(FileSystemError) {
    try remove(.removeDirectory, path) { node, isEmpty in
      node.kind != .directory ? ENOTDIR : isEmpty ? nil : ENOTEMPTY
    }
  }

  private func remove(
    _ call: FileSystemError.Call, _ path: String, refusal: (Node, Bool) -> Int32?
  ) throws(FileSystemError) {
    let isEmpty = state.withLock { state in !state.names.keys.contains { $0.hasPrefix(path + "/") } }
    try state.withLock { (state) throws(FileSystemError) in
      _ = try Self.count(call, path, &state)
      guard let id = state.names[path], let node = state.nodes[id] else {
        throw FileSystemError(call, path: path, code: ENOENT)
      }
      if let code = refusal(node, isEmpty) { throw FileSystemError(call, path: path, code: code) }
      state.names[path] = nil
      state.pendingNames.append(NameChange(changes: [(path, nil)]))
    }
  }

  package func syncDirectory(_ path: String) throws(FileSystemError) {
    try state.withLock { (state) throws(FileSystemError) in
      let index = try Self.count(.syncDirectory, path, &state).index
      guard !state.ignoredSyncs.contains(index) else { return }
      var waiting: [NameChange] = []
      for change in state.pendingNames {
        let here = change.changes.filter {
          $0.path.hasPrefix(path + "/") && !$0.path.dropFirst(path.count + 1).contains("/")
        }
        let elsewhere = change.changes.filter { entry in !here.contains { $0.path == entry.path } }
        for (path, node) in here { state.durableNames[path] = node }
        if !elsewhere.isEmpty { waiting.append(NameChange(changes: elsewhere)) }
      }
      state.pendingNames = waiting
    }
  }

  private static func path(_ file: OpenFile, _ state: State) -> String {
    guard let node = state.files[file.number]?.node else { return "" }
    return state.names.first { $0.value == node }?.key ?? ""
  }

  private static func facts(_ node: Node) -> FileFacts {
    FileFacts(kind: node.kind, size: node.content.count, mode: node.mode, owner: node.owner)
  }
}
