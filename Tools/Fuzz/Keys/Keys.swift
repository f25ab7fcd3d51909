import Bytes
import FuzzSupport
import Identities
import Primitives

/// Any bytes are stored keys or an error; keys are stored as these bytes and no others.
private let fuzzer = Fuzzer(
  seeds: {
    var keys = try IdentityKeys(generatedFrom: .system, now: 1_000_000)
    let first = try keys.export()
    _ = try keys.rotateIfDue(now: 1_000_000 + 24 * 3_600_000)
    let second = try keys.export()
    return [("one", first.withBytes { [UInt8](copying: $0) }), ("two", second.withBytes { [UInt8](copying: $0) })]
  },
  test: { bytes in
    guard var keys = try? IdentityKeys(importing: bytes.rawSpan, random: .system) else { return }
    guard let secret = try? keys.export() else { return require(false, "keys can be stored") }
    require(secret.bytes.hasSameBytes(as: bytes.rawSpan), "stored keys have one encoding")
    _ = try? keys.rotateIfDue(now: 0)
    _ = try? keys.rotateIfDue(now: .max)
    require(keys.prekeyIDs.count == 1, "old prekeys are erased")
  })

@_cdecl("FuzzKeys_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
