// swift-tools-version: 6.2
import PackageDescription

// The manifest lists every target once, row by row, lowest first. A target may depend on rows below its own;
// `Tools/lint/module-graph` holds that rule, this file only states the edges.

let house: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableExperimentalFeature("Lifetimes"),
]

/// `FUZZ=1` adds the fuzz targets and instruments every module for them; `FUZZ=coverage` builds the same targets to run
/// once over their corpora and count what they reach. `Tools/fuzz` sets it.
let fuzzMode = Context.environment["FUZZ"]
let instrumentation: [SwiftSetting] =
  switch fuzzMode {
  case nil: []
  case "coverage": [.unsafeFlags(["-profile-generate", "-profile-coverage-mapping"])]
  default: [.unsafeFlags(["-sanitize=fuzzer"])]
  }

func library(_ name: String, _ debianName: String, pkgConfig: String) -> Target {
  .systemLibrary(name: name, path: "Modules/\(name)", pkgConfig: pkgConfig, providers: [.apt([debianName])])
}

func module(_ name: String, _ dependencies: [String] = [], settings: [SwiftSetting] = []) -> Target {
  .target(
    name: name, dependencies: dependencies.map { .init(stringLiteral: $0) }, path: "Modules/\(name)",
    swiftSettings: house + instrumentation + settings)
}

func app(_ name: String, _ dependencies: [String], path: String? = nil, exclude: [String] = []) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies.map { .init(stringLiteral: $0) }, path: path ?? "Apps/\(name)",
    exclude: exclude, swiftSettings: house + instrumentation)
}

/// `vectors` are files that tests read from where they lie, so they are no part of the build.
func tests(_ name: String, _ dependencies: [String] = [], vectors: [String] = []) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: ([name, "TestKit"] + dependencies).map { .init(stringLiteral: $0) },
    path: "Tests/\(name)Tests", exclude: vectors, swiftSettings: house)
}

/// A decoder under fuzz: `Tools/Fuzz/<name>/<name>.swift` exports `Fuzz<name>_main`.
func fuzzer(_ name: String, _ dependencies: [String]) -> Target {
  .executableTarget(
    name: "Fuzz\(name)", dependencies: (["FuzzSupport"] + dependencies).map { .init(stringLiteral: $0) },
    path: "Tools/Fuzz/\(name)", swiftSettings: house + instrumentation + [.unsafeFlags(["-parse-as-library"])],
    linkerSettings: [.unsafeFlags([fuzzMode == "coverage" ? "-profile-generate" : "-sanitize=fuzzer"])])
}

let basics = ["Bytes", "Verifying", "Streams", "Lifecycle", "Telemetry", "Arguments"]
let pure = ["Primitives", "Compression", "WireFormat", "Noise", "Identities", "Routing"]
let actors = ["Advertising", "Scanning", "Links", "Relaying", "Sessions"]

let libraries: [Target] = [
  library("CCrypto", "libssl-dev", pkgConfig: "libcrypto"),
  library("CZlib", "zlib1g-dev", pkgConfig: "zlib"),
  library("CSQLite", "libsqlite3-dev", pkgConfig: "sqlite3"),
  library("CInih", "libinih-dev", pkgConfig: "inih"),
  library("CDBus", "libdbus-1-dev", pkgConfig: "dbus-1"),
  library("CBluetooth", "libbluetooth-dev", pkgConfig: "bluez"),
  library("CQrencode", "libqrencode-dev", pkgConfig: "libqrencode"),
  .target(name: "CAllocations", path: "Tools/CAllocations"),
  .target(name: "CNonces", path: "Tools/CNonces", cSettings: [.define("_GNU_SOURCE")]),
  .target(name: "CLinux", path: "Modules/CLinux", cSettings: [.define("_GNU_SOURCE")]),
]

let modules: [Target] = [
  module("Bytes"),
  module("Verifying", settings: [.define("SKIPPABLE_VERIFICATIONS", .when(configuration: .debug))]),
  module("Streams"),
  module("Lifecycle", ["CLinux"]),
  module("Telemetry", ["CLinux"]),
  module("Arguments", ["CInih"]),

  module("Primitives", ["Bytes", "Verifying", "CCrypto"]),
  module("Compression", ["Bytes", "Verifying", "CZlib"]),
  module("QRCodes", ["CQrencode"]),

  module("WireFormat", ["Bytes", "Verifying", "Primitives", "Compression"]),
  module("Noise", ["Bytes", "Verifying", "Primitives"]),
  module("Identities", ["Bytes", "Verifying", "Primitives"]),

  module("Routing", ["Bytes", "Verifying", "Streams", "WireFormat", "Identities"]),

  module("Transports", ["Bytes", "Streams"]),

  module("Advertising", ["Bytes", "Streams", "Telemetry", "Transports"]),
  module("Scanning", ["Bytes", "Streams", "Telemetry", "Transports"]),
  module(
    "Links",
    [
      "Bytes", "Verifying", "Streams", "Telemetry", "Transports", "WireFormat", "Identities", "Noise", "Primitives",
      "Routing",
    ]),
  module("Relaying", ["Bytes", "Streams", "Telemetry", "WireFormat", "Identities", "Routing"]),
  module(
    "Sessions",
    [
      "Bytes", "Verifying", "Streams", "Telemetry", "WireFormat", "Identities", "Noise", "Primitives", "Compression",
      "Routing",
    ]),

  module("MemoryTransport", ["Bytes", "Streams", "Transports"]),
  module("LocalTransport", ["Bytes", "Verifying", "Streams", "Lifecycle", "Arguments", "Transports", "CLinux"]),
  module("DBusKit", ["Streams", "Lifecycle", "CDBus", "CLinux"]),
  module("BlueZTransport", ["Streams", "Telemetry", "Transports", "DBusKit", "CBluetooth"]),
  module("Database", ["Bytes", "Verifying", "Lifecycle", "CSQLite"]),
  module("Keying", ["Bytes", "Verifying", "Lifecycle", "Primitives", "CLinux"]),

  module("Storing", ["Bytes", "Verifying", "Lifecycle", "Database", "Primitives"]),

  module(
    "Archive",
    ["Bytes", "Verifying", "Lifecycle", "Database", "Identities", "Primitives", "WireFormat", "Sessions"]),

  module("ControlAPI", ["Bytes"]),
  module("ControlServer", ["Bytes", "Verifying", "Streams", "Telemetry", "Lifecycle", "ControlAPI", "CLinux"]),
  module("ControlClient", ["Bytes", "Streams", "Lifecycle", "ControlAPI", "CLinux"]),
  module(
    "Programs",
    ["Arguments", "Lifecycle", "Streams", "ControlAPI", "ControlClient", "CLinux"]),
  module("Diagnosing", ["Streams", "DBusKit", "BlueZTransport", "ControlAPI", "ControlClient"]),
  module("BotKit", ["ControlAPI"]),
  module(
    "NodeRuntime",
    basics + pure + ["Transports"] + actors + [
      "Database", "Keying", "Storing", "Archive", "ControlAPI", "ControlServer", "CLinux",
    ]),
  module("TestKit", basics + pure + ["Transports"] + actors + ["MemoryTransport", "Keying", "CLinux"]),
]

let client = ["Arguments", "Lifecycle", "Streams", "ControlAPI", "ControlClient", "Programs"]

let apps: [Target] = [
  app("relaychatd", ["Arguments", "NodeRuntime", "Transports", "LocalTransport", "BlueZTransport"]),
  app("relaychat", client + ["QRCodes", "DBusKit", "Diagnosing"]),
  app("relaychat-bot", client + ["BotKit"]),
  app("relaychat-logger", client),
  app(
    "relaychat-bench",
    basics + pure + actors + [
      "Transports", "LocalTransport", "Database", "Storing", "Archive", "CLinux", "CCrypto", "CAllocations",
      "BenchTable",
    ],
    path: "Tools/Bench", exclude: ["flynn"]),
]

let doubles: [Target] = [
  .target(
    name: "FakeBlueZ", dependencies: ["DBusKit", "Lifecycle", "Streams"], path: "Tools/FakeBlueZ",
    exclude: ["README.md"],
    swiftSettings: house),
  .target(
    name: "OpenLinks", dependencies: ["Bytes", "Streams", "Identities", "Links"], path: "Tools/OpenLinks",
    swiftSettings: house),
  .target(
    name: "PowerCuts",
    dependencies: [
      "Bytes", "Streams", "Primitives", "Identities", "Sessions", "Database", "Archive", "TestKit", "CSQLite",
    ], path: "Tools/PowerCuts",
    swiftSettings: house),
  app(
    "relaychat-crash", ["Bytes", "Streams", "Primitives", "Database", "Storing", "TestKit", "PowerCuts"],
    path: "Tools/Crash",
    exclude: ["README.md", "kill"]),
  .target(
    name: "MeshSim", dependencies: ["Bytes", "Streams", "Primitives", "WireFormat", "Routing", "Links", "TestKit"],
    path: "Tools/MeshSim", exclude: ["README.md"], swiftSettings: house),
  .target(name: "BenchTable", path: "Tools/BenchTable", swiftSettings: house),
  app("mesh-sim", ["BenchTable", "MeshSim"], path: "Tools/MeshSimProgram"),
  app("open-links-daemon", ["NodeRuntime", "LocalTransport", "OpenLinks"], path: "Tools/OpenLinksDaemon"),
  app("fake-bluez", ["FakeBlueZ", "DBusKit", "Streams"], path: "Tools/FakeBlueZProgram"),
]

let suites: [Target] = [
  tests("Bytes"),
  tests("Streams"),
  tests("Lifecycle", ["CLinux"]),
  tests("Telemetry"),
  tests("Arguments"),
  tests("Primitives", ["Bytes"]),
  tests("Compression", ["Bytes"]),
  tests("QRCodes"),
  tests("WireFormat", ["Bytes", "Primitives", "Compression"]),
  tests("Noise", ["Bytes", "Primitives"]),
  tests("Identities", ["Bytes", "Primitives"]),
  tests("Routing", ["Bytes", "Streams", "WireFormat", "Identities"]),
  tests("Advertising", ["Streams", "Telemetry", "Transports", "MemoryTransport"]),
  tests("Scanning", ["Streams", "Transports", "MemoryTransport"]),
  tests(
    "Links",
    ["Bytes", "Streams", "Telemetry", "Transports", "MemoryTransport", "WireFormat", "Identities", "Primitives"]),
  tests("Relaying", ["Bytes", "Streams", "Telemetry", "WireFormat", "Identities", "Primitives", "Routing"]),
  tests("Sessions", ["Bytes", "Streams", "Telemetry", "WireFormat", "Identities", "Primitives"]),
  tests("MemoryTransport", ["Streams", "Transports"]),
  tests("LocalTransport", ["Streams", "Transports", "Telemetry"]),
  tests("DBusKit", ["Streams", "FakeBlueZ"]),
  tests("BlueZTransport", ["DBusKit", "Streams", "Transports", "FakeBlueZ"]),
  tests("Database"),
  tests("Keying", ["Bytes", "Primitives", "CLinux"]),
  tests("Storing", ["Bytes", "Database", "Primitives", "Streams"]),
  tests("PowerCuts", ["Database", "Storing", "Primitives"]),
  tests(
    "Archive", ["Database", "Lifecycle", "Storing", "Identities", "Primitives", "Sessions", "WireFormat", "Bytes"]),
  tests("ControlAPI"),
  tests("ControlServer", ["ControlAPI", "ControlClient", "Streams", "Telemetry", "Lifecycle", "CLinux"]),
  tests("Programs", ["Arguments", "ControlAPI", "ControlClient", "Lifecycle"]),
  tests("Diagnosing", ["ControlAPI"]),
  tests("BotKit", ["ControlAPI"]),
  tests("MeshSim", ["Routing", "Streams", "WireFormat"]),
  tests(
    "NodeRuntime",
    [
      "Transports", "MemoryTransport", "Streams", "ControlAPI", "Sessions", "Links", "Relaying", "Identities",
      "Arguments", "Primitives", "Telemetry", "Bytes", "WireFormat", "CNonces", "Storing", "Archive", "Lifecycle",
      "Noise", "OpenLinks", "Routing", "Keying",
    ]),
]

let fuzzers: [Target] = [
  .target(
    name: "FuzzDriver", path: "Tools/Fuzz/Driver",
    cSettings: fuzzMode == "coverage" ? [.define("FUZZ_REPLAY")] : []),
  .target(name: "FuzzSupport", dependencies: ["FuzzDriver"], path: "Tools/Fuzz/Support", swiftSettings: house),
  fuzzer("Card", ["Bytes", "Primitives", "Identities"]),
  fuzzer("Keys", ["Bytes", "Primitives", "Identities"]),
  fuzzer("KeySlots", ["Bytes", "Primitives", "Keying"]),
  fuzzer("Backup", ["Bytes", "Primitives", "Keying"]),
  fuzzer("Packet", ["Bytes", "WireFormat"]),
  fuzzer("LinkFrame", ["Bytes", "WireFormat"]),
  fuzzer("Reassembly", ["Bytes", "Primitives", "WireFormat"]),
  fuzzer("Inflate", ["Bytes", "Compression"]),
  fuzzer("NoiseHandshake", ["Bytes", "Primitives", "Noise"]),
  fuzzer("NoiseTransport", ["Bytes", "Primitives", "Noise"]),
  fuzzer("ReplayWindow", ["Noise"]),
  fuzzer("SeenGroup", ["Streams", "WireFormat", "Routing"]),
  fuzzer("Packing", ["Bytes", "Compression"]),
  fuzzer("PersonalSeal", ["Bytes", "Primitives", "Compression", "Noise", "Identities", "Sessions"]),
  fuzzer("Text", ["Bytes", "Identities", "WireFormat", "ControlAPI", "Programs"]),
  fuzzer("Control", ["ControlAPI", "ControlServer"]),
  fuzzer("INI", ["Arguments", "LocalTransport"]),
  fuzzer("LocalMessage", ["LocalTransport"]),
  fuzzer("BusMessage", ["DBusKit", "BlueZTransport"]),
  fuzzer("RadioValue", ["Streams", "BlueZTransport"]),
  fuzzer("Handshake", ["Streams", "Links"]),
  fuzzer("Content", ["Sessions"]),
]

let package = Package(
  name: "relaychat-linux",
  products: [
    .library(name: "NodeRuntime", targets: ["NodeRuntime"]),
    .library(name: "Transports", targets: ["Transports", "Streams"]),
    .library(name: "ControlClient", targets: ["ControlClient", "ControlAPI"]),
  ],
  targets: libraries + modules + apps + doubles + suites + (fuzzMode == nil ? [] : fuzzers)
)
