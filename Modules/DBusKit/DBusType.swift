internal import CDBus

/// The codes of types, as libdbus takes them: the ASCII letters of the specification.
enum DBusType {
  static let invalid = Int32(cdbus_invalid)
  static let byte = Int32(cdbus_byte)
  static let boolean = Int32(cdbus_boolean)
  static let int16 = Int32(cdbus_int16)
  static let uint16 = Int32(cdbus_uint16)
  static let int32 = Int32(cdbus_int32)
  static let uint32 = Int32(cdbus_uint32)
  static let int64 = Int32(cdbus_int64)
  static let uint64 = Int32(cdbus_uint64)
  static let double = Int32(cdbus_double)
  static let string = Int32(cdbus_string)
  static let objectPath = Int32(cdbus_object_path)
  static let signature = Int32(cdbus_signature)
  static let descriptor = Int32(cdbus_unix_fd)
  static let array = Int32(cdbus_array)
  static let variant = Int32(cdbus_variant)
  static let structure = Int32(cdbus_struct)
  static let dictionaryEntry = Int32(cdbus_dict_entry)
}
