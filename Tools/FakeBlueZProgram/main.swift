import DBusKit
import FakeBlueZ
import Foundation
import Streams

// A stand-in for bluetoothd: `fake-bluez [--bus ADDRESS] [--adapters N] [--extended]`. Reads one command a line from
// standard input and answers each with one line; ends with its input.

func option(_ name: String) -> String? {
  guard let index = CommandLine.arguments.firstIndex(of: name), index + 1 < CommandLine.arguments.count else {
    return nil
  }
  return CommandLine.arguments[index + 1]
}

func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

if CommandLine.arguments.contains("--help") {
  say(
    "usage: fake-bluez [--bus ADDRESS] [--adapters N] [--extended] [--mtu BYTES] [--generation shared|perDevice|exact]")
  exit(0)
}
// Without a bus that is there already it brings one of its own, with the rules of a system bus.
let ownBus = option("--bus") == nil ? PrivateBus(.system) : nil
guard let address = option("--bus") ?? ownBus?.address else {
  FileHandle.standardError.write(Data("fake-bluez: dbus-daemon cannot be started; Tools/setup installs it\n".utf8))
  exit(1)
}
if ownBus != nil { say("bus \(address)") }
let fake = FakeBlueZ(
  bus: .address(address), adapters: option("--adapters").flatMap(Int.init) ?? 2,
  isExtended: CommandLine.arguments.contains("--extended"), mtu: option("--mtu").flatMap(Int.init) ?? 517,
  generation: option("--generation").flatMap(FakeBlueZ.Generation.init) ?? .shared, time: .running())

await withThrowingTaskGroup(of: Void.self) { group in
  group.addTask { try await fake.run() }
  for await isRunning in fake.isRunning where isRunning { break }
  say("ready")
  let lines = AsyncStream<String> { continuation in
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
  }
  for await line in lines { say(await fake.control(line)) }
  group.cancelAll()
}
withExtendedLifetime(ownBus) {}
