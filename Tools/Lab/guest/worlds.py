"""Where the nodes of a scenario live: in the guest over BlueZ, or on this machine over `local:`.

A world starts daemons, steers what lies between them, and takes everything down again.
"""

import os
import pwd
import shutil
import subprocess
import tempfile

from daemons import Bot, Daemon
from loop import check, wait


class World:
    """What both have."""

    user = group = None

    def __init__(self, label, options):
        self.label = label
        self.bin = options.bin
        self.template = options.transport_template
        self.options = options.daemon_options
        self.logs = options.logs
        self.nodes = []
        self.bots = []

    def program(self, name):
        return os.path.join(self.bin, name)

    def start(self, count):
        """Starts so many daemons more, and returns them."""
        fresh = [Daemon(self, len(self.nodes) + offset) for offset in range(count)]
        self.nodes += fresh
        for node in fresh:
            node.start()
        return fresh

    def start_bot(self, daemon):
        """A bot hears what comes after it has said that it listens."""
        bot = Bot(self, daemon).start()
        self.bots.append(bot)
        wait(lambda: "Echoing as" in bot.tail(), 20, f"the start of {bot.name}", every=0.1)
        return bot

    def chain(self, count):
        """Each hears the next one alone."""
        for a in range(count):
            for b in range(a + 2, count):
                self.range(a, b, False)

    def programs(self):
        return self.bots + self.nodes

    def close(self):
        for program in self.programs():
            program.stop()


class Guest(World):
    """Virtual controllers, real bluetoothd, daemons that are nobody in particular."""

    needs = {"bluez", "any"}

    def __init__(self, label, options, bluez):
        super().__init__(label, options)
        self.bluez = bluez
        record = pwd.getpwnam("nobody")
        self.user, self.group = record.pw_uid, record.pw_gid
        self.folder = os.path.join("/run/relaychat-lab", label)
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        os.chown(self.folder, self.user, self.group)
        # The programs, wherever they lie: their folder may be closed to the daemons' user.
        self.bin = "/run/relaychat-lab/bin"
        if not os.path.isdir(self.bin):
            os.makedirs(self.bin)
            subprocess.run(["mount", "--bind", options.bin, self.bin], check=True)

    def transport(self, index):
        return self.template.format(address=self.bluez.address(index), index=index)

    def air(self, line):
        with open("/run/air", "w", encoding="ascii") as control:
            control.write(line + "\n")

    def range(self, a, b, is_heard):
        self.air(f"range {a} {b} {'on' if is_heard else 'off'}")

    def drop(self, a, b):
        self.air(f"drop {a} {b}")

    def hide_hints(self):
        """Advertisements are heard without their hints: nobody knows who is to dial but by the addresses."""
        self.air("manufacturer off")

    def connect(self, is_possible):
        """Whether who dials meets anybody."""
        self.air(f"connects {'on' if is_possible else 'off'}")

    def close(self):
        super().close()
        self.air("manufacturer on")
        self.connect(True)
        count = self.bluez.count
        for a in range(count):
            self.air(f"plug {a}")
            for b in range(a + 1, count):
                self.range(a, b, True)


class Local(World):
    """Unix sockets: to try the scenarios themselves where there is no Bluetooth."""

    needs = {"any"}

    def __init__(self, label, options):
        super().__init__(label, options)
        self.folder = tempfile.mkdtemp(prefix="relaychat-lab.")
        self.broken = set()
        os.mkdir(os.path.join(self.folder, "air"))

    def transport(self, index):
        return self.template.format(folder=self.folder, index=index)

    def range(self, a, b, is_heard):
        pair = frozenset((a, b))
        self.broken = self.broken - {pair} if is_heard else self.broken | {pair}
        path = os.path.join(self.folder, "air", "air.ini")
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write("[air]\n")
            for one, other in map(sorted, self.broken):
                file.write(f"[air node{one} node{other}]\nbroken = yes\n")
        os.rename(path + ".new", path)

    def hide_hints(self):
        """Not here."""

    def connect(self, is_possible):
        """Not here."""

    def drop(self, a, b):
        one, other = self.nodes[a], self.nodes[b]
        before = len(one.downs)
        self.range(a, b, False)
        wait(lambda: len(one.downs) > before and not one.is_linked(other), 120, "the loss of a link")
        self.range(a, b, True)

    def close(self):
        super().close()
        shutil.rmtree(self.folder, ignore_errors=True)


def make(label, options, bluez):
    return Local(label, options) if bluez is None else Guest(label, options, bluez)


def assert_can_run(options):
    check(os.access(os.path.join(options.bin, "relaychatd"), os.X_OK), f"there is no relaychatd in {options.bin}")
