import BenchTable
import Bytes
import Glibc
import Primitives
import Storing

/// What sealing costs a store beside the same store with the same values as they are.
enum StoringBenchmarks {
  static func run() throws -> [BenchRow] {
    let path = "/tmp/relaychat-bench-\(getpid())"
    defer {
      for name in ["store.db", "plain.db"] {
        for end in ["", "-wal", "-shm"] { unsafe unlink("\(path)/\(name)\(end)") }
      }
      unsafe rmdir(path)
    }
    let plain = try PlainFile(path: path + "/plain.db")
    let key = Secret(copying: [UInt8](repeating: 7, count: 32).rawSpan)
    let sealed = try SealedFile(
      path: path + "/store.db", storeID: [UInt8](repeating: 1, count: 16), key: key, random: .system, mayBegin: true)
    let names = (0..<500).map { "setting.number.\($0)" }
    let values = names.map { (name: $0, value: [UInt8](repeating: 0x5a, count: 100)) }
    try plain.put(values, isErasing: false)
    try sealed.write(values, isErasing: false)
    return [try read(names, plain, sealed), try write(names, plain, sealed)]
  }

  private static func read(_ names: [String], _ plain: PlainFile, _ sealed: SealedFile) throws -> BenchRow {
    var best = (ours: UInt64.max, theirs: UInt64.max)
    var byteCount = 0
    for _ in 0..<40 {
      var start = Stopwatch.now()
      for _ in 0..<4 {
        for name in names {
          if case .value(let value) = try sealed.read(name) { byteCount += value.count }
        }
      }
      best.ours = min(best.ours, Stopwatch.now() - start)
      start = Stopwatch.now()
      for _ in 0..<4 { for name in names { byteCount += try plain.get(name)?.count ?? 0 } }
      best.theirs = min(best.theirs, Stopwatch.now() - start)
    }
    guard byteCount == 40 * 2 * 4 * 100 * names.count else { throw RawPeer.Failure(what: "a value is what it was") }
    let count = Double(4 * names.count)
    return BenchRow(
      name: "read a sealed 100-byte value, warm", value: Double(best.ours) / count / 1_000, unit: "µs",
      rival: ("the same from a plain table", Double(best.theirs) / count / 1_000), goal: .ratioAtMost(1.7))
  }

  /// The median of many, each beside one of the other: a disk has no best.
  private static func write(_ names: [String], _ plain: PlainFile, _ sealed: SealedFile) throws -> BenchRow {
    var (ours, theirs) = (Sample(), Sample())
    for round in 0..<400 {
      let value = (name: names[round % names.count], value: [UInt8](repeating: UInt8(round & 255), count: 100))
      var start = Stopwatch.now()
      try sealed.write([value], isErasing: false)
      ours.values.append(Stopwatch.now() - start)
      start = Stopwatch.now()
      try plain.put([value], isErasing: false)
      theirs.values.append(Stopwatch.now() - start)
    }
    return BenchRow(
      name: "write a sealed 100-byte value, durable", value: ours.quantile(0.5), unit: "µs",
      rival: ("the same to a plain table", theirs.quantile(0.5)), goal: .ratioAtMost(1.2))
  }
}
