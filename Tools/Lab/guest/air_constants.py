"""Numbers of the Bluetooth Core specification: packet types, status codes, advertising types."""

COMMAND, ACL, EVENT, VENDOR = 0x01, 0x02, 0x04, 0xFF

UNKNOWN_COMMAND, UNKNOWN_CONNECTION = 0x01, 0x02
KEY_MISSING, TIMED_OUT, DISALLOWED = 0x06, 0x08, 0x0C
REMOTE_ENDED, LOCAL_ENDED, UNKNOWN_ADVERTISER, ADVERTISING_TIMEOUT = 0x13, 0x16, 0x42, 0x3C

LEGACY_CONNECTABLE, LEGACY_DIRECT, LEGACY_SCANNABLE, LEGACY_NONCONNECTABLE, LEGACY_DIRECT_SLOW = range(5)
SCAN_RESPONSE = 4
MANUFACTURER_DATA = 0xFF    # type of a field of an advertisement (Assigned Numbers 2.3)

# Extended reports name legacy advertisements by their properties.
EXTENDED_TYPE = {0: 0x13, 1: 0x15, 2: 0x12, 3: 0x10, 4: 0x15}
LEGACY_TYPE = {0x13: 0, 0x15: 1, 0x1D: 1, 0x12: 2, 0x10: 3}

AIR_BUFFER, AIR_BUFFERS = 251, 8
MAX_SETS = 4

# (octet, bits) of HCI_Read_Local_Supported_Commands
BASIC_COMMANDS = [
    (0, 0x20), (2, 0x80), (5, 0xC0), (10, 0x04), (14, 0x28), (15, 0x22),
    (25, 0xF7), (26, 0xFF), (27, 0xB7), (28, 0x0F),
]
EXTENDED_COMMANDS = [(36, 0x7E), (37, 0xE0 | 0x07)]
