import Arguments
import FuzzSupport
import LocalTransport

/// Any bytes are an INI file or an error with a line, and whatever stands in one gives an air that can be asked.
private let fuzzer = Fuzzer(
  seeds: {
    [
      "[air]\nloss = 0.25\ndelay = 40\njitter = 3\nframe-size = 100\n[air a b]\nbroken = yes\nloss = x\n",
      "x = 1.5\ny = -2\nrange = 10\n", "x = 1e308\ny = nan\nrange = -1\n", "# comment\n; comment\n\n  [ a ] \n k = v\n",
      "[a\n", "no equals", "= value", "[]\n=\n", "\u{FEFF}[node]\nname = ada\r\n", "k : v\nk = w ; comment\n",
      "[" + String(repeating: "s", count: 80) + "]\n", String(repeating: "k", count: 300) + " = v",
      "#" + String(repeating: "c", count: 300), "a = \u{7}", "[air]\nbroken = no\n[air b a]\nbroken = maybe\n",
      "[air]\nloss = -1\ndelay = 60001\nframe-size = 0\n", "[air a]\nloss=1\n[air a b c]\nloss=1\n",
    ].enumerated().map { ("ini-\($0.offset)", Array($0.element.utf8)) } + [("bytes", [0xff, 0xfe, 10, 0])]
  },
  test: { bytes in
    let lineCount = bytes.count { $0 == 10 } + 1
    do throws(INIError) {
      let document = try INIDocument.parse(bytes)
      require(
        document.entries.allSatisfy { !$0.key.isEmpty && $0.line >= 1 && $0.line <= lineCount }, "entries have lines")
      require(zip(document.entries, document.entries.dropFirst()).allSatisfy { $0.line <= $1.line }, "in order")
      for entry in document.entries {
        let last = document.entries.last { $0.section == entry.section && $0.key == entry.key }
        require(document.value(entry.section, entry.key) == last?.value, "the last value stands")
      }
    } catch {
      switch error {
      case .tooLarge(let count): require(count == bytes.count, "it says how large")
      case .notText(let line), .lineTooLong(let line), .malformed(let line):
        require(line >= 1 && line <= lineCount, "an error has a line of the file")
      }
    }
    var air = LocalAir()
    let isAir = air.read(air: bytes)
    let isPlace = air.read(place: bytes, of: "a")
    require(isAir == isPlace, "an INI file is one for both")
    let former = air
    // The second reading finds the first in force; a file that says nothing new changes nothing.
    _ = air.read(air: bytes)
    require(air == former || !isAir, "reading a file twice is reading it once")
    let conditions = air.conditions(between: "a", "b")
    require((0...1).contains(conditions.loss) && (1...4_096).contains(conditions.frameSize), "values keep their bounds")
    for delay in [conditions.delayMilliseconds, conditions.jitterMilliseconds] {
      require((0...60_000).contains(delay), "delays, too")
    }
    require(air.isInReach("a", "b") == air.isInReach("b", "a"), "reach goes both ways")
    _ = air.signalStrength("a", "b")
    if let place = air.places["a"] {
      require(place.x.isFinite && place.y.isFinite && place.range >= 0, "a place is somewhere")
      var copy = LocalAir()
      require(copy.read(place: Array(LocalAir.text(place).utf8), of: "a") && copy.places["a"] == place, "it comes back")
    }
  })

@_cdecl("FuzzINI_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
