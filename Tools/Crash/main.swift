import Glibc
import PowerCuts
import Storing

/// Cuts the power at every operation of the stores, fails every call, and looks for what was lost. See the README.
var isQuick = false
var isJSON = false
var seed: UInt64 = 1
var withoutSync: CrashRun.LeftOut?
var isModelAlone = false
var isArchiveAlone = false
var modelOperations: Int?

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
  case "--model":
    isModelAlone = true
    if let number = arguments.first.flatMap({ Int($0) }), number > 0 {
      modelOperations = number
      arguments.removeFirst()
    }
  case "--archive": isArchiveAlone = true
  case "--without-sync":
    let names = CrashRun.LeftOut.all.map(\.name).joined(separator: ", ")
    guard let one = CrashRun.LeftOut.all.first(where: { $0.name == arguments.first }) else {
      usage("--without-sync takes one of \(names)")
    }
    arguments.removeFirst()
    withoutSync = one
  case let other:
    usage(
      "there is no option \(other); --quick, --json, --seed, --model, --archive, --without-sync and --kill are known.")
  }
}

let run = CrashRun(
  journeys: isQuick ? 2 : 9, length: 12, seeds: isQuick ? 1 : 2, faultStride: isQuick ? 17 : 1, firstSeed: seed)
if isModelAlone {
  let tally = await run.model(modelOperations ?? (isQuick ? 50_000 : 1_000_000), without: withoutSync)
  for example in tally.examples { say(example) }
  say("\(tally.phases); \(tally.errors) calls failed")
  say(tally.line)
  exit(tally.differences == 0 ? 0 : 1)
}

if let withoutSync {
  let tally = await run.cuts(without: withoutSync)
  for example in tally.examples { say(example) }
  say("\(tally.points) cut points, \(tally.losses) lost")
  exit(tally.losses == 0 ? 0 : 1)
}

func say(archive: [(fault: CutDisk.Fault, tally: FaultRun.Tally)]) {
  for (fault, tally) in archive {
    say("archive, \(fault): failed \(tally.runs) calls, \(tally.errors) errors to the caller, \(tally.losses) losses")
  }
}

do {
  if isArchiveAlone {
    let archive = try await run.archive()
    for example in archive.flatMap(\.tally.examples) { say(example) }
    say(archive: archive)
    exit(archive.allSatisfy { $0.tally.losses == 0 } ? 0 : 1)
  }
  let model = await run.model(isQuick ? 20_000 : 1_000_000)
  let cuts = try await run.cuts()
  let controls = isQuick ? CrashRun.LeftOut.all.filter { $0.name.hasSuffix("-log") } : CrashRun.LeftOut.all
  var without: [(name: String, losses: Int)] = []
  for one in controls { without.append((one.name, await run.cuts(without: one).losses)) }
  let faults = try await run.faults()
  let archive = try await run.archive()
  let lost =
    cuts.losses + faults.map(\.tally.losses).reduce(0, +) + model.differences
    + archive.map(\.tally.losses).reduce(0, +)
  let examples =
    model.examples + cuts.examples + faults.flatMap(\.tally.examples)
    + archive.flatMap(\.tally.examples)
  let phases = cuts.pointsOfPhase.sorted { $0.key < $1.key }
  if isJSON {
    let byPhase = phases.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
    let bySync = without.map { "\"\($0.name)\":\($0.losses)" }.joined(separator: ",")
    func json(_ faults: [(fault: CutDisk.Fault, tally: FaultRun.Tally)]) -> String {
      faults.map {
        "\"\($0.fault)\":{\"runs\":\($0.tally.runs),\"errors\":\($0.tally.errors),\"lost\":\($0.tally.losses)}"
      }.joined(separator: ",")
    }
    say(
      "{\"points\":\(cuts.points),\"disks\":\(cuts.disks),\"lost\":\(lost),\"pointsOfPhase\":{\(byPhase)},"
        + "\"model\":{\"operations\":\(model.operations),\"reopened\":\(model.reopened),"
        + "\"crashes\":\(model.crashes),\"differences\":\(model.differences)},"
        + "\"lostWithoutSync\":{\(bySync)},\"faults\":{\(json(faults))},\"archive\":{\(json(archive))}}")
  } else {
    for example in examples { say(example) }
    say("\(model.phases); \(model.errors) calls failed")
    say(model.line)
    say(
      phases.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + " points; \(cuts.disks) different disks opened")
    for (name, losses) in without { say("with one sync left out (\(name)) the model finds \(losses) losses") }
    for (fault, tally) in faults {
      say("\(fault): failed \(tally.runs) calls, \(tally.errors) errors to the caller, \(tally.losses) losses")
    }
    say(archive: archive)
    say("\(cuts.points) cut points, \(lost) lost")
  }
  exit(lost == 0 && without.allSatisfy { $0.losses > 0 } ? 0 : 1)
} catch {
  say("crash: \(error)", to: 2)
  exit(3)
}
