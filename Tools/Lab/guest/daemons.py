"""The shipped programs as processes: a daemon with what its clients hear of it, and an echo bot."""

import collections
import os
import signal
import subprocess

from control import Control
from loop import Failed, check, now, wait, when_readable
from gi.repository import GLib


class Program:
    """One running program, as an unprivileged user where the lab has one."""

    def __init__(self, world, name):
        self.world = world
        self.name = name
        self.log = os.path.join(world.logs, f"{world.label}-{name}.log")
        self.process = None

    def launch(self, command):
        if self.world.user:
            command = ["setpriv", f"--reuid={self.world.user}", f"--regid={self.world.group}", "--clear-groups",
                       "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", *command]
        # Nothing of whoever runs the lab: no home, no configuration.
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": self.world.folder}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        when_readable(os.pidfd_open(self.process.pid), lambda: False)

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def end(self, number=signal.SIGTERM, seconds=20):
        if self.is_running():
            self.process.send_signal(number)
            wait(lambda: not self.is_running(), seconds, f"the end of {self.name}")

    def tail(self, lines=25):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as log:
                return "".join(collections.deque(log, lines))
        except OSError:
            return ""


class Daemon(Program):
    def __init__(self, world, index):
        super().__init__(world, f"node{index}")
        self.index = index
        self.state = os.path.join(world.folder, self.name)
        self.socket = os.path.join(world.folder, f"{self.name}.sock")
        self.control = None
        self.forget()
        self.heard = collections.Counter()      # texts of others
        self.heard_at = {}
        self.messages = {}                      # the newest record of each text
        self.downs = []                         # (time, who, reason)
        self.said = 0

    def forget(self):
        self.links = []
        self.peers = set()
        self.is_asking = self.is_stale = False

    # Its life

    def start(self):
        self.launch([self.world.program("relaychatd"), "--state", self.state, "--socket", self.socket,
                     "--log-level", os.environ.get("RELAYCHAT_LAB_LOG_LEVEL", "info"), "--name", self.name,
                     "--transport", self.world.transport(self.index), *self.world.options])
        self.forget()
        self._attach()
        return self

    def _attach(self):
        """The socket is there as soon as the daemon listens; until then a connection is refused."""
        def is_there():
            check(self.is_running(), f"{self.name} ended by itself")
            try:
                self.control = Control(self.socket, self.world.user, self._event)
            except (FileNotFoundError, ConnectionRefusedError, PermissionError):
                return False
            return True

        tick = GLib.timeout_add(20, lambda: True)
        try:
            wait(is_there, 30, f"the control socket of {self.name}")
        finally:
            GLib.source_remove(tick)
        snapshot = self.control.call("events.subscribe", {"kinds": ["message", "peer", "link"]})
        self.links = snapshot["links"]
        self.peers.update(peer["name"] for peer in snapshot["peers"])

    def stop(self):
        self.end()
        if self.control:
            self.control.close()

    def kill(self):
        self.end(signal.SIGKILL)
        self.control.close()

    # What it tells

    def _event(self, event):
        kind = event["kind"]
        if kind == "message" and not event["isOwn"]:
            text = event["text"]
            self.heard[text] += 1
            self.heard_at.setdefault(text, now())
            self.messages[text] = event
        elif kind == "peer":
            self.peers.add(event["peer"]["name"])
            self._ask_for_links()               # whose link it is may be known only now
        elif kind == "link":
            if event["change"] == "down":
                self.downs.append((now(), (event["link"].get("peer") or {}).get("name"), event.get("reason")))
            self._ask_for_links()
        elif kind == "lagged":
            raise Failed(f"{self.name}: the lab read events too slowly")

    def _ask_for_links(self):
        """An event says that something changed, not always which link: the list is the truth."""
        self.is_stale = self.is_asking
        if not self.is_asking and not self.control.closed and self.is_running():
            self.is_asking = True
            try:
                self.control.call_later("links.list", self._take_links)
            except Failed:
                self.is_asking = False          # it ends; its last events are still read

    def _take_links(self, result):
        self.links = result["links"] if result else []
        self.is_asking = False
        if self.is_stale:
            self._ask_for_links()

    def neighbours(self):
        """Names of those to whom a link is ready, one for each link."""
        return sorted((link.get("peer") or {}).get("name", "") for link in self.links
                      if link["step"] == "ready")

    def is_linked(self, other):
        return other.name in self.neighbours()

    def count_receptions(self):
        """A list to which the size of every new packet from a link is added from now on."""
        sizes = []

        def take(event):
            if event["kind"] == "reception" and event["direction"] == "in" and event["verdict"] == "accepted":
                sizes.append(event["size"])

        self.counter = Control(self.socket, self.world.user, take)
        self.counter.call("events.subscribe", {"kinds": ["reception"]})
        return sizes

    def roles(self):
        return collections.Counter(link["role"] for link in self.links if link["step"] == "ready")

    # What it does

    def say(self, text=None, to="#public"):
        """Sends a text that nobody has sent before, and returns it."""
        if text is None:
            self.said += 1
            text = f"{self.name} says {self.said}"
        self.control.call("message.send", {"to": to, "text": text})
        return text

    def ping(self, other, seconds=30):
        answer = self.control.call("node.ping", {"peer": other.name, "timeoutMilliseconds": seconds * 1000}, seconds + 5)
        return answer["roundTripMilliseconds"], answer["hops"]


class Bot(Program):
    def __init__(self, world, daemon):
        super().__init__(world, f"bot{daemon.index}")
        self.daemon = daemon

    def start(self):
        self.launch([self.world.program("relaychat-bot"), "--socket", self.daemon.socket])
        return self

    def stop(self):
        self.end()
