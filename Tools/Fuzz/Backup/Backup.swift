import Bytes
import FuzzSupport
import Keying
import Primitives

private let id = [UInt8](repeating: 7, count: BackupHead.idByteCount)

private func head() throws -> BackupHead {
  let key = Secret(copying: [UInt8](repeating: 1, count: 32).rawSpan)
  return BackupHead(
    id: id, wallMilliseconds: 5,
    slot: try KeySlot(
      wrapping: key, under: key, kind: .passphrase, cost: .interactive,
      salt: [UInt8](repeating: 3, count: KeySlot.saltByteCount), label: .backupSlot, owner: id))
}

/// Contents one after another, each behind its length 2 and whether it is the last 1: what the records of one backup
/// hold when somebody who knows the passphrase has written them.
private func sequence(_ contents: [(BackupContent, Bool)]) -> [UInt8] {
  contents.flatMap { content, isLast in
    let bytes = content.encoded
    return [UInt8(bytes.count >> 8), UInt8(bytes.count & 255), isLast ? 1 : 0] + bytes
  }
}

/// Any bytes are a head, a record and a sequence of contents, or an error; each value has one encoding, and a sequence
/// that is accepted is one that a writer makes.
private let fuzzer = Fuzzer(
  seeds: {
    let head = try head().encoded
    var slot = head
    slot[33] = 1
    var cost = head
    cost[34] = 3
    let end = (BackupContent.end(entries: 1), true)
    return [
      ("head", head), ("slot", slot), ("cost", cost), ("short", Array(head.dropLast())), ("long", head + [0]),
      ("format", Array("RCback.1".utf8) + [2]), ("magic", [1, 2, 3]), ("empty", []),
      ("record", BackupRecords.RecordHead(isLast: true, contentByteCount: 65_536).encoded),
      ("record-large", [0, 0, 1, 0, 1]),
      ("one", sequence([(.entry(name: "one", byteCount: 3), false), (.bytes([1, 2, 3]), false), end])),
      ("none", sequence([(.end(entries: 0), true)])),
      ("after", sequence([(.end(entries: 0), true), (.end(entries: 0), true)])),
      ("twice", sequence([(.entry(name: "a", byteCount: 0), false), (.entry(name: "a", byteCount: 0), false)])),
      ("name", sequence([(.entry(name: "a/b", byteCount: 0), false)])),
      ("size", sequence([(.entry(name: "a", byteCount: 1), false), end])),
      ("more", sequence([(.entry(name: "a", byteCount: 1), false), (.bytes([1, 2]), false)])),
      ("chunk", sequence([(.entry(name: "a", byteCount: 9), false), (.bytes([1, 2]), false)])),
      ("early", sequence([(.entry(name: "a", byteCount: 9), true)])),
      ("bytes-last", sequence([(.entry(name: "a", byteCount: 1), false), (.bytes([1]), true)])),
      ("begun", sequence([(.entry(name: "a", byteCount: 1), false), (.entry(name: "b", byteCount: 1), false)])),
      ("text", [0, 10, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF]), ("kind", [0, 1, 0, 9]), ("no-bytes", [0, 1, 0, 2]),
    ]
  },
  test: { bytes in
    if let head = try? BackupHead(decoding: bytes.rawSpan) { require(head.encoded == bytes, "a head has one encoding") }
    if let record = try? BackupRecords.RecordHead(decoding: bytes.rawSpan) {
      require(record.encoded == bytes, "the head of a record has one encoding")
    }
    let key = Secret(copying: [UInt8](repeating: 2, count: 32).rawSpan)
    guard let head = try? head(), var sealing = try? BackupRecords(head: head, key: key),
      var opening = try? BackupRecords(head: head, key: key)
    else { return require(false, "there is memory") }
    var assembly = BackupAssembly()
    var promised: UInt64 = 0
    var received: UInt64 = 0
    var reader = ByteReader(bytes.rawSpan)
    while let count = try? reader.u16(), let flag = try? reader.u8(), let run = try? reader.array(Int(count)) {
      guard let content = try? BackupContent(decoding: run.rawSpan) else { return }
      require(content.encoded == run, "a content has one encoding")
      guard let record = try? sealing.seal(content, isLast: flag == 1),
        let recordHead = try? BackupRecords.RecordHead(decoding: record.rawSpan.extracting(first: 5))
      else { return require(false, "a content can be sealed") }
      var damaged = record
      damaged[record.count - 1] ^= 1
      require(
        (try? opening.open(recordHead, damaged.rawSpan.extracting(droppingFirst: 5))) == nil, "damage is noticed")
      let opened = try? opening.open(recordHead, record.rawSpan.extracting(droppingFirst: 5))
      require(opened == run, "what was sealed is opened")
      guard (try? assembly.accept(content, isLast: flag == 1)) != nil else { return }
      if case .entry(_, let size) = content { promised &+= size }
      if case .bytes(let bytes) = content { received &+= UInt64(bytes.count) }
      if assembly.isAtEnd { require(promised == received, "every entry has its size") }
    }
  })

@_cdecl("FuzzBackup_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
