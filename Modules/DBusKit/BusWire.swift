internal import CDBus
internal import Lifecycle
internal import Streams

/// A message of libdbus, released with its last holder.
@safe
final class PendingMessage: @unchecked Sendable {
  // Sendable is sound: it is written before anybody else has it, and libdbus counts its references atomically.
  let pointer: OpaquePointer

  init(_ message: DBusMessage) throws(DBusError) { unsafe pointer = try MessageWriter.make(message) }

  deinit { unsafe dbus_message_unref(pointer) }
}

/// The connection of libdbus. For one actor; nothing here waits but `open`.
@safe
final class BusWire: @unchecked Sendable {
  // Sendable is sound: after `open` one actor alone uses it.
  private let connection: OpaquePointer
  private var isClosed = false
  let uniqueName: String
  let machineID: String
  let descriptor: Int32

  /// Connects on a thread of its own, because libdbus waits for the answer of the bus.
  static func open(_ bus: DBusConnection.Bus) async throws(DBusError) -> BusWire {
    let answer = Channel<Result<BusWire, DBusError>>(capacity: 1)
    WorkerThread.start(name: "dbus-open") { answer.offer(connect(bus)) }
    guard let result = await answer.next() else { throw .cancelled }
    return try result.get()
  }

  private static func connect(_ bus: DBusConnection.Bus) -> Result<BusWire, DBusError> {
    dbus_threads_init_default()
    var error = unsafe CDBus.DBusError()
    unsafe dbus_error_init(&error)
    defer { unsafe dbus_error_free(&error) }
    let connection: OpaquePointer?
    switch bus {
    case .system: unsafe connection = dbus_bus_get_private(DBUS_BUS_SYSTEM, &error)
    case .address(let address):
      unsafe connection = dbus_connection_open_private(address, &error)
      if let connection = unsafe connection, unsafe dbus_bus_register(connection, &error) == 0 {
        unsafe dbus_connection_close(connection)
        unsafe dbus_connection_unref(connection)
        return .failure(.unreachable(reason: unsafe sentence(error)))
      }
    }
    guard let connection = unsafe connection else { return .failure(.unreachable(reason: unsafe sentence(error))) }
    // Otherwise libdbus ends the process when the bus goes.
    unsafe dbus_connection_set_exit_on_disconnect(connection, 0)
    return unsafe .success(BusWire(connection))
  }

  private static func sentence(_ error: CDBus.DBusError) -> String {
    unsafe error.message.map { unsafe String(cString: $0) } ?? "no reason was given"
  }

  private init(_ connection: OpaquePointer) {
    unsafe self.connection = connection
    uniqueName = unsafe dbus_bus_get_unique_name(connection).map { unsafe String(cString: $0) } ?? ""
    if let raw = unsafe dbus_get_local_machine_id() {
      machineID = unsafe String(cString: raw)
      unsafe dbus_free(raw)
    } else {
      machineID = ""
    }
    var number: Int32 = -1
    unsafe dbus_connection_get_unix_fd(connection, &number)
    descriptor = number
  }

  deinit {
    close()
    unsafe dbus_connection_unref(connection)
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    unsafe dbus_connection_close(connection)
  }

  var queuedBytes: Int { unsafe dbus_connection_get_outgoing_size(connection) }
  var hasMessagesToSend: Bool { unsafe dbus_connection_has_messages_to_send(connection) != 0 }

  /// - Returns: the serial it goes under.
  func send(_ message: PendingMessage) -> UInt32 {
    var serial: UInt32 = 0
    unsafe dbus_connection_send(connection, message.pointer, &serial)
    return serial
  }

  /// Writes what waits, for at most a tenth of a second: for the end only.
  func flush() {
    for _ in 0..<10 where hasMessagesToSend { unsafe dbus_connection_read_write(connection, 10) }
  }

  /// Reads and writes what can be without waiting. - Returns: false when the bus is gone.
  func readAndWrite() -> Bool { unsafe dbus_connection_read_write(connection, 0) != 0 }

  func pop() -> DBusMessage? {
    while let raw = unsafe dbus_connection_pop_message(connection) {
      defer { unsafe dbus_message_unref(raw) }
      if let message = unsafe MessageReader.read(raw) { return message }
    }
    return nil
  }
}
