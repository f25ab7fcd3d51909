import BenchTable
import Glibc
import MeshSim

/// Runs a mesh in virtual time and says what came of it.
let help = """
  Examples:
    mesh-sim run t1-chain10                        one scenario with the shipped rules
    mesh-sim run t5-crowd200 --rules flood --seed 3
    mesh-sim run t3-grid --log grid.log --json     every event into a file, the numbers as JSON
    mesh-sim compare t5-crowd200                   all rules in one table
    mesh-sim bench --json                          what is promised beside what is measured
    mesh-sim list                                  every scenario and every set of rules

  Usage:
    mesh-sim run SCENARIO [--seed N] [--rules RULES] [--seconds S] [--interval MS] [--att BYTES] [--memoryless]
                          [--ideal-radio] [--no-routes] [--json] [--log FILE] [--html FILE]
    mesh-sim compare SCENARIO [the same]
    mesh-sim bench [--quick] [--json]
    mesh-sim list

  Options:
    --seed N         one seed, one byte-identical run (default 1)
    --rules RULES    trees (default), first, flood, ttl7, bitchat-ios, plumtree, oracle
    --seconds S      how long measured messages are said
    --interval MS    connection interval: 7.5, 15, 30 (default), 50, or mixed for 15 to 50
    --att BYTES      what a frame of the transport carries: 182, 244 (default), 509
    --memoryless     connection events anywhere in their interval instead of at a fixed phase
    --ideal-radio    a node serves all its links at once
    --no-routes      relays do not write themselves into routes, as those of the other rules do not
    --json           for programs
    --log FILE       every event, 24 bytes each
    --html FILE      one page with the mesh, the spread of a message and the latencies (run)

  Exit codes: 0, 1 a goal was missed, 2 usage, 3 failure.

  """

func write(_ text: String, to descriptor: Int32 = 1) {
  _ = unsafe Glibc.write(descriptor, text, text.utf8.count)
}

func usage(_ text: String) -> Never {
  write("mesh-sim: \(text)\nmesh-sim --help shows what there is.\n", to: 2)
  exit(2)
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.isEmpty || arguments.contains("--help") || arguments.contains("-h") {
  write(help)
  exit(arguments.isEmpty ? 2 : 0)
}
do {
  switch arguments[0] {
  case "run": try SimCommand(arguments).run()
  case "compare": try SimCommand(arguments).compare()
  case "bench":
    let bench = SimBench(isQuick: arguments.contains("--quick"))
    let rows = try bench.rows()
    write(
      arguments.contains("--json")
        ? "[" + rows.map(\.json).joined(separator: ",\n ") + "]\n" : BenchRow.table(rows))
    exit(rows.contains { $0.isMet == false } ? 1 : 0)
  case "list": write(SimCommand.list)
  case let other: usage("there is no verb \(other); run, compare, bench and list are known")
  }
} catch {
  write("mesh-sim: \(error)\n", to: 2)
  exit(3)
}
