internal import BlueZTransport
package import DBusKit
package import Streams

/// Asks the bus and BlueZ. Reads only: no adapter is switched on, nothing is discovered, registered or paired.
package struct BusExamination: Sendable {
  private let files: KernelFiles
  private let time: TimeSource

  package init(files: KernelFiles, time: TimeSource) {
    self.files = files
    self.time = time
  }

  package func facts(_ address: DBusConnection.Bus) async -> DiagnosisFacts.Bus {
    let bus: DBusConnection
    do throws(DBusError) { bus = try await DBusConnection.open(address, time: time) } catch {
      return .absent(reason: error.sentence)
    }
    return await withTaskGroup(of: DiagnosisFacts.Bus?.self) { group in
      group.addTask {
        await bus.run()
        return nil
      }
      group.addTask { await self.ask(bus) }
      while let facts = await group.next() {
        guard let facts else { continue }
        group.cancelAll()
        return facts
      }
      return .absent(reason: "the bus is gone")
    }
  }

  private func ask(_ bus: DBusConnection) async -> DiagnosisFacts.Bus {
    guard let name = await driver(bus, "GetNameOwner")?.asString else {
      let reply = try? await call(bus, .call(Self.driver, Self.driverPath, Self.driver, "ListActivatableNames"))
      let names = reply?.arguments.first?.asStrings ?? []
      return .withoutBlueZ(isInstalled: names.contains(BlueZNames.service))
    }
    let owner = DiagnosisFacts.Owner(
      process: await driver(bus, "GetConnectionUnixProcessID")?.asInt.flatMap { files.process($0) },
      user: await driver(bus, "GetConnectionUnixUser")?.asInt.flatMap { UInt32(exactly: $0) })
    do throws(DBusError) {
      let reply = try await call(bus, .call(name, "/", BlueZNames.objectManager, "GetManagedObjects"))
      var mirror = ObjectMirror()
      mirror.setOwner(name)
      if let objects = reply.arguments.first { _ = mirror.take(snapshot: objects, order: reply.order) }
      return .answers(owner, mirror.paths(with: BlueZNames.adapter).map { Self.adapter($0, mirror) })
    } catch {
      return error.isDenial ? .denied(owner) : .silent(owner, reason: error.sentence)
    }
  }

  private static let driver = "org.freedesktop.DBus"
  private static let driverPath = "/org/freedesktop/DBus"

  private func call(_ bus: DBusConnection, _ message: DBusMessage) async throws(DBusError) -> DBusReply {
    try await bus.call(message, timeout: DiagnosingLimits.answer)
  }

  /// A question to the bus itself about who owns the name.
  private func driver(_ bus: DBusConnection, _ member: String) async -> DBusValue? {
    let question = DBusMessage.call(Self.driver, Self.driverPath, Self.driver, member, [.string(BlueZNames.service)])
    return (try? await call(bus, question))?.arguments.first
  }

  private static func adapter(_ path: String, _ mirror: ObjectMirror) -> DiagnosisFacts.Adapter {
    func value(_ name: String) -> DBusValue? { mirror.value(path, BlueZNames.adapter, name) }
    func number(_ name: String) -> Int? { mirror.value(path, BlueZNames.advertisingManager, name)?.asInt }
    return DiagnosisFacts.Adapter(
      name: path.split(separator: "/").last.map(String.init) ?? path, address: value("Address")?.asString ?? "",
      isPowered: mirror.isPowered(path), roles: value("Roles")?.asStrings,
      hasServices: mirror.properties(path, BlueZNames.gattManager) != nil,
      hasAdvertising: mirror.properties(path, BlueZNames.advertisingManager) != nil,
      advertisements: number("ActiveInstances"), freeAdvertisements: number("SupportedInstances"),
      hasOurService: value("UUIDs")?.asStrings?.contains(BlueZNames.serviceUUID) == true,
      maker: value("Manufacturer")?.asInt.flatMap { UInt16(exactly: $0) }.map {
        CompanyIdentifier(rawValue: $0).description
      })
  }
}
