internal import CDBus

/// Takes a message of libdbus apart. libdbus has validated it: types, lengths, UTF-8, paths, depth.
enum MessageReader {
  /// The message of these bytes, as they go over the wire (D-Bus Specification, "Message Format"); nil for others.
  static func decode(_ bytes: [UInt8]) -> DBusMessage? {
    // libdbus counts in 32 bits.
    guard let count = Int32(exactly: bytes.count) else { return nil }
    let message = unsafe bytes.withUnsafeBytes { buffer in
      unsafe dbus_message_demarshal(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), count, nil)
    }
    guard let message = unsafe message else { return nil }
    defer { unsafe dbus_message_unref(message) }
    return unsafe read(message)
  }

  static func read(_ message: OpaquePointer) -> DBusMessage? {
    let kind: DBusMessage.Kind
    switch unsafe dbus_message_get_type(message) {
    case DBUS_MESSAGE_TYPE_METHOD_CALL: kind = .call
    case DBUS_MESSAGE_TYPE_METHOD_RETURN: kind = .reply
    case DBUS_MESSAGE_TYPE_ERROR: kind = .error
    case DBUS_MESSAGE_TYPE_SIGNAL: kind = .signal
    default: return nil
    }
    return unsafe DBusMessage(
      kind: kind, sender: text(dbus_message_get_sender(message)),
      destination: text(dbus_message_get_destination(message)),
      path: text(dbus_message_get_path(message)), interface: text(dbus_message_get_interface(message)),
      member: text(dbus_message_get_member(message)), errorName: text(dbus_message_get_error_name(message)),
      serial: dbus_message_get_serial(message), replySerial: dbus_message_get_reply_serial(message),
      isReplyExpected: kind == .call && dbus_message_get_no_reply(message) == 0, arguments: arguments(message))
  }

  private static func text(_ pointer: UnsafePointer<CChar>?) -> String? {
    unsafe pointer.map { unsafe String(cString: $0) }
  }

  private static func arguments(_ message: OpaquePointer) -> [DBusValue] {
    var iterator = unsafe DBusMessageIter()
    guard unsafe dbus_message_iter_init(message, &iterator) != 0 else { return [] }
    return unsafe values(&iterator, depth: 0)
  }

  private static func values(_ iterator: inout DBusMessageIter, depth: Int) -> [DBusValue] {
    var values: [DBusValue] = []
    while unsafe dbus_message_iter_get_arg_type(&iterator) != DBusType.invalid {
      guard let value = unsafe value(&iterator, depth: depth) else { break }
      values.append(value)
      unsafe dbus_message_iter_next(&iterator)
    }
    return values
  }

  private static func basic<Value>(_ iterator: inout DBusMessageIter, _ start: Value) -> Value {
    var value = start
    unsafe withUnsafeMutablePointer(to: &value) { unsafe dbus_message_iter_get_basic(&iterator, $0) }
    return value
  }

  private static func string(_ iterator: inout DBusMessageIter) -> String {
    var pointer: UnsafePointer<CChar>?
    unsafe withUnsafeMutablePointer(to: &pointer) { unsafe dbus_message_iter_get_basic(&iterator, $0) }
    return unsafe text(pointer) ?? ""
  }

  private static func value(_ iterator: inout DBusMessageIter, depth: Int) -> DBusValue? {
    guard depth <= DBusKitLimits.depth else { return nil }
    switch unsafe dbus_message_iter_get_arg_type(&iterator) {
    case DBusType.byte: return unsafe .byte(basic(&iterator, 0))
    case DBusType.boolean: return unsafe .boolean(basic(&iterator, dbus_bool_t(0)) != 0)
    case DBusType.int16: return unsafe .int16(basic(&iterator, 0))
    case DBusType.uint16: return unsafe .uint16(basic(&iterator, 0))
    case DBusType.int32: return unsafe .int32(basic(&iterator, 0))
    case DBusType.uint32: return unsafe .uint32(basic(&iterator, 0))
    case DBusType.int64: return unsafe .int64(basic(&iterator, 0))
    case DBusType.uint64: return unsafe .uint64(basic(&iterator, 0))
    case DBusType.double: return unsafe .double(basic(&iterator, 0))
    case DBusType.string: return unsafe .string(string(&iterator))
    case DBusType.objectPath: return unsafe .objectPath(string(&iterator))
    case DBusType.signature: return unsafe .signature(string(&iterator))
    // Every reading duplicates the descriptor, so it is read once and owned.
    case DBusType.descriptor: return unsafe .descriptor(DBusDescriptor(owning: basic(&iterator, Int32(-1))))
    case DBusType.variant:
      var inner = unsafe DBusMessageIter()
      unsafe dbus_message_iter_recurse(&iterator, &inner)
      return unsafe value(&inner, depth: depth + 1).map { .variant($0) }
    case DBusType.structure:
      var inner = unsafe DBusMessageIter()
      unsafe dbus_message_iter_recurse(&iterator, &inner)
      return unsafe .structure(values(&inner, depth: depth + 1))
    case DBusType.array: return unsafe array(&iterator, depth: depth)
    default: return nil
    }
  }

  private static func array(_ iterator: inout DBusMessageIter, depth: Int) -> DBusValue? {
    let element = unsafe dbus_message_iter_get_element_type(&iterator)
    var inner = unsafe DBusMessageIter()
    unsafe dbus_message_iter_recurse(&iterator, &inner)
    if element == DBusType.byte {
      var pointer: UnsafePointer<UInt8>?
      var count: Int32 = 0
      unsafe withUnsafeMutablePointer(to: &pointer) { unsafe dbus_message_iter_get_fixed_array(&inner, $0, &count) }
      return unsafe .bytes(Array(UnsafeBufferPointer(start: pointer, count: Int(count))))
    }
    guard let raw = unsafe dbus_message_iter_get_signature(&iterator) else { return nil }
    let signature = unsafe String(cString: raw)
    unsafe dbus_free(raw)
    guard element == DBusType.dictionaryEntry else {
      return unsafe .array(element: String(signature.dropFirst()), values(&inner, depth: depth + 1))
    }
    // `a{kv}`: the key is one basic type, the value what follows.
    let types = signature.dropFirst(2).dropLast()
    var entries: [DBusEntry] = []
    while unsafe dbus_message_iter_get_arg_type(&inner) == DBusType.dictionaryEntry {
      var entry = unsafe DBusMessageIter()
      unsafe dbus_message_iter_recurse(&inner, &entry)
      guard let key = unsafe value(&entry, depth: depth + 2), unsafe dbus_message_iter_next(&entry) != 0,
        let value = unsafe value(&entry, depth: depth + 2)
      else { return nil }
      entries.append(DBusEntry(key, value))
      unsafe dbus_message_iter_next(&inner)
    }
    return .dictionary(key: String(types.prefix(1)), value: String(types.dropFirst()), entries)
  }
}
