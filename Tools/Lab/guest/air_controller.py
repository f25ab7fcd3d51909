"""One virtual controller: its side of HCI, and its link layer."""

import itertools
import os
import struct

from air_answers import EXTENDED_ONLY, HANDLERS, Started
from air_constants import (
    COMMAND, ACL, EVENT, VENDOR, UNKNOWN_COMMAND, UNKNOWN_CONNECTION, TIMED_OUT, DISALLOWED, LEGACY_CONNECTABLE,
    LEGACY_DIRECT, LEGACY_SCANNABLE, LEGACY_DIRECT_SLOW, SCAN_RESPONSE, EXTENDED_TYPE,
)
from air_links import Advertiser, End, Link
from air_space import air


class Controller:
    def __init__(self, number, extended):
        self.number = number
        self.extended = extended
        self.public = bytes([number, 0, 0, 0x1E, 0xB1, 0x00])
        self.fd = None
        self.reset()

    def reset(self):
        for link in [end.link for end in getattr(self, "links", {}).values()]:
            link.end(TIMED_OUT)
        for advertiser in getattr(self, "sets", {}).values():
            advertiser.enable(False)
        self.random = bytes(6)
        self.sets = {} if self.extended else {0: Advertiser(self, 0)}
        self.scanning = False
        self.active = False
        self.filter_duplicates = False
        self.scan_accept_only = False
        self.seen = set()
        self.initiating = None      # (peer or None for the accept list, own type, parameters)
        self.accept = set()
        self.links = {}

    # Plugging in

    def plug(self):
        if self.fd is not None:
            return
        self.reset()
        self.fd = os.open("/dev/vhci", os.O_RDWR | os.O_NONBLOCK)
        os.write(self.fd, bytes([VENDOR, 0]))
        air.watch(self.fd, self.readable)

    def unplug(self):
        if self.fd is None:
            return
        air.unwatch(self.fd)
        os.close(self.fd)
        self.fd = None
        self.reset()

    def readable(self):
        while self.fd is not None:
            try:
                packet = os.read(self.fd, 2048)
            except BlockingIOError:
                return
            if packet[0] == COMMAND:
                self.command(struct.unpack_from("<H", packet, 1)[0], packet[4:])
            elif packet[0] == ACL:
                handle, _ = struct.unpack_from("<HH", packet, 1)
                end = self.links.get(handle & 0xFFF)
                if end:
                    air.after(air.latency, end.link.carry, end, handle & 0x3000, packet[5:])

    def send(self, kind, body):
        if self.fd is not None:
            os.write(self.fd, bytes([kind]) + body)

    def event(self, code, body):
        self.send(EVENT, bytes([code, len(body)]) + body)

    def meta(self, code, body):
        self.event(0x3E, bytes([code]) + body)

    # Commands

    def command(self, opcode, data):
        handler = HANDLERS.get(opcode)
        if handler is None or (opcode in EXTENDED_ONLY and not self.extended):
            self.complete(opcode, UNKNOWN_COMMAND)
            return
        answer = handler(self, data)
        if answer is None:
            answer = 0
        if isinstance(answer, Started):
            self.event(0x0F, struct.pack("<BBH", answer.status, 1, opcode))
            if answer.then:
                answer.then()
        elif isinstance(answer, int):
            self.complete(opcode, answer)
        else:
            self.complete(opcode, 0, answer)

    def complete(self, opcode, status, more=b""):
        self.event(0x0E, struct.pack("<BHB", 1, opcode, status) + more)

    # Hearing others

    def hear(self, advertiser):
        kind, address = advertiser.kind, advertiser.address
        if self.initiating and air.connects and self.wants(advertiser):
            self.connected_to(advertiser)
            return
        if not self.scanning:
            return
        if advertiser.direct and advertiser.direct[1] not in (self.public, self.random):
            return
        if self.scan_accept_only and address not in self.accept:
            return
        self.report(advertiser, kind, advertiser.data, False)
        if self.active and kind in (LEGACY_CONNECTABLE, LEGACY_SCANNABLE):
            self.report(advertiser, kind, advertiser.response, True)

    def report(self, advertiser, kind, data, response):
        mark = advertiser.address, response
        if self.filter_duplicates and mark in self.seen:
            return
        self.seen.add(mark)
        data = air.as_heard(data)
        address_type, address = advertiser.address
        strength = air.strength(self, advertiser.owner)
        if self.extended:
            properties = EXTENDED_TYPE[kind] | (0x08 if response else 0)
            self.meta(0x0D, struct.pack("<BHB6sBBBbbHB6sB", 1, properties, address_type, address,
                                        1, 0, 0xFF, 127, strength, 0, 0, bytes(6), len(data)) + data)
        else:
            self.meta(0x02, struct.pack("<BBB6sB", 1, SCAN_RESPONSE if response else kind,
                                        address_type, address, len(data)) + data +
                      struct.pack("<b", strength))

    # Connections

    def wants(self, advertiser):
        if advertiser.kind not in (LEGACY_CONNECTABLE, LEGACY_DIRECT, LEGACY_DIRECT_SLOW):
            return False
        peer, own_type, _ = self.initiating
        if peer and peer != advertiser.address:
            return False
        if not peer and advertiser.address not in self.accept:
            return False
        if any(end.peer.owner is advertiser.owner for end in self.links.values()):
            return False            # one link between two controllers, as the spec has it
        if advertiser.direct:
            return advertiser.direct[1] == (self.random if own_type & 1 else self.public)
        return True

    def connected_to(self, advertiser):
        _, own_type, parameters = self.initiating
        self.initiating = None
        other = advertiser.owner
        advertiser.enable(False)
        central, peripheral = self.new_end(0), other.new_end(1)
        Link(central, peripheral, *parameters)
        address_type, address = advertiser.address
        mine = (1, self.random) if own_type & 1 else (0, self.public)
        self.link_up(central, 0, address_type, address, parameters)
        other.link_up(peripheral, 1, *mine, parameters)
        if other.extended:
            other.set_ended(advertiser, 0, peripheral.handle)

    def new_end(self, role):
        handle = next(h for h in itertools.count(0x40) if h not in self.links)
        end = self.links[handle] = End(self, handle, role)
        return end

    def link_up(self, end, role, address_type, address, parameters, status=0):
        handle = end.handle if end else 0
        if self.extended:
            self.meta(0x0A, struct.pack("<BHBB6s6s6sHHHB", status, handle, role, address_type,
                                        address, bytes(6), bytes(6), *parameters, 0))
        else:
            self.meta(0x01, struct.pack("<BHBB6sHHHB", status, handle, role, address_type,
                                        address, *parameters, 0))

    def set_ended(self, advertiser, status, handle):
        if self.extended:
            self.meta(0x12, struct.pack("<BBHB", status, advertiser.handle, handle, 0))

    def initiate(self, peer, own_type, parameters):
        if self.initiating:
            return Started(DISALLOWED)
        self.initiating = peer, own_type, parameters
        return Started()

    def cancel_initiating(self):
        if not self.initiating:
            return DISALLOWED
        peer, _, parameters = self.initiating
        self.initiating = None
        kind, address = peer or (0, bytes(6))
        air.after(0, self.link_up, None, 0, kind, address, (0, 0, 0), UNKNOWN_CONNECTION)
        return 0

    def end_of(self, data):
        return self.links.get(struct.unpack_from("<H", data)[0] & 0xFFF)
