"""The HCI commands that a controller understands. Opcodes and layouts: Bluetooth Core, volume 4, part E."""

import os
import struct

from air_answers import Started, accepts_silently, handles
from air_constants import (
    UNKNOWN_CONNECTION, KEY_MISSING, DISALLOWED, UNKNOWN_ADVERTISER, LEGACY_CONNECTABLE, LEGACY_DIRECT,
    LEGACY_SCANNABLE, LEGACY_NONCONNECTABLE, LEGACY_DIRECT_SLOW, LEGACY_TYPE, AIR_BUFFER, AIR_BUFFERS, MAX_SETS,
    BASIC_COMMANDS, EXTENDED_COMMANDS,
)
from air_links import Advertiser
from air_space import air


accepts_silently(0x0C01, 0x0C63, 0x2001, 0x2014, 0x0C31, 0x0C33, 0x0C35)


@handles(0x0C03)
def reset(c, data):
    c.reset()


@handles(0x1001)
def read_version(c, data):
    version = 0x09 if c.extended else 0x08
    return struct.pack("<BHBHH", version, 0, version, 0xFFFF, 0)


@handles(0x1002)
def read_commands(c, data):
    bits = bytearray(64)
    for octet, value in BASIC_COMMANDS + (EXTENDED_COMMANDS if c.extended else []):
        bits[octet] |= value
    return bytes(bits)


@handles(0x1003)
def read_features(c, data):
    return bytes([0, 0, 0, 0, 0x60, 0, 0, 0])       # LE, no BR/EDR


@handles(0x1009)
def read_address(c, data):
    return c.public


@handles(0x2002)
def read_buffers(c, data):
    return struct.pack("<HB", AIR_BUFFER, AIR_BUFFERS)


def le_features(c):
    return bytes([0x09, 0x10 if c.extended else 0, 0, 0, 0, 0, 0, 0])


@handles(0x2003)
def le_read_features(c, data):
    return le_features(c)


@handles(0x2005)
def set_random_address(c, data):
    c.random = data[:6]
    if not c.extended:
        c.sets[0].random = c.random


@handles(0x2007)
def read_advertising_power(c, data):
    return bytes([0])


@handles(0x201C)
def read_states(c, data):
    return bytes([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x03, 0, 0])


@handles(0x2018)
def random_number(c, data):
    return os.urandom(8)


# Advertising, one set

@handles(0x2006)
def advertising_parameters(c, data):
    if c.sets[0].enabled:
        return DISALLOWED
    a = c.sets[0]
    shortest, longest, a.kind, a.own_type, peer_type, peer = struct.unpack_from("<HHBBB6s", data)
    a.interval = longest * 0.000625
    a.direct = (peer_type, peer) if a.kind in (LEGACY_DIRECT, LEGACY_DIRECT_SLOW) else None


@handles(0x2008)
def advertising_data(c, data):
    c.sets[0].data = data[1:1 + data[0]]


@handles(0x2009)
def scan_response_data(c, data):
    c.sets[0].response = data[1:1 + data[0]]


@handles(0x200A)
def advertising_enable(c, data):
    if data[0] and c.sets[0].enabled:
        return 0
    c.sets[0].enable(bool(data[0]))


# Advertising sets

@handles(0x2036, extended=True)
def set_parameters(c, data):
    handle, properties = struct.unpack_from("<BH", data)
    a = c.sets.get(handle)
    if a is None:
        if len(c.sets) >= MAX_SETS:
            return 0x07
        a = c.sets[handle] = Advertiser(c, handle)
    if a.enabled:
        return DISALLOWED
    a.kind = LEGACY_TYPE.get(properties)
    if a.kind is None:              # extended advertising PDUs: carried as their nearest legacy kin
        a.kind = LEGACY_CONNECTABLE if properties & 1 else LEGACY_SCANNABLE if properties & 2 else LEGACY_NONCONNECTABLE
    a.interval = int.from_bytes(data[6:9], "little") * 0.000625
    a.own_type, peer_type = data[10], data[11]
    a.direct = (peer_type, data[12:18]) if properties & 0x04 else None
    return bytes([0])


@handles(0x2035, extended=True)
def set_random(c, data):
    a = c.sets.get(data[0])
    if a is None:
        return UNKNOWN_ADVERTISER
    a.random = data[1:7]


@handles(0x2037, extended=True)
def set_data(c, data):
    a = c.sets.get(data[0])
    if a is None:
        return UNKNOWN_ADVERTISER
    a.data = data[4:4 + data[3]]


@handles(0x2038, extended=True)
def set_response(c, data):
    a = c.sets.get(data[0])
    if a is None:
        return UNKNOWN_ADVERTISER
    a.response = data[4:4 + data[3]]


@handles(0x2039, extended=True)
def sets_enable(c, data):
    on, count = data[0], data[1]
    if not count and not on:
        for a in c.sets.values():
            a.enable(False)
        return 0
    for i in range(count):
        handle, duration, events = struct.unpack_from("<BHB", data, 2 + 4 * i)
        a = c.sets.get(handle)
        if a is None:
            return UNKNOWN_ADVERTISER
        a.enable(bool(on), events, duration * 0.01)


@handles(0x203A, extended=True)
def longest_data(c, data):
    return struct.pack("<H", 251)


@handles(0x203B, extended=True)
def count_sets(c, data):
    return bytes([MAX_SETS])


@handles(0x203C, extended=True)
def remove_set(c, data):
    a = c.sets.get(data[0])
    if a is None:
        return UNKNOWN_ADVERTISER
    if a.enabled:
        return DISALLOWED
    del c.sets[data[0]]


@handles(0x203D, extended=True)
def clear_sets(c, data):
    if any(a.enabled for a in c.sets.values()):
        return DISALLOWED
    c.sets.clear()


# Scanning

@handles(0x200B)
def scan_parameters(c, data):
    if c.scanning:
        return DISALLOWED
    c.active = data[0] == 1
    c.scan_accept_only = data[6] & 1 == 1


@handles(0x200C)
def scan_enable(c, data):
    c.scanning = bool(data[0])
    c.filter_duplicates = bool(data[1])
    c.seen.clear()


@handles(0x2041, extended=True)
def set_scan_parameters(c, data):
    if c.scanning:
        return DISALLOWED
    c.scan_accept_only = data[1] & 1 == 1
    c.active = data[3] == 1


@handles(0x2042, extended=True)
def set_scan_enable(c, data):
    return scan_enable(c, data)


# Whom to listen to

@handles(0x200F)
def accept_size(c, data):
    return bytes([32])


@handles(0x2010)
def accept_clear(c, data):
    c.accept.clear()


@handles(0x2011)
def accept_add(c, data):
    c.accept.add((data[0], data[1:7]))


@handles(0x2012)
def accept_remove(c, data):
    c.accept.discard((data[0], data[1:7]))


# Connecting

@handles(0x200D)
def create_connection(c, data):
    (_, _, policy, peer_type, peer, own_type, _, interval, latency, timeout, _, _) = \
        struct.unpack_from("<HHBB6sBHHHHHH", data)
    return c.initiate(None if policy else (peer_type, peer), own_type, (interval, latency, timeout))


@handles(0x2043, extended=True)
def create_connection_extended(c, data):
    policy, own_type, peer_type, peer, phys = struct.unpack_from("<BBB6sB", data)
    _, _, _, interval, latency, timeout, _, _ = struct.unpack_from("<HHHHHHHH", data, 10)
    return c.initiate(None if policy else (peer_type, peer), own_type, (interval, latency, timeout))


@handles(0x200E)
def create_connection_cancel(c, data):
    return c.cancel_initiating()


@handles(0x0406)
def disconnect(c, data):
    end = c.end_of(data)
    if end is None:
        return Started(UNKNOWN_CONNECTION)
    return Started(0, lambda: end.link.end(data[2], by=end))


@handles(0x2013)
def update_connection(c, data):
    end = c.end_of(data)
    if end is None:
        return Started(UNKNOWN_CONNECTION)
    _, _, interval, latency, timeout = struct.unpack_from("<HHHHH", data)

    def done():
        end.link.parameters = interval, latency, timeout
        for each in end.link.ends:
            each.owner.meta(0x03, struct.pack("<BHHHH", 0, each.handle, interval, latency, timeout))
    return Started(0, done)


@handles(0x2016)
def read_remote_features(c, data):
    end = c.end_of(data)
    if end is None:
        return Started(UNKNOWN_CONNECTION)
    return Started(0, lambda: c.meta(0x04, struct.pack("<BH", 0, end.handle) + le_features(end.peer.owner)))


@handles(0x041D)
def read_remote_version(c, data):
    end = c.end_of(data)
    if end is None:
        return Started(UNKNOWN_CONNECTION)
    return Started(0, lambda: c.event(0x0C, struct.pack("<BHBHH", 0, end.handle, 8, 0xFFFF, 0)))


@handles(0x1405)
def read_strength(c, data):
    end = c.end_of(data)
    if end is None:
        return UNKNOWN_CONNECTION
    return struct.pack("<Hb", end.handle, air.strength(c, end.peer.owner))


@handles(0x0C2D)
def read_power(c, data):
    return data[:2] + bytes([0])


# Encryption: the keys are compared, the bytes on the air stay as they are

@handles(0x2019)
def start_encryption(c, data):
    end = c.end_of(data)
    if end is None:
        return Started(UNKNOWN_CONNECTION)
    end.key_request = data[12:28]
    return Started(0, lambda: end.peer.owner.meta(0x05, struct.pack("<H", end.peer.handle) + data[2:12]))


def settle_encryption(end, key):
    right = key is not None and end.peer.key_request == key
    status = 0 if right else KEY_MISSING
    for each in (end, end.peer):
        each.owner.event(0x08, struct.pack("<BHB", status, each.handle, 1 if right else 0))


@handles(0x201A)
def key_reply(c, data):
    end = c.end_of(data)
    if end is None:
        return UNKNOWN_CONNECTION
    air.after(0, settle_encryption, end, data[2:18])
    return data[:2]


@handles(0x201B)
def key_refused(c, data):
    end = c.end_of(data)
    if end is None:
        return UNKNOWN_CONNECTION
    air.after(0, settle_encryption, end, None)
    return data[:2]
