"""What BlueZ itself can do, as the least that a script needs: the measure that the daemon is held against.

One adapter serves and advertises; the other one scans, connects, finds the service and the characteristic, subscribes
and writes. The steps, the filter and the UUIDs are the daemon's; there is no pause between them.
"""

import dbus

from loop import wait
from node import CHARACTERISTIC, DEVICE, Node, call


class Pair:
    """Two adapters as one process: `server` is found by `client`."""

    def __init__(self, server=1, client=0):
        self.server, self.client = Node(server), Node(client)
        self.address = self.server.address
        self.server.serve()
        self.client.serve()
        self.characteristic = None

    def link(self):
        """The six steps; returns when a value of the client's has reached the server, and one the other way round."""
        server, client = self.server, self.client
        server.advertise()
        device = client.device_path(self.address)
        client.scan()
        wait(lambda: device in client.devices, 60, "an advertisement")
        client.stop_scan()
        call(client.interface(device, DEVICE).Connect, seconds=60)
        wait(lambda: client.served_by(device), 60, "the peer's characteristic")
        self.characteristic = client.served_by(device)
        call(client.characteristic(self.characteristic).StartNotify)
        server.served.received.clear()
        client.write(self.characteristic, b"hello")
        wait(lambda: server.served.received, 30, "the first value")
        # And back over the same link, as the daemon answers.
        back = server.device_path(client.address)
        wait(lambda: server.served_by(back), 60, "the client's characteristic")
        client.served.received.clear()
        server.write(server.served_by(back), b"hello yourself")
        wait(lambda: client.served.received, 30, "the answer")

    def unlink(self):
        self.server.unadvertise()

    def close(self):
        for node in (self.client, self.server):
            node.bus.close()

    def flood(self, count, size, window):
        """Writes so many commands, no more than `window` of them unanswered; returns seconds and how many arrived."""
        received = self.server.served.received
        received.clear()
        method = self.client.characteristic(self.characteristic).WriteValue
        options = dbus.Dictionary({"type": "command"}, signature="sv")
        state = {"sent": 0, "answered": 0, "failed": 0}

        def more():
            while state["sent"] < count and state["sent"] - state["answered"] < window:
                number = state["sent"].to_bytes(4, "little")
                state["sent"] += 1
                method(dbus.ByteArray(number + bytes(size - 4)), options, reply_handler=answered,
                       error_handler=failed, timeout=120)

        def answered():
            state["answered"] += 1
            more()

        def failed(error):
            state["failed"] += 1
            answered()

        more()
        seconds = wait(lambda: len(received) + state["failed"] >= count, 180,
                       lambda: f"{count} values ({len(received)} came, {state['failed']} failed)")
        return seconds, len({bytes(value[:4]) for _, _, value in received})
