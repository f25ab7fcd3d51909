import FuzzSupport
import Noise

/// The window beside a set that forgets nothing: they agree on every counter, at the first, the last and all between.
///
/// An input is steps of two bytes, and nine where a step jumps to any counter.
private let fuzzer = Fuzzer(
  seeds: {
    let back = (0..<40).flatMap { index -> [UInt8] in [0, UInt8(index * 3), 1, UInt8(index * 5)] }
    let wide = (0..<20).flatMap { index -> [UInt8] in [2, UInt8(index), 1, 3, 3, UInt8(index)] }
    let jumps: [[UInt8]] = [
      [4] + [UInt8](repeating: 255, count: 8), [4, 0, 0, 0, 0, 255, 255, 255, 254], [4, 0, 0, 0, 1, 0, 0, 0, 0],
      [4, 0, 0, 0, 0, 0, 0, 255, 255], [4, 0, 0, 0, 0, 0, 1, 0, 0],
    ]
    return [
      ("back", back), ("wide", wide), ("forward", (0..<20).flatMap { [2, 5 + $0, 1, 64] }), ("last", jumps[0] + back),
      ("32-bits", jumps[1] + back + jumps[2] + back),
      ("16-bits", jumps[3] + back + jumps[4] + wide + jumps[0] + jumps[0]),
    ]
  },
  test: { bytes in
    var window = ReplayWindow()
    var seen: Set<UInt64> = []
    var newest: UInt64?
    var counter: UInt64 = 0
    var rest = bytes[...]
    while let step = rest.popFirst() {
      if step % 5 == 4 {
        counter = rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        rest = rest.dropFirst(8)
      } else {
        let size = UInt64(rest.popFirst() ?? 0) * (step % 5 < 2 ? 1 : 64)
        counter = step % 5 == 0 || step % 5 == 2 ? counter &+ size : counter &- size
      }
      let isTooOld = newest.map { $0 > counter && $0 - counter >= 1_024 } ?? false
      let expected: ReplayWindow.Verdict = isTooOld ? .tooOld : seen.contains(counter) ? .replayed : .fresh
      require(window.verdict(on: counter) == expected, "the window says what the set says")
      window.accept(counter)
      if expected == .fresh {
        seen.insert(counter)
        newest = max(newest ?? 0, counter)
      }
      require(window.newest == newest, "the newest is the newest")
    }
  })

@_cdecl("FuzzReplayWindow_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
