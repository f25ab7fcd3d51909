internal import Archive
internal import Glibc
internal import Keying

/// Whether files are those of a node, by what is in them: names alone are no reason to overwrite anything.
enum NodeEvidence {
  enum Verdict: Equatable {
    case node
    /// Nothing has a name that a node gives.
    case nothing
    /// Files of these names are there, and none of them is of a node.
    case foreign([String])
  }

  /// Bytes of a file that are looked at: the first page of a database holds its schema, and so do the first of its log
  /// after a node was killed in its first moments.
  private static let byteCount = 1 << 16

  /// Reads, and changes nothing. One file that only a node has is enough, whatever became of the others.
  static func verdict(on directory: String, _ inventory: StateInventory) -> Verdict {
    if inventory.hasMark { return .node }
    var named = inventory.state
    for name in [StateInventory.slotFile, StateInventory.backup, StateInventory.draft] {
      let path = directory + "/" + name
      guard let head = head(of: path) else { continue }
      if head.starts(with: KeySlots.magic) { return .node }
      named.append(name)
    }
    guard !named.isEmpty else { return .nothing }
    let words = [
      "CREATE TABLE plain (name ", "CREATE TABLE plain_is_right", "CREATE TABLE sealed", "CREATE TABLE messages (",
    ].map { Array($0.utf8) }
    for name in StateFiles.databases {
      for (end, magic) in [("", Array("SQLite format 3\0".utf8)), ("-wal", [0x37, 0x7F, 0x06])] {
        guard let head = head(of: directory + "/" + name + end), head.starts(with: magic) else { continue }
        if words.contains(where: { stands($0, in: head) }) { return .node }
      }
    }
    return .foreign(named.sorted())
  }

  private static func head(of path: String) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: byteCount)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }

  private static func stands(_ word: [UInt8], in bytes: [UInt8]) -> Bool {
    guard word.count <= bytes.count else { return false }
    return (0...(bytes.count - word.count)).contains { bytes[$0..<$0 + word.count].elementsEqual(word) }
  }
}
