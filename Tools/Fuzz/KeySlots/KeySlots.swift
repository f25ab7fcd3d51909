import Bytes
import FuzzSupport
import Keying
import Primitives

private let storeID = [UInt8](repeating: 7, count: KeySlots.storeIDByteCount)

private func seed(_ kinds: [KeySlot.Kind]) throws -> [UInt8] {
  let dataKey = Secret(copying: [UInt8](repeating: 1, count: 32).rawSpan)
  let key = Secret(copying: [UInt8](repeating: 2, count: 32).rawSpan)
  let slots = try kinds.map { kind in
    try KeySlot(
      wrapping: dataKey, under: key, kind: kind, cost: kind == .passphrase ? .interactive : nil,
      salt: [UInt8](repeating: 3, count: KeySlot.saltByteCount), label: .keySlot, owner: storeID)
  }
  return try KeySlots(storeID: storeID, stateCounter: 4, slots: slots, dataKey: dataKey).encoded
}

/// Any bytes are a slot file or an error; a file has these bytes and no others, and no damaged one opens.
private let fuzzer = Fuzzer(
  seeds: {
    var damaged = try seed([.keyFile])
    damaged[34] = 9
    var cheap = try seed([.passphrase])
    cheap[35] = 1
    var priced = try seed([.credential])
    priced[35] = 17
    return [
      ("one", try seed([.credential])), ("three", try seed(KeySlot.Kind.allCases)),
      ("eight", try seed([KeySlot.Kind](repeating: .passphrase, count: 8))), ("kind", damaged), ("cheap", cheap),
      ("priced", priced), ("empty", []), ("magic", Array("RCkeys.1".utf8)), ("other", Array("RCkeys.2 and more".utf8)),
      ("format", Array("RCkeys.1".utf8) + [2]), ("none", Array("RCkeys.1".utf8) + [1, 0]),
      ("many", Array("RCkeys.1".utf8) + [1, 9]), ("long", try seed([.credential]) + [0]),
    ]
  },
  test: { bytes in
    guard let file = try? KeySlots(parsing: bytes.rawSpan) else {
      return require((try? KeySlots(decoding: bytes.rawSpan)) == nil, "what is no slot file is not decoded")
    }
    require(file.encoded == bytes, "a slot file has one encoding")
    require(bytes.count <= KeySlots.largestByteCount, "a slot file has its size")
    let key = Secret(copying: [UInt8](repeating: 2, count: 32).rawSpan)
    guard let whole = try? KeySlots(decoding: bytes.rawSpan) else { return }
    for slot in whole.slots {
      guard let dataKey = try? slot.unwrap(with: key, label: .keySlot, owner: whole.storeID) else { continue }
      _ = try? whole.verify(with: dataKey)
    }
    require(!whole.kinds.isEmpty, "a slot file has a slot")
  })

@_cdecl("FuzzKeySlots_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
