import FakeBlueZ
import Foundation
import Streams
import TestKit
import Testing
import Transports

extension ThroughBlueZ {
  /// `relaychat doctor` as it ships, at a bus with each fault that the stand-in for BlueZ knows.
  @Suite(.serialized) struct DoctorTests {
    struct Finding: Decodable, Equatable {
      var layer: String
      var state: String
      var fact: String
      var remedy: String?
    }

    struct Status: Decodable {
      var counters: [String: [String: UInt64]]
    }

    struct Answer {
      var code: Int32
      var findings: [Finding]
      var text: String
      /// Layer and state of all that is not in order.
      var troubles: [String] { findings.filter { $0.state != "ok" }.map { "\($0.layer) \($0.state)" } }
    }

    /// A machine's `/sys`, for the time of one test.
    final class Machine: Sendable {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("relaychat-doctor-\(UUID())").path

      init(controllers: [String] = ["hci0"], soft: Int = 0, hard: Int = 0) throws {
        for name in controllers { try make("sys/class/bluetooth/\(name)/address", "") }
        try make("sys/class/rfkill/rfkill0/type", "bluetooth\n")
        try make("sys/class/rfkill/rfkill0/name", "hci0\n")
        try make("sys/class/rfkill/rfkill0/soft", "\(soft)\n")
        try make("sys/class/rfkill/rfkill0/hard", "\(hard)\n")
        // Of another radio, which is nobody's business here.
        try make("sys/class/rfkill/rfkill1/type", "wlan\n")
        try make("sys/class/rfkill/rfkill1/hard", "1\n")
      }

      func make(_ path: String, _ text: String) throws {
        let url = URL(fileURLWithPath: folder).appendingPathComponent(path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
      }

      deinit { try? FileManager.default.removeItem(atPath: folder) }
    }

    static func run(_ arguments: [String]) throws -> (code: Int32, output: String, error: String) {
      let process = Process()
      let (output, error) = (Pipe(), Pipe())
      process.executableURL = FakeHarness.program("relaychat")
      process.arguments = arguments
      (process.standardOutput, process.standardError) = (output, error)
      try process.run()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      let complaint = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      return (process.terminationStatus, text, complaint)
    }

    /// Asks twice, for programs and for people, and holds what is promised of every answer.
    private func ask(
      _ bus: String, _ machine: Machine, socket: String = "/nowhere/control.sock", _ more: [String] = []
    ) throws -> Answer {
      let arguments = ["doctor", "--bus", bus, "--root", machine.folder, "--socket", socket] + more
      let json = try Self.run(arguments + ["--json"])
      let findings = try json.output.split(separator: "\n").map {
        try JSONDecoder().decode(Finding.self, from: Data($0.utf8))
      }
      let text = try Self.run(arguments)
      #expect(text.code == json.code)
      for finding in findings {
        #expect(finding.state == "ok" || finding.remedy != nil, "\(finding)")
        #expect(text.output.contains(finding.fact), "\(finding)")
        if let remedy = finding.remedy { #expect(text.output.contains("→ \(remedy)")) }
      }
      #expect(json.error.split(separator: "\n").count == (json.code == 0 ? 0 : 1), "\(json.error)")
      return Answer(code: json.code, findings: findings, text: text.output)
    }

    @Test func allIsWellButThatNoDaemonRuns() throws {
      let harness = try #require(FakeHarness(adapters: 1))
      let answer = try ask(harness.bus.address, Machine())
      #expect(answer.troubles == ["daemon fault"] && answer.code == 4)
    }

    @Test func machineWithoutABus() throws {
      let answer = try ask("unix:path=/nowhere/bus", Machine())
      #expect(answer.troubles.first == "bus fault" && answer.code == 1)
      #expect(!answer.findings.contains { $0.layer == "bluetoothd" })
    }

    @Test(arguments: [false, true]) func bluetoothdIsAbsent(isInstalled: Bool) throws {
      let bus = try #require(PrivateBus(isActivatable: isInstalled))
      let answer = try ask(bus.address, Machine())
      let finding = try #require(answer.findings.first { $0.layer == "bluetoothd" })
      #expect(finding.state == "fault" && answer.code == 1)
      #expect(finding.remedy?.contains("apt install bluez") == !isInstalled)
    }

    @Test func policyDoesNotLetThisUser() throws {
      let harness = try #require(FakeHarness(adapters: 1, bus: PrivateBus(isDenying: true)))
      let answer = try ask(harness.bus.address, Machine())
      #expect(answer.troubles.first == "policy fault" && answer.code == 1)
      #expect(answer.findings.first { $0.layer == "policy" }?.remedy?.contains("bluetooth") == true)
    }

    @Test func nodeThatThePolicyKeepsOutSaysSo() async throws {
      let harness = try #require(FakeHarness(adapters: 1, bus: PrivateBus(isDenying: true)))
      let ada = harness.makeTransport("ada")
      await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await ada.run() }
        for await state in ada.state where state == .unauthorized { break }
        group.cancelAll()
      }
    }

    @Test func nobodyHasPluggedAnAdapterIn() throws {
      let harness = try #require(FakeHarness(adapters: 1))
      harness.control("unplug 0")
      let machine = try Machine(controllers: [])
      try machine.make("sys/class/bluetooth/.keep", "")
      let answer = try ask(harness.bus.address, machine)
      #expect(answer.troubles == ["kernel fault", "adapter fault", "daemon fault"] && answer.code == 1)
    }

    @Test func kernelWithoutBluetoothIsSaid() throws {
      let harness = try #require(FakeHarness(adapters: 1))
      harness.control("unplug 0")
      let answer = try ask(harness.bus.address, Machine(controllers: []))
      #expect(answer.findings.first?.fact.contains("/sys/class/bluetooth") == true)
    }

    @Test func anotherAdapterIsMeant() throws {
      let harness = try #require(FakeHarness(adapters: 2))
      let answer = try ask(harness.bus.address, Machine(), ["--adapter", "00:11:22:33:44:55"])
      #expect(answer.troubles.first == "adapter fault")
      let other = try ask(harness.bus.address, Machine(), ["--adapter", "hci1"])
      #expect(other.troubles == ["daemon fault"])
    }

    @Test(arguments: [(soft: 1, hard: 0, word: "rfkill unblock"), (soft: 0, hard: 1, word: "switch or key")])
    func switchKeepsTheRadioOff(soft: Int, hard: Int, word: String) throws {
      let harness = try #require(FakeHarness(adapters: 1))
      harness.control("block 0 on")
      let answer = try ask(harness.bus.address, Machine(soft: soft, hard: hard))
      #expect(answer.troubles == ["rfkill fault", "power fault", "daemon fault"])
      #expect(answer.findings.first { $0.layer == "rfkill" }?.remedy?.contains(word) == true)
    }

    @Test func adapterThatIsOffStaysOff() throws {
      let harness = try #require(FakeHarness(adapters: 1))
      harness.control("power 0 off")
      for _ in 0..<2 {
        #expect(try ask(harness.bus.address, Machine()).troubles == ["power fault", "daemon fault"])
      }
    }

    @Test(arguments: [
      ("ability 0 classic", "low-energy"), ("ability 0 central", "low-energy"), ("ability 0 silent", "advertising"),
      ("occupy 0 5", "advertising"),
    ])
    func controllerCannotDoIt(command: String, layer: String) throws {
      let harness = try #require(FakeHarness(adapters: 1))
      #expect(harness.control(command) == "ok")
      #expect(try ask(harness.bus.address, Machine()).troubles == ["\(layer) fault", "daemon fault"])
    }

    @Test func nameOfBlueZIsTaken() throws {
      let harness = try #require(FakeHarness(adapters: 1))
      let machine = try Machine()
      try machine.make("proc/\(harness.processNumber)/comm", "something\n")
      #expect(try ask(harness.bus.address, machine).troubles == ["name warning", "daemon fault"])
      try machine.make("proc/\(harness.processNumber)/comm", "bluetoothd\n")
      #expect(try ask(harness.bus.address, machine).troubles == ["daemon fault"])
    }

    /// Runs a daemon at the first adapter.
    private func withDaemon(
      _ harness: FakeHarness, _ machine: Machine, _ body: (_ socket: String) async throws -> Void
    ) async throws {
      let socket = "\(machine.folder)/control.sock"
      let daemon = Process()
      daemon.executableURL = FakeHarness.program("relaychatd")
      daemon.arguments = [
        "--state", "\(machine.folder)/state", "--socket", socket, "--name", "ada", "--transport",
        "bluez:adapter=hci0,bus=\(harness.bus.address.replacing(",", with: ";"))",
      ]
      daemon.standardError = FileHandle.nullDevice
      try daemon.run()
      defer {
        daemon.terminate()
        daemon.waitUntilExit()
      }
      try await body(socket)
    }

    /// Asks until the troubles are these, at most for a while, and then once more in full.
    private func until(
      _ troubles: [String], _ harness: FakeHarness, _ machine: Machine, _ socket: String
    ) throws -> Answer {
      let clock = ContinuousClock()
      let start = clock.now
      let arguments = ["doctor", "--bus", harness.bus.address, "--root", machine.folder, "--socket", socket, "--json"]
      while start.duration(to: clock.now) < .seconds(60) {
        let findings = try Self.run(arguments).output.split(separator: "\n").map {
          try JSONDecoder().decode(Finding.self, from: Data($0.utf8))
        }
        let found = Answer(code: 0, findings: findings, text: "")
        if found.troubles == troubles, findings.contains(where: { $0.layer == "transport" }) { break }
      }
      return try ask(harness.bus.address, machine, socket: socket)
    }

    @Test func daemonThatWorksIsWell() async throws {
      let harness = try #require(FakeHarness(adapters: 1))
      let machine = try Machine()
      try await withDaemon(harness, machine) { socket in
        let answer = try until([], harness, machine, socket)
        #expect(answer.troubles == [] && answer.code == 0)
        let status = try Self.run(["status", "--socket", socket, "--json"])
        let counters = try JSONDecoder().decode(Status.self, from: Data(status.output.utf8)).counters["bluez"]
        #expect(counters?["ownerChanges"] == 1 && counters?["garbage"] == 0)
        harness.control("power 0 off")
        let off = ["power fault", "transport fault"]
        let answerOff = try until(off, harness, machine, socket)
        #expect(answerOff.troubles == off)
        // The daemon has our service there; to whoever asks for another daemon that one is a stranger.
        let other = try ask(harness.bus.address, machine)
        #expect(other.troubles == ["power fault", "name warning", "daemon fault"])
      }
    }

    @Test func advertisementThatIsRefusedIsSaid() async throws {
      let harness = try #require(FakeHarness(adapters: 1))
      harness.control("fault advertisement-refused 1000")
      let machine = try Machine()
      try await withDaemon(harness, machine) { socket in
        let answer = try until(["advertising fault"], harness, machine, socket)
        #expect(answer.troubles == ["advertising fault"])
      }
    }

    @Test func kernelThatDoesNotDialIsSaid() async throws {
      let harness = try #require(FakeHarness(adapters: 3))
      _ = harness.number(of: "ada")
      let (bob, eve) = (harness.makeTransport("bob"), harness.makeTransport("eve"))
      harness.control("fault abort 1000")
      let machine = try Machine()
      try await TransportContractProbe.running(harness, [bob, eve]) {
        // The largest hint waits longest to dial, and nobody of these dials at all.
        try await bob.advertise(Advertisement(hint: .max, digest: 1))
        try await eve.advertise(Advertisement(hint: .max - 1, digest: 1))
        try await withDaemon(harness, machine) { socket in
          let answer = try until(["dialling fault"], harness, machine, socket)
          #expect(answer.troubles == ["dialling fault"])
        }
      }
    }

    @Test func itOnlyReads() throws {
      let harness = try #require(FakeHarness(adapters: 2))
      let before = harness.control("inventory")
      _ = try ask(harness.bus.address, Machine())
      #expect(harness.control("inventory") == before)
      #expect(harness.control("calls") == "none")
    }
  }
}
