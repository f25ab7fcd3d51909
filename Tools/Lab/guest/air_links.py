"""What is on the air: advertisements, and the links that come of them."""

import struct

from air_constants import ACL, TIMED_OUT, LOCAL_ENDED, ADVERTISING_TIMEOUT, LEGACY_CONNECTABLE
from air_space import air


class Advertiser:
    """One advertising set: the only one of a plain controller, or one of several."""

    def __init__(self, owner, handle):
        self.owner = owner
        self.handle = handle
        self.enabled = False
        self.kind = LEGACY_CONNECTABLE
        self.interval = 1.28
        self.own_type = 0
        self.direct = None
        self.random = bytes(6)
        self.data = b""
        self.response = b""
        self.round = 0              # tells a stale timer from the current one

    @property
    def address(self):
        if self.own_type & 1:
            return 1, self.random if any(self.random) else self.owner.random
        return 0, self.owner.public

    def enable(self, on, events=0, duration=0.0):
        self.enabled = on
        self.round += 1
        if on:
            self.left = events
            air.after(0.002, self.beat, self.round)
            if duration:
                air.after(duration, self.expire, self.round)

    def beat(self, round):
        if round != self.round or not self.enabled:
            return
        for other in air.in_range(self.owner):
            if self.enabled:
                other.hear(self)
        air.after(self.interval, self.beat, round)

    def expire(self, round):
        if round == self.round and self.enabled:
            self.enable(False)
            self.owner.set_ended(self, ADVERTISING_TIMEOUT, 0)


class End:
    """One controller's end of a link."""

    def __init__(self, owner, handle, role):
        self.owner = owner
        self.handle = handle
        self.role = role
        self.peer = None
        self.key_request = None


class Link:
    def __init__(self, central, peripheral, interval, latency, timeout):
        self.parameters = interval, latency, timeout
        self.ends = central, peripheral
        central.peer, peripheral.peer = peripheral, central
        central.link = peripheral.link = self
        self.open = True
        self.pending = []           # packets sent while out of range

    def end(self, reason, by=None):
        if not self.open:
            return
        self.open = False
        for end in self.ends:
            mine = LOCAL_ENDED if end is by else reason
            end.owner.links.pop(end.handle, None)
            end.owner.event(0x05, struct.pack("<BHB", 0, end.handle, mine))

    def check_range(self):
        a, b = self.ends
        if self.open and not air.heard(a.owner, b.owner):
            air.after(self.parameters[2] * 0.01, self.supervise)
        elif self.open:
            self.flush()

    def supervise(self):
        a, b = self.ends
        if not air.heard(a.owner, b.owner):
            self.end(TIMED_OUT)

    def flush(self):
        waiting, self.pending = self.pending, []
        for end, flags, data in waiting:
            self.carry(end, flags, data)

    def carry(self, end, flags, data):
        """Take one packet from `end` to the other one, and give the credit back."""
        if not self.open:
            return
        if not air.heard(end.owner, end.peer.owner):
            self.pending.append((end, flags, data))
            return
        start = 0x1000 if flags & 0x3000 == 0x1000 else 0x2000
        end.peer.owner.send(ACL, struct.pack("<HH", end.peer.handle | start, len(data)) + data)
        end.owner.event(0x13, struct.pack("<BHH", 1, end.handle, 1))
