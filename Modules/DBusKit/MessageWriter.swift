internal import CDBus

/// Makes messages of libdbus. Whatever libdbus would abort on (a bad path, a bad name, text with a zero byte) is refused
/// here first.
enum MessageWriter {
  /// A new message, owned by the caller.
  static func make(_ message: DBusMessage) throws(DBusError) -> OpaquePointer {
    try check(message)
    let made: OpaquePointer?
    switch message.kind {
    case .call:
      unsafe made = dbus_message_new_method_call(message.destination, message.path, message.interface, message.member)
    case .signal: unsafe made = dbus_message_new_signal(message.path, message.interface, message.member)
    case .reply: unsafe made = dbus_message_new(DBUS_MESSAGE_TYPE_METHOD_RETURN)
    case .error: unsafe made = dbus_message_new(DBUS_MESSAGE_TYPE_ERROR)
    }
    guard let made = unsafe made else { throw .malformed("out of memory") }
    do throws(DBusError) {
      unsafe try fill(made, message)
    } catch {
      unsafe dbus_message_unref(made)
      throw error
    }
    return unsafe made
  }

  /// The bytes of a message on the wire, with this serial, which is not 0.
  static func encode(_ message: DBusMessage, serial: UInt32) throws(DBusError) -> [UInt8] {
    let made = unsafe try make(message)
    defer { unsafe dbus_message_unref(made) }
    unsafe dbus_message_set_serial(made, serial)
    var start: UnsafeMutablePointer<CChar>?
    var count: Int32 = 0
    guard unsafe dbus_message_marshal(made, &start, &count) != 0 else { throw .malformed("out of memory") }
    defer { unsafe dbus_free(start) }
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(count)))
  }

  private static func fill(_ made: OpaquePointer, _ message: DBusMessage) throws(DBusError) {
    unsafe dbus_message_set_auto_start(made, 0)
    unsafe dbus_message_set_no_reply(made, message.kind == .call && message.isReplyExpected ? 0 : 1)
    if let destination = message.destination { unsafe dbus_message_set_destination(made, destination) }
    if message.replySerial != 0 { unsafe dbus_message_set_reply_serial(made, message.replySerial) }
    if let name = message.errorName { unsafe dbus_message_set_error_name(made, name) }
    var iterator = unsafe DBusMessageIter()
    unsafe dbus_message_iter_init_append(made, &iterator)
    for value in message.arguments { unsafe try append(value, to: &iterator, depth: 0) }
  }

  private static func check(_ message: DBusMessage) throws(DBusError) {
    let isAddressed =
      switch message.kind {
      case .call: message.path != nil && message.member != nil
      case .signal: message.path != nil && message.member != nil && message.interface != nil
      case .reply: message.replySerial != 0
      case .error: message.replySerial != 0 && message.errorName != nil
      }
    guard isAddressed else { throw .malformed("a field that its kind needs is missing") }
    unsafe try check(message.path, "path", dbus_validate_path)
    unsafe try check(message.interface, "interface", dbus_validate_interface)
    unsafe try check(message.member, "member", dbus_validate_member)
    unsafe try check(message.destination, "destination", dbus_validate_bus_name)
    unsafe try check(message.errorName, "error name", dbus_validate_error_name)
  }

  private static func check(
    _ text: String?, _ field: String,
    _ isValid: (UnsafePointer<CChar>?, UnsafeMutablePointer<CDBus.DBusError>?) -> UInt32
  ) throws(DBusError) {
    guard let text else { return }
    guard !text.utf8.contains(0), unsafe isValid(text, nil) != 0 else { throw .malformed("\(field): \(text)") }
  }

  private static func appendBasic<Value>(
    _ type: Int32, _ value: Value, to iterator: inout DBusMessageIter
  ) throws(DBusError) {
    let isAppended = unsafe withUnsafePointer(to: value) {
      unsafe dbus_message_iter_append_basic(&iterator, type, $0)
    }
    guard isAppended != 0 else { throw .malformed("out of memory") }
  }

  private static func appendText(
    _ type: Int32, _ text: String, to iterator: inout DBusMessageIter
  ) throws(DBusError) {
    guard !text.utf8.contains(0) else { throw .malformed("text with a zero byte") }
    let isAppended = unsafe text.withCString { pointer in
      var pointer: UnsafePointer<CChar>? = unsafe pointer
      return unsafe withUnsafePointer(to: &pointer) {
        unsafe dbus_message_iter_append_basic(&iterator, type, $0)
      }
    }
    guard isAppended != 0 else { throw .malformed("out of memory") }
  }

  private static func append(
    _ value: DBusValue, to iterator: inout DBusMessageIter, depth: Int
  ) throws(DBusError) {
    guard depth < DBusKitLimits.depth / 2 else { throw .malformed("containers too deep") }
    switch value {
    case .byte(let value): unsafe try appendBasic(DBusType.byte, value, to: &iterator)
    case .boolean(let value): unsafe try appendBasic(DBusType.boolean, dbus_bool_t(value ? 1 : 0), to: &iterator)
    case .int16(let value): unsafe try appendBasic(DBusType.int16, value, to: &iterator)
    case .uint16(let value): unsafe try appendBasic(DBusType.uint16, value, to: &iterator)
    case .int32(let value): unsafe try appendBasic(DBusType.int32, value, to: &iterator)
    case .uint32(let value): unsafe try appendBasic(DBusType.uint32, value, to: &iterator)
    case .int64(let value): unsafe try appendBasic(DBusType.int64, value, to: &iterator)
    case .uint64(let value): unsafe try appendBasic(DBusType.uint64, value, to: &iterator)
    case .double(let value): unsafe try appendBasic(DBusType.double, value, to: &iterator)
    case .descriptor(let value): unsafe try appendBasic(DBusType.descriptor, value.number, to: &iterator)
    case .string(let text): unsafe try appendText(DBusType.string, text, to: &iterator)
    case .objectPath(let text):
      unsafe try check(text, "path", dbus_validate_path)
      unsafe try appendText(DBusType.objectPath, text, to: &iterator)
    case .signature(let text):
      guard unsafe dbus_signature_validate(text, nil) != 0 else { throw .malformed("signature: \(text)") }
      unsafe try appendText(DBusType.signature, text, to: &iterator)
    case .bytes(let bytes): unsafe try appendBytes(bytes, to: &iterator)
    case .array(let element, let values):
      guard unsafe dbus_signature_validate_single(element, nil) != 0 else {
        throw .malformed("signature: \(element)")
      }
      guard values.allSatisfy({ $0.typeSignature == element }) else { throw .malformed("elements of different types") }
      unsafe try container(DBusType.array, element, to: &iterator) { inner throws(DBusError) in
        for value in values { unsafe try append(value, to: &inner, depth: depth + 1) }
      }
    case .dictionary(let key, let value, let entries):
      guard unsafe dbus_signature_validate_single("a{\(key)\(value)}", nil) != 0 else {
        throw .malformed("signature: {\(key)\(value)}")
      }
      guard entries.allSatisfy({ $0.key.typeSignature == key && $0.value.typeSignature == value }) else {
        throw .malformed("entries of different types")
      }
      unsafe try container(DBusType.array, "{\(key)\(value)}", to: &iterator) { inner throws(DBusError) in
        for entry in entries {
          unsafe try container(DBusType.dictionaryEntry, nil, to: &inner) { pair throws(DBusError) in
            unsafe try append(entry.key, to: &pair, depth: depth + 2)
            unsafe try append(entry.value, to: &pair, depth: depth + 2)
          }
        }
      }
    case .structure(let fields):
      guard !fields.isEmpty else { throw .malformed("a structure without fields") }
      unsafe try container(DBusType.structure, nil, to: &iterator) { inner throws(DBusError) in
        for field in fields { unsafe try append(field, to: &inner, depth: depth + 1) }
      }
    case .variant(let value):
      let signature = value.typeSignature
      guard unsafe dbus_signature_validate_single(signature, nil) != 0 else {
        throw .malformed("signature: \(signature)")
      }
      unsafe try container(DBusType.variant, signature, to: &iterator) { inner throws(DBusError) in
        unsafe try append(value, to: &inner, depth: depth + 1)
      }
    }
  }

  private static func appendBytes(_ bytes: [UInt8], to iterator: inout DBusMessageIter) throws(DBusError) {
    unsafe try container(DBusType.array, "y", to: &iterator) { inner throws(DBusError) in
      let isAppended = unsafe bytes.withUnsafeBufferPointer { buffer in
        var pointer = buffer.baseAddress
        guard unsafe pointer != nil else { return dbus_bool_t(1) }
        return unsafe withUnsafePointer(to: &pointer) {
          unsafe dbus_message_iter_append_fixed_array(&inner, DBusType.byte, $0, Int32(clamping: buffer.count))
        }
      }
      guard isAppended != 0 else { throw .malformed("out of memory") }
    }
  }

  private static func container(
    _ type: Int32, _ signature: String?, to iterator: inout DBusMessageIter,
    _ body: (inout DBusMessageIter) throws(DBusError) -> Void
  ) throws(DBusError) {
    var inner = unsafe DBusMessageIter()
    guard unsafe dbus_message_iter_open_container(&iterator, type, signature, &inner) != 0 else {
      throw .malformed("out of memory")
    }
    do throws(DBusError) { unsafe try body(&inner) } catch {
      unsafe dbus_message_iter_abandon_container(&iterator, &inner)
      throw error
    }
    guard unsafe dbus_message_iter_close_container(&iterator, &inner) != 0 else { throw .malformed("out of memory") }
  }
}
