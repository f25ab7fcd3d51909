import Glibc
import PowerCuts
import Storing

/// Cuts the power at every operation of the stores, fails every call, and looks for what was lost. See the README.
var isQuick = false
var isJSON = false
var seed: UInt64 = 1
var withoutSync: CrashRun.LeftOut?

func say(_ text: String, to descriptor: Int32 = 1) {
  let line = text + "\n"
  _ = unsafe write(descriptor, line, line.utf8.count)
}

func usage(_ text: String) -> Never {
  say("crash: \(text)", to: 2)
  exit(2)
}

var arguments = Array(CommandLine.arguments.dropFirst())
while !arguments.isEmpty {
  switch arguments.removeFirst() {
  case "--quick": isQuick = true
  case "--json": isJSON = true
  case "--seed":
    guard let number = arguments.first.flatMap({ UInt64($0) }) else { usage("--seed takes a number") }
    arguments.removeFirst()
    seed = number
  case "--without-sync":
    let names = CrashRun.LeftOut.all.map(\.name).joined(separator: ", ")
    guard let one = CrashRun.LeftOut.all.first(where: { $0.name == arguments.first }) else {
      usage("--without-sync takes one of \(names)")
    }
    arguments.removeFirst()
    withoutSync = one
  case let other: usage("there is no option \(other); --quick, --json, --seed, --without-sync and --kill are known.")
  }
}

let run = CrashRun(
  journeys: isQuick ? 2 : 9, length: 12, seeds: isQuick ? 1 : 2, faultStride: isQuick ? 17 : 1, firstSeed: seed)
if let withoutSync {
  let tally = await run.cuts(without: withoutSync)
  for example in tally.examples { say(example) }
  say("\(tally.points) cut points, \(tally.losses) lost")
  exit(tally.losses == 0 ? 0 : 1)
}

do {
  let cuts = try await run.cuts()
  let controls = isQuick ? CrashRun.LeftOut.all.filter { $0.name.hasSuffix("-log") } : CrashRun.LeftOut.all
  var without: [(name: String, losses: Int)] = []
  for one in controls { without.append((one.name, await run.cuts(without: one).losses)) }
  let faults = try await run.faults()
  let lost = cuts.losses + faults.map(\.tally.losses).reduce(0, +)
  let examples = cuts.examples + faults.flatMap(\.tally.examples)
  let phases = cuts.pointsOfPhase.sorted { $0.key < $1.key }
  if isJSON {
    let byPhase = phases.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
    let bySync = without.map { "\"\($0.name)\":\($0.losses)" }.joined(separator: ",")
    let byFault = faults.map {
      "\"\($0.fault)\":{\"runs\":\($0.tally.runs),\"errors\":\($0.tally.errors),\"lost\":\($0.tally.losses)}"
    }.joined(separator: ",")
    say(
      "{\"points\":\(cuts.points),\"disks\":\(cuts.disks),\"lost\":\(lost),\"pointsOfPhase\":{\(byPhase)},"
        + "\"lostWithoutSync\":{\(bySync)},\"faults\":{\(byFault)}}")
  } else {
    for example in examples { say(example) }
    say(
      phases.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + " points; \(cuts.disks) different disks opened")
    for (name, losses) in without { say("with one sync left out (\(name)) the model finds \(losses) losses") }
    for (fault, tally) in faults {
      say("\(fault): failed \(tally.runs) calls, \(tally.errors) errors to the caller, \(tally.losses) losses")
    }
    say("\(cuts.points) cut points, \(lost) lost")
  }
  exit(lost == 0 && without.allSatisfy { $0.losses > 0 } ? 0 : 1)
} catch {
  say("crash: \(error)", to: 2)
  exit(3)
}
