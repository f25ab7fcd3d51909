"""The stretch of air that all controllers share: who hears whom, timers, and the commands that change it."""

import heapq
import itertools
import os
import select
import time

from air_constants import MANUFACTURER_DATA, TIMED_OUT


class Air:
    def __init__(self):
        self.controllers = []
        self.silent = {}            # frozenset of two numbers: None out of range, else dBm
        self.latency = 0.0
        self.shows_manufacturer = True
        self.connects = True
        self.timers = []
        self.order = itertools.count()
        self.poll = select.poll()
        self.watched = {}

    def after(self, delay, function, *arguments):
        heapq.heappush(self.timers, (time.monotonic() + delay, next(self.order), function, arguments))

    def watch(self, fd, function):
        self.watched[fd] = function
        self.poll.register(fd, select.POLLIN)

    def unwatch(self, fd):
        del self.watched[fd]
        self.poll.unregister(fd)

    def strength(self, a, b):
        return self.silent.get(frozenset((a.number, b.number)), -50)

    def heard(self, a, b):
        return a.fd is not None and b.fd is not None and self.strength(a, b) is not None

    def as_heard(self, data):
        """An advertisement without what its maker adds, where the air hides it (Supplement to the Core, Part A 1.4)."""
        if self.shows_manufacturer:
            return data
        kept, rest = b"", data
        while rest and rest[0]:
            field, rest = rest[:rest[0] + 1], rest[rest[0] + 1:]
            if len(field) < 2 or field[1] != MANUFACTURER_DATA:
                kept += field
        return kept

    def in_range(self, controller):
        return [c for c in self.controllers if c is not controller and self.heard(c, controller)]

    def links_between(self, a, b):
        return [end.link for end in list(a.links.values()) if end.peer.owner is b]

    def obey(self, line):
        verb, *words = line.split()
        if verb == "latency":
            self.latency = float(words[0])
        elif verb == "connects":
            self.connects = {"on": True, "off": False}[words[0]]
        elif verb == "manufacturer":
            self.shows_manufacturer = {"on": True, "off": False}[words[0]]
        elif verb in ("plug", "unplug"):
            getattr(self.controllers[int(words[0])], verb)()
        else:
            a, b = (self.controllers[int(word)] for word in words[:2])
            if verb == "drop":
                for link in self.links_between(a, b):
                    link.end(TIMED_OUT)
            elif verb == "range":
                pair = frozenset((a.number, b.number))
                if words[2] == "on":
                    self.silent.pop(pair, None)
                else:
                    self.silent[pair] = None if words[2] == "off" else int(words[2])
                for link in self.links_between(a, b):
                    link.check_range()
            else:
                raise ValueError(verb)

    def read_control(self, fd):
        for line in os.read(fd, 4096).decode().splitlines():
            if line.strip():
                try:
                    self.obey(line)
                    print("air:", line, flush=True)
                except (ValueError, IndexError, KeyError) as error:
                    print(f"air: cannot {line!r}: {error}", flush=True)

    def run(self):
        while True:
            now = time.monotonic()
            while self.timers and self.timers[0][0] <= now:
                _, _, function, arguments = heapq.heappop(self.timers)
                function(*arguments)
            wait = None
            if self.timers:
                wait = max(0, (self.timers[0][0] - time.monotonic()) * 1000)
            for fd, _ in self.poll.poll(wait):
                if fd in self.watched:
                    self.watched[fd]()


air = Air()
