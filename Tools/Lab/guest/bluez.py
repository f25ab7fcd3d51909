"""bluetoothd and its adapters, from the side of whoever owns the machine: start, stop, power, and no pairing."""

import os
import shutil
import signal
import subprocess

import dbus
import dbus.mainloop.glib
import dbus.service

from loop import check, wait, when_readable
from monitor import Monitor

dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)

BLUEZ = "org.bluez"
ADAPTER = "org.bluez.Adapter1"
AGENT = "org.bluez.Agent1"
PROPERTIES = "org.freedesktop.DBus.Properties"
OBJECTS = "org.freedesktop.DBus.ObjectManager"


class Agent(dbus.service.Object):
    """Hears every request to pair, and refuses it."""

    path = "/relaychat/lab/agent"

    def __init__(self, bus):
        super().__init__(bus, self.path)
        self.requests = []

    def refuse(self, what):
        self.requests.append(what)
        raise dbus.exceptions.DBusException("the lab does not pair", name="org.bluez.Error.Rejected")

    @dbus.service.method(AGENT, in_signature="o", out_signature="s")
    def RequestPinCode(self, device):
        self.refuse(f"RequestPinCode {device}")

    @dbus.service.method(AGENT, in_signature="o", out_signature="u")
    def RequestPasskey(self, device):
        self.refuse(f"RequestPasskey {device}")

    @dbus.service.method(AGENT, in_signature="ouq")
    def DisplayPasskey(self, device, passkey, entered):
        self.requests.append(f"DisplayPasskey {device}")

    @dbus.service.method(AGENT, in_signature="os")
    def DisplayPinCode(self, device, code):
        self.requests.append(f"DisplayPinCode {device}")

    @dbus.service.method(AGENT, in_signature="ou")
    def RequestConfirmation(self, device, passkey):
        self.refuse(f"RequestConfirmation {device}")

    @dbus.service.method(AGENT, in_signature="o")
    def RequestAuthorization(self, device):
        self.refuse(f"RequestAuthorization {device}")

    @dbus.service.method(AGENT, in_signature="os")
    def AuthorizeService(self, device, service):
        self.refuse(f"AuthorizeService {device}")

    @dbus.service.method(AGENT)
    def Cancel(self):
        pass

    @dbus.service.method(AGENT)
    def Release(self):
        pass


class BlueZ:
    def __init__(self, count, logs):
        self.count = count
        self.logs = logs
        self.bus = dbus.SystemBus(private=True)
        self.bus.set_exit_on_disconnect(False)
        self.process = None
        self.owner = ""
        self.agent = Agent(self.bus)
        self.monitor = Monitor()
        self.powered = {}                       # of adapters that are there, by path
        self.bus.add_signal_receiver(self._changed, "PropertiesChanged", PROPERTIES, BLUEZ, path_keyword="path",
                                     arg0=ADAPTER)
        self.bus.add_signal_receiver(self._added, "InterfacesAdded", OBJECTS, BLUEZ)
        self.bus.add_signal_receiver(self._removed, "InterfacesRemoved", OBJECTS, BLUEZ)
        self.bus.watch_name_owner(BLUEZ, self._owner_changed)

    @staticmethod
    def address(index):
        return f"00:B1:1E:00:00:{index:02X}"

    @staticmethod
    def adapter_path(index):
        return f"/org/bluez/hci{index}"

    def _owner_changed(self, owner):
        self.owner = str(owner)
        self.powered.clear()
        if owner:
            self.interface("/", OBJECTS).GetManagedObjects(
                reply_handler=lambda objects: [self._added(*item) for item in objects.items()],
                error_handler=lambda error: None)
            manager = self.interface("/org/bluez", "org.bluez.AgentManager1")
            ignore = lambda *values: None
            manager.RegisterAgent(self.agent.path, "KeyboardDisplay", reply_handler=lambda: manager.RequestDefaultAgent(
                self.agent.path, reply_handler=ignore, error_handler=ignore), error_handler=ignore)

    def _changed(self, interface, changed, invalidated, path):
        if "Powered" in changed:
            self.powered[str(path)] = bool(changed["Powered"])

    def _added(self, path, interfaces):
        if ADAPTER in interfaces:
            self.powered[str(path)] = bool(interfaces[ADAPTER]["Powered"])

    def _removed(self, path, interfaces):
        if ADAPTER in interfaces:
            self.powered.pop(str(path), None)

    def interface(self, path, name):
        return dbus.Interface(self.bus.get_object(BLUEZ, path, introspect=False), name)

    def call(self, method, *arguments, seconds=60):
        """A call that lets the loop go on meanwhile."""
        box = []
        method(*arguments, reply_handler=lambda *values: box.append((values, None)),
               error_handler=lambda error: box.append((None, error)), timeout=seconds)
        wait(lambda: box, seconds + 5, "an answer of bluetoothd")
        values, error = box[0]
        if error:
            raise error
        return values[0] if values else None

    # bluetoothd itself

    def stop(self, number=signal.SIGTERM):
        if self.process is None:
            with open("/run/bluetoothd.pid", encoding="ascii") as file:
                os.kill(int(file.read()), number)
        else:
            self.process.send_signal(number)
            wait(lambda: self.process.poll() is not None, 30, "the end of bluetoothd")
        wait(lambda: not self.owner, 30, "bluetoothd leaving the bus")

    def start(self):
        with open(os.path.join(self.logs, "bluetoothd.log"), "ab") as log:
            options = os.environ.get("RELAYCHAT_LAB_DAEMON", "").split()
            self.process = subprocess.Popen(["bluetoothd", "-n", *options], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log)
        when_readable(os.pidfd_open(self.process.pid), lambda: False)
        wait(lambda: self.owner, 30, "bluetoothd on the bus")

    def renew(self):
        """As after a boot: nothing remembered, every adapter powered."""
        if not self.obituary():
            wait(lambda: self.owner, 30, "bluetoothd on the bus")
            self.stop()
        for entry in os.listdir("/var/lib/bluetooth"):
            shutil.rmtree(os.path.join("/var/lib/bluetooth", entry), ignore_errors=True)
        self.start()
        for index in range(self.count):
            wait(lambda: self.adapter_path(index) in self.powered, 30, f"hci{index}")
            self.power(index, True)
        self.monitor.clear()
        self.agent.requests.clear()

    # Adapters

    def has_power(self, index):
        """None while there is no such adapter."""
        return self.powered.get(self.adapter_path(index))

    def power(self, index, is_on):
        """Returns when it is so. Newer versions of bluetoothd switch adapters on by themselves, and are Busy then."""
        if self.has_power(index) != is_on:
            try:
                self.call(self.interface(self.adapter_path(index), PROPERTIES).Set, ADAPTER, "Powered",
                          dbus.Boolean(is_on, variant_level=1))
            except dbus.exceptions.DBusException as error:
                if error.get_dbus_name() != "org.bluez.Error.Busy":
                    raise
        wait(lambda: self.has_power(index) == is_on, 30, f"hci{index} {'on' if is_on else 'off'}")

    def obituary(self):
        """How bluetoothd ended, when that was not our doing."""
        code = self.process.poll() if self.process else None
        return None if code is None else f"bluetoothd ended by itself ({code})"

    def assert_nobody_paired(self):
        check(not self.agent.requests, f"a pairing was asked for: {self.agent.requests}")
        check(not self.monitor.pairings, f"a pairing was asked for: {self.monitor.pairings}")
