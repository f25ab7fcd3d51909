import BlueZTransport
import DBusKit
import FakeBlueZ
import Foundation
import Streams
import TestKit
import Transports

/// Nodes at the adapters of one `fake-bluez` process, on a bus of its own. Time runs twenty times as fast for them.
final class FakeHarness: TransportHarness, @unchecked Sendable {
  // Sendable is sound: the process is only written to under the lock.
  static let speed = 20.0
  let bus: PrivateBus
  private var process = Process()
  private var input = Pipe()
  private var output = Pipe()
  /// Whether the transports write over sockets. Set before the first is made.
  var usesSockets = true
  private let arguments: [String]
  private let lock = NSLock()
  private let numbers = Protected<[String: Int]>([:])
  private let links = LinkCounter()
  private let random = Protected(SeededGenerator(seed: 5))

  init?(adapters: Int = 10, options: [String] = [], bus: PrivateBus? = PrivateBus(.system)) {
    guard let bus else { return nil }
    self.bus = bus
    arguments = ["--bus", bus.address, "--adapters", "\(adapters)"] + options
    guard start() else { return nil }
  }

  private func start() -> Bool {
    (process, input, output) = (Process(), Pipe(), Pipe())
    process.executableURL = Self.program("fake-bluez")
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    do { try process.run() } catch { return false }
    return line() == "ready"
  }

  /// A program of this package, beside the tests.
  static func program(_ name: String) -> URL {
    let folder = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: folder).deletingLastPathComponent().appendingPathComponent(name)
  }

  /// Of the stand-in.
  var processNumber: Int32 { process.processIdentifier }

  /// Another bluetoothd on the same bus.
  func restart() -> Bool { lock.withLock { start() } }

  deinit {
    try? input.fileHandleForWriting.close()
    process.terminate()
    process.waitUntilExit()
  }

  private func line() -> String {
    var bytes = Data()
    while let byte = try? output.fileHandleForReading.read(upToCount: 1), let first = byte.first, first != 10 {
      bytes.append(first)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @discardableResult
  func control(_ command: String) -> String {
    lock.withLock {
      try? input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
      return line()
    }
  }

  /// bluetoothd ends in order: adapters go off, the name is given back.
  func stop() {
    control("stop")
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// bluetoothd dies: everything it knew is gone.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  func number(of name: String) -> Int {
    numbers.withLock { numbers in
      if let number = numbers[name] { return number }
      let number = numbers.count
      numbers[name] = number
      return number
    }
  }

  var context: TransportContext {
    TransportContext(
      time: .running(speed: Self.speed), random: { [self] in random.withLock { $0.next() } },
      nextLinkID: { [links] in links.next() }, nodeName: "node",
      note: { _ in })
  }

  func makeTransport(_ name: String) -> any Transport { radio(name) }

  func radio(_ name: String, mayPower: Bool = false, isNamed: Bool = true) -> BlueZRadio {
    var configuration = BlueZRadio.Configuration()
    configuration.bus = .address(bus.address)
    let number = number(of: name)
    if isNamed { configuration.adapter = "hci\(number)" }
    configuration.mayPower = mayPower
    configuration.usesSockets = usesSockets
    return BlueZRadio(configuration: configuration, context: context)
  }

  func address(of name: String) -> TransportAddress {
    TransportAddress("00:B1:1E:00:00:0\(number(of: name))")
  }

  var addressOfNobody: TransportAddress { TransportAddress("00:B1:1E:00:00:99") }

  func setFrameSize(_ byteCount: Int, between one: String, _ other: String) {
    control("mtu \(number(of: one)) \(number(of: other)) \(byteCount + 7)")
  }

  func setReach(_ one: String, _ other: String, _ isInReach: Bool) {
    control("range \(number(of: one)) \(number(of: other)) \(isInReach ? "on" : "off")")
  }

  func setPower(_ name: String, _ isOn: Bool) -> Bool {
    control("power \(number(of: name)) \(isOn ? "on" : "off")")
    return true
  }

  var canFill: Bool { true }
  var canHoldTwoLinks: Bool { false }

  func awaitDeparture(of name: String) async throws {
    let own = number(of: name)
    for other in numbers.withLock({ Array($0.values) }) where other != own {
      _ = await until(.seconds(60)) { control("linked \(own) \(other)") == "no" }
    }
  }

  func expire() async throws {
    let clock = ContinuousClock()
    try await clock.sleep(for: .seconds(20))
  }
}
