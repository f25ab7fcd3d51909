import Glibc
import MeshSim

/// `run` and `compare`.
struct SimCommand {
  private var scenario: Scenario
  private var rules = RuleSet.trees
  private var seed: UInt64 = 1
  private var isJSON = false
  private var logPath: String?
  private var pagePath: String?

  init(_ arguments: [String]) {
    guard arguments.count >= 2, !arguments[1].hasPrefix("--") else { usage("\(arguments[0]) takes a scenario") }
    let name = arguments[1]
    var rest = Array(arguments.dropFirst(2))
    var changes: [(inout Scenario) -> Void] = []
    func value(_ option: String) -> String {
      guard !rest.isEmpty else { usage("\(option) takes a value") }
      return rest.removeFirst()
    }
    while !rest.isEmpty {
      let option = rest.removeFirst()
      switch option {
      case "--seed":
        guard let number = UInt64(value(option)) else { usage("--seed takes a number") }
        seed = number
      case "--rules":
        guard let known = RuleSet(rawValue: value(option)) else {
          usage("--rules takes one of " + RuleSet.allCases.map(\.rawValue).joined(separator: ", "))
        }
        rules = known
      case "--seconds":
        guard let seconds = UInt64(value(option)), seconds > 0, seconds < 1_000_000 else {
          usage("--seconds takes a number of seconds")
        }
        changes.append { $0.measured = seconds * 1_000_000_000 }
      case "--interval":
        let text = value(option)
        let range: ClosedRange<UInt64>
        if text == "mixed" {
          range = 15_000_000...50_000_000
        } else if let milliseconds = Double(text), (7.5...4_000).contains(milliseconds) {
          let nanoseconds = UInt64(milliseconds * 1_000_000)
          range = nanoseconds...nanoseconds
        } else {
          usage("--interval takes milliseconds from 7.5 on, or mixed")
        }
        changes.append { $0.air.intervals = range }
      case "--att":
        guard let size = Int(value(option)), (64...509).contains(size) else {
          usage("--att takes 64 to 509 bytes: a link with smaller frames is refused by every node")
        }
        changes.append { $0.air.attPayload = size }
      case "--memoryless": changes.append { $0.air.latency = .memoryless }
      case "--ideal-radio": changes.append { $0.air.isRadioExclusive = false }
      case "--no-routes": changes.append { $0.isNamedInRoutes = false }
      case "--json": isJSON = true
      case "--log": logPath = value(option)
      case "--html": pagePath = value(option)
      case let other: usage("there is no option \(other)")
      }
    }
    guard var found = Catalogue.scenario(name, seed: seed) else {
      usage("there is no scenario \(name); mesh-sim list shows all")
    }
    for change in changes { change(&found) }
    scenario = found
  }

  static var list: String {
    var text = "scenarios:\n"
    for entry in Catalogue.entries {
      text += "  " + entry.name + String(repeating: " ", count: max(1, 26 - entry.name.count)) + entry.summary + "\n"
    }
    text += "rules:\n"
    for rules in RuleSet.allCases {
      text += "  " + rules.rawValue + String(repeating: " ", count: 26 - rules.rawValue.count) + rules.summary + "\n"
    }
    return text
  }

  func run() throws {
    let (report, seconds) = try measured(rules)
    if let pagePath {
      let file = Self.create(pagePath)
      Self.append(Array(ReportPage.html(report, numbers: ReportText.page(report, seconds: seconds)).utf8), to: file)
      close(file)
    }
    write(isJSON ? ReportText.json(report, seconds: seconds) + "\n" : ReportText.page(report, seconds: seconds))
  }

  func compare() throws {
    var results: [(Report, Double)] = []
    for rules in RuleSet.allCases { results.append(try measured(rules)) }
    write(
      isJSON
        ? "[" + results.map { ReportText.json($0.0, seconds: $0.1) }.joined(separator: ",\n ") + "]\n"
        : ReportText.table(results.map(\.0)))
  }

  private static func create(_ path: String) -> Int32 {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard file >= 0 else { usage("\(path) cannot be written") }
    return file
  }

  private static func append(_ bytes: [UInt8], to descriptor: Int32) {
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { (all: UnsafeRawBufferPointer) -> Int in
        unsafe Glibc.write(descriptor, all.baseAddress! + written, bytes.count - written)
      }
      guard count > 0 else { return }
      written += count
    }
  }

  private func measured(_ rules: RuleSet) throws -> (Report, Double) {
    let file = logPath.map(Self.create) ?? -1
    defer { if file >= 0 { close(file) } }
    let descriptor = file
    var sink: (@Sendable ([UInt8]) -> Void)?
    if file >= 0 { sink = { (bytes: [UInt8]) in Self.append(bytes, to: descriptor) } }
    let start = Wall.seconds
    let report = try rules.run(
      scenario, seed: seed, sink: sink, progress: Wall.bar("\(scenario.name) \(rules.rawValue)"))
    Wall.endBar()
    return (report, Wall.seconds - start)
  }
}

/// The real clock, and what is shown to a person who waits for it.
enum Wall {
  static var seconds: Double {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
  }

  /// Most bytes that this process has held, by the kernel.
  static var mostBytes: Int {
    var usage = rusage()
    unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_maxrss * 1_024
  }

  static func bar(_ title: String) -> (Double) -> Void {
    guard isatty(2) == 1 else { return { _ in } }
    return { share in
      let filled = Int(share * 40)
      let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 40 - filled)
      write("\r\(title) \(bar) \(Int(share * 100)) %", to: 2)
    }
  }

  static func endBar() { if isatty(2) == 1 { write("\r\u{1B}[K", to: 2) } }
}
