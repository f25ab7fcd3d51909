"""A client of a daemon's control socket: JSON-RPC 2.0, one object a line."""

import json
import os
import socket

from loop import Failed, wait, when_readable


class Refused(Failed):
    """The daemon answered with an error."""

    def __init__(self, method, error):
        super().__init__(f"{method}: {error.get('message')} ({error.get('code')})")
        self.code = error.get("code")


class Control:
    def __init__(self, path, user=None, on_event=None):
        self.answers = {}
        self.awaited = {}
        self.next = 1
        self.closed = False
        self.on_event = on_event or (lambda event: None)
        self.rest = b""
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._connect(path, user)
        when_readable(self.socket.fileno(), self._read)
        self.hello = self.call("node.hello", {"apiVersion": 1, "client": "lab"})

    def _connect(self, path, user):
        """The daemon serves its own user alone, and the kernel tells it who connects."""
        try:
            if user:
                os.seteuid(user)
            self.socket.connect(path)
        finally:
            if user:
                os.seteuid(0)

    def close(self):
        if not self.closed:
            self.closed = True
            self.socket.shutdown(socket.SHUT_RDWR)

    def _read(self):
        try:
            data = b"" if self.closed else self.socket.recv(1 << 16)
        except ConnectionError:
            data = b""
        if not data:
            self.closed = True
            self.socket.close()
            return False
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self._take(json.loads(line))
        return True

    def _take(self, value):
        if value.get("method") == "event":
            self.on_event(value["params"])
        elif value.get("id") in self.awaited:
            self.awaited.pop(value["id"])(value.get("result"))
        else:
            self.answers[value.get("id")] = value

    def send(self, method, parameters=None):
        """Sends a request and returns its number."""
        number, self.next = self.next, self.next + 1
        request = {"jsonrpc": "2.0", "id": number, "method": method}
        if parameters is not None:
            request["params"] = parameters
        try:
            self.socket.sendall(json.dumps(request).encode() + b"\n")
        except OSError as error:
            raise Failed(f"{method}: the daemon is gone ({error})") from error
        return number

    def result(self, number, method, seconds=30):
        wait(lambda: number in self.answers or self.closed, seconds, f"the answer to {method}")
        if number not in self.answers:
            raise Failed(f"{method}: the daemon hung up")
        answer = self.answers.pop(number)
        if "error" in answer:
            raise Refused(method, answer["error"])
        return answer["result"]

    def call_later(self, method, action):
        """Calls action(result) when the answer comes; None for an error."""
        self.awaited[self.send(method)] = action

    def call(self, method, parameters=None, seconds=30):
        return self.result(self.send(method, parameters), method, seconds)
