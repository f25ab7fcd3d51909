internal import TestKit

/// What a disk holds: what a running program sees, and of it what is durable.
///
/// Content is durable after a sync of its file, names after a sync of their directory, of which there is one. Nothing
/// else is: not the name of a file that was synced, not the order of two writes, not the size of a file.
package struct DiskState: Sendable {
  /// What a disk writes as a whole.
  package static let sectorBytes = 512

  private enum Change: Equatable, Sendable {
    case write(offset: Int, bytes: [UInt8])
    case truncate(size: Int)
  }

  private struct File: Equatable, Sendable {
    var content: [UInt8] = []
    var durable: [UInt8] = []
    var pending: [Change] = []
  }

  private var files: [Int: File] = [:]
  private var names: [String: Int] = [:]
  private var durableNames: [String: Int] = [:]
  private var pendingNames: [(path: String, file: Int?)] = []

  package init() {}

  package func file(_ path: String) -> Int? { names[path] }
  package var paths: [String] { names.keys.sorted() }
  package func size(_ file: Int) -> Int { files[file]?.content.count ?? 0 }
  package func content(_ path: String) -> [UInt8]? { names[path].flatMap { files[$0]?.content } }
  /// Whether a cut now would leave nothing to chance.
  package var isSettled: Bool { pendingNames.isEmpty && files.values.allSatisfy { $0.pending.isEmpty } }

  /// The same for the same names and contents.
  package var digest: Int {
    var hasher = Hasher()
    for (path, file) in names.sorted(by: { $0.key < $1.key }) {
      hasher.combine(path)
      unsafe files[file]?.content.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
    return hasher.finalize()
  }

  /// What is there of the range.
  package func read(_ file: Int, offset: Int, count: Int) -> ArraySlice<UInt8> {
    guard let content = files[file]?.content, offset < content.count else { return [] }
    return content[offset..<min(content.count, offset + count)]
  }

  package mutating func apply(_ operation: DiskOperation) {
    switch operation {
    case .create(let path, let file):
      files[file] = File()
      names[path] = file
      pendingNames.append((path, file))
    case .unlink(let path):
      names[path] = nil
      pendingNames.append((path, nil))
    case .write(let file, let offset, let bytes):
      Self.put(bytes, at: offset, in: &files[file, default: File()].content)
      files[file]?.pending.append(.write(offset: offset, bytes: bytes))
    case .truncate(let file, let size):
      Self.cut(&files[file, default: File()].content, to: size)
      files[file]?.pending.append(.truncate(size: size))
    case .sync(let file):
      guard files[file] != nil else { return }
      for change in files[file]?.pending ?? [] { Self.apply(change, to: &files[file, default: File()].durable) }
      files[file]?.pending = []
    case .syncDirectory:
      durableNames = names
      pendingNames = []
    }
  }

  /// A sync that failed has dropped what it should have written, and another one helps nothing, as on Linux.
  package mutating func forgetPending(_ file: Int) { files[file]?.pending = [] }

  /// The disk as the next start finds it, all of it durable.
  package func afterCut(_ leftover: Leftover) -> DiskState {
    var choices = SeededGenerator(seed: 0)
    if case .some(let seed) = leftover { choices = SeededGenerator(seed: seed) }
    func isKept(_ choices: inout SeededGenerator) -> Bool {
      switch leftover {
      case .nothing: false
      case .everything: true
      case .some: Bool.random(using: &choices)
      }
    }
    var state = DiskState()
    var left = durableNames
    for (path, file) in pendingNames where isKept(&choices) { left[path] = file }
    for (path, number) in left.sorted(by: { $0.key < $1.key }) {
      guard let file = files[number] else { continue }
      var content = file.durable
      for change in file.pending {
        if case .write(let offset, let bytes) = change, case .some = leftover {
          Self.tear(bytes, at: offset, in: &content, &choices)
        } else if isKept(&choices) {
          Self.apply(change, to: &content)
        }
      }
      state.files[number] = File(content: content, durable: content)
      state.names[path] = number
    }
    state.durableNames = state.names
    return state
  }

  /// Whole, not at all, or some of its sectors, a third of the time each.
  private static func tear(
    _ bytes: [UInt8], at offset: Int, in content: inout [UInt8], _ choices: inout SeededGenerator
  ) {
    switch choices.next() % 3 {
    case 0: return
    case 1: put(bytes, at: offset, in: &content)
    default:
      var place = offset
      while place < offset + bytes.count {
        let end = min((place / sectorBytes + 1) * sectorBytes, offset + bytes.count)
        if Bool.random(using: &choices) {
          put(Array(bytes[(place - offset)..<(end - offset)]), at: place, in: &content)
        }
        place = end
      }
    }
  }

  private static func apply(_ change: Change, to content: inout [UInt8]) {
    switch change {
    case .write(let offset, let bytes): put(bytes, at: offset, in: &content)
    case .truncate(let size): cut(&content, to: size)
    }
  }

  private static func put(_ bytes: [UInt8], at offset: Int, in content: inout [UInt8]) {
    let end = offset + bytes.count
    if content.count < end { content.append(contentsOf: repeatElement(0, count: end - content.count)) }
    content.replaceSubrange(offset..<end, with: bytes)
  }

  private static func cut(_ content: inout [UInt8], to size: Int) {
    if content.count > size {
      content.removeLast(content.count - size)
    } else {
      content.append(contentsOf: repeatElement(0, count: size - content.count))
    }
  }
}
