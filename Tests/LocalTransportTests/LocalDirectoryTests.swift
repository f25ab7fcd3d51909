import Glibc
import Streams
import TestKit
import Testing
import Transports

@testable import LocalTransport

@Suite struct LocalDirectoryTests {
  func options(_ values: [String: String]) -> TransportOptions { TransportOptions(scheme: "local", values: values) }

  func failure(_ values: [String: String]) -> TransportConfigurationError? {
    do throws(TransportConfigurationError) {
      _ = try LocalTransportFactory.factory.make(options(values), LocalHarness().context)
      return nil
    } catch {
      return error
    }
  }

  @Test func optionsThatCannotBeUsedAreNamed() throws {
    let directory = TemporaryDirectory()
    #expect(failure([:])?.option == "path")
    #expect(failure(["path": directory.path, "rnage": "3"])?.option == "rnage")
    #expect(failure(["path": directory.path, "name": "a/b"])?.option == "name")
    #expect(failure(["path": directory.path, "x": "1m"])?.option == "x")
    #expect(failure(["path": directory.path, "x": "nan"])?.option == "x")
    #expect(failure(["path": directory.path, "range": "-1"])?.option == "range")
    #expect(failure(["path": directory.path, "name": "ada", "x": "1", "range": "0"]) == nil)
  }

  @Test func aDirectoryThatCannotBeMadeIsNamedBeforeAnythingRuns() {
    let error = failure(["path": "/nonexistent/deep/air"])
    #expect(error?.option == "path")
    #expect(error?.reason.contains("mkdir") == true && error?.reason.contains("No such file") == true)
  }

  @Test func aPathThatIsTooLongIsNamedBeforeAnythingRuns() {
    let directory = TemporaryDirectory()
    // With "/ada.sock" the socket's path has 107 bytes, then 108.
    let fits = directory.path + "/" + String(repeating: "d", count: 107 - 9 - directory.path.utf8.count - 1)
    let error = failure(["path": fits + "d", "name": "ada"])
    #expect(error?.option == "path")
    #expect(error?.reason.contains("108 bytes") == true)
    #expect(failure(["path": fits, "name": "ada"]) == nil)
    unsafe rmdir(fits)
    unsafe rmdir(fits + "d")
  }

  @Test(.enabled(if: geteuid() == 0)) func theDirectoryOfSomebodyElseIsRefused() async {
    let harness = LocalHarness()
    unsafe chown(harness.directory.path, 1, 1)
    defer { unsafe chown(harness.directory.path, 0, 0) }
    let error = failure(["path": harness.directory.path, "name": "ada"])
    #expect(error?.option == "path")
    #expect(error?.reason.contains("belongs to another user") == true)
    // One that were not refused would run without end.
    guard error != nil else { return }
    let transport = harness.makeTransport("ada")
    await #expect(throws: TransportUnusableError.self) { try await transport.run() }
    #expect(transport.state.value == .unauthorized)
  }

  @Test func aNameThatIsTakenIsRefusedAndItsOwnerUndisturbed() async throws {
    let harness = LocalHarness()
    let nodes = try TransportContractProbe.nodes(harness, "ada")
    try await TransportContractProbe.running(harness, nodes) {
      let error = failure(["path": harness.directory.path, "name": "ada"])
      #expect(error?.option == "name")
      #expect(error?.reason.contains("another node is called ada") == true)
      let second = harness.makeTransport("ada")
      await #expect(throws: TransportUnusableError.self) { try await second.run() }
      #expect(harness.directory.has("ada.sock"))
      #expect(nodes[0].state.value == .poweredOn)
      #expect(failure(["path": harness.directory.path, "name": "bob"]) == nil)
    }
    #expect(!harness.directory.has("ada.sock") && !harness.directory.has("ada.beacon"))
  }

  @Test func aSocketThatADeadNodeLeftIsReplaced() async throws {
    let harness = LocalHarness()
    let dead = LocalDirectory(path: harness.directory.path, name: "ada")
    close(try dead.listen())
    #expect(harness.directory.has("ada.sock"))
    #expect(failure(["path": harness.directory.path, "name": "ada"]) == nil)
    let nodes = try TransportContractProbe.nodes(harness, "ada")
    try await TransportContractProbe.running(harness, nodes) { #expect(dead.isNameTaken) }
    #expect(!dead.isNameTaken)
  }

  @Test func aFileIsReplacedWhole() {
    let gone = LocalDirectory(path: TemporaryDirectory().path, name: "ada")
    let kept = TemporaryDirectory()
    let mine = LocalDirectory(path: kept.path, name: "ada")
    #expect(mine.read("ada.place") == .missing)
    #expect(mine.write("x = 1\n", to: "ada.place"))
    #expect(mine.read("ada.place") == .bytes(Array("x = 1\n".utf8)))
    kept.write(String(repeating: "x", count: LocalTransportLimits.fileBytes), to: "large")
    #expect(mine.read("large") == .bytes([UInt8](repeating: 0x78, count: LocalTransportLimits.fileBytes)))
    kept.write(String(repeating: "x", count: LocalTransportLimits.fileBytes + 1), to: "large")
    #expect(mine.read("large") == .unusable)
    kept.write("", to: "bob.beacon")
    kept.write("", to: "not valid.beacon")
    #expect(mine.names(ending: ".beacon") == ["bob"])
    #expect(!gone.write("x", to: "y"))
  }

  @Test func aBeaconIsTwelveDigits() {
    let advertisement = Advertisement(hint: 0xABC, digest: 0xF)
    #expect(LocalDirectory.text(advertisement) == "00000abc000f\n")
    #expect(LocalDirectory.advertisement(Array("00000abc000f\n".utf8)) == advertisement)
    for wrong in ["", "00000abc000", "00000abc000f0", "0000 abc000f", "00000abc00０f", "\u{ff}", "+0000abc+00f"] {
      #expect(LocalDirectory.advertisement(Array(wrong.utf8)) == nil, "\(wrong)")
    }
    #expect(LocalDirectory.advertisement([0xff, 0xfe]) == nil)
  }
}
