import FuzzSupport
import Routing
import Streams
import WireFormat

private func group(_ count: Int, run: UInt64 = 1, watermark: UInt32? = nil, isSynchronised: Bool = true) -> SeenGroup {
  SeenGroup(
    run: run, second: 700_000, wallMilliseconds: 1_700_000_000_000, isClockSynchronised: isSynchronised,
    watermarkAgeSeconds: watermark,
    entries: (0..<count).map { index in
      SeenGroup.Entry(
        id: PacketID(high: UInt64(index), low: run), ageSeconds: UInt32(index * 40_000), hopsLeft: UInt8(index & 7))
    })
}

/// Any bytes are a group of packets seen or none; a group has these bytes and no others. A relay that is given the same group
/// twice, and a damaged one after it, accounts for every packet and writes none of them again.
private let fuzzer = Fuzzer(
  seeds: {
    let whole = group(3, watermark: 60).encoded
    var (version, flags, count, newest) = (whole, whole, whole, group(2).encoded)
    version[0] = 2
    flags[1] = 3
    count[33] = 9
    for index in 0..<34 where index > 1 && index < 30 { newest[index] = 255 }
    return [
      ("none", group(0).encoded), ("some", whole), ("watermark", group(1, watermark: 0).encoded),
      ("unsynchronised", group(5, run: .max, isSynchronised: false).encoded), ("version", version), ("flags", flags),
      ("count", count), ("newest", newest), ("short", Array(whole.dropLast())), ("long", whole + [0]), ("empty", []),
    ]
  },
  test: { bytes in
    let group = SeenGroup(decoding: bytes)
    if let group { require(group.encoded == bytes, "a group has one encoding") }
    let start = MonotonicTime(nanoseconds: 1_000_000_000_000_000)
    var state = RelayState(key: (1, 2), ownEntry: 0)
    state.beginHistory(run: 2)
    var load = SeenLoad(
      second: RelayState.second(start), wallMilliseconds: 1_700_000_100_000, isClockSynchronised: true)
    state.restore(bytes, number: 3, &load)
    state.restore(bytes, number: 2, &load)
    state.restore(nil, number: 1, &load)
    state.endRestore(load)
    let held = group?.entries.count ?? 0
    require(load.damaged == (group == nil ? 3 : 1), "what is no group is counted")
    require(load.taken + load.leftOut + load.expired <= 2 * held, "every packet is accounted for once")
    let save = state.save(now: start, wallMilliseconds: 1_700_000_100_000, isClockSynchronised: true)
    require(save == nil, "what was restored is not written again")
  })

@_cdecl("FuzzSeenGroup_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
