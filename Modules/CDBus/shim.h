#pragma once
#include <dbus/dbus.h>

// Swift cannot read macros that cast.
enum {
  cdbus_invalid = DBUS_TYPE_INVALID,
  cdbus_byte = DBUS_TYPE_BYTE,
  cdbus_boolean = DBUS_TYPE_BOOLEAN,
  cdbus_int16 = DBUS_TYPE_INT16,
  cdbus_uint16 = DBUS_TYPE_UINT16,
  cdbus_int32 = DBUS_TYPE_INT32,
  cdbus_uint32 = DBUS_TYPE_UINT32,
  cdbus_int64 = DBUS_TYPE_INT64,
  cdbus_uint64 = DBUS_TYPE_UINT64,
  cdbus_double = DBUS_TYPE_DOUBLE,
  cdbus_string = DBUS_TYPE_STRING,
  cdbus_object_path = DBUS_TYPE_OBJECT_PATH,
  cdbus_signature = DBUS_TYPE_SIGNATURE,
  cdbus_unix_fd = DBUS_TYPE_UNIX_FD,
  cdbus_array = DBUS_TYPE_ARRAY,
  cdbus_variant = DBUS_TYPE_VARIANT,
  cdbus_struct = DBUS_TYPE_STRUCT,
  cdbus_dict_entry = DBUS_TYPE_DICT_ENTRY,
};
