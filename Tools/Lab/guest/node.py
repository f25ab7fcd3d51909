"""A BLE node on one adapter, spoken to over BlueZ's D-Bus API.

Each Node both serves (a GATT service with one characteristic, advertised) and
reaches out (scan, connect, subscribe, write): the two roles a mesh node plays
at once. Everything runs on one GLib main loop; calls to BlueZ never block it,
since BlueZ calls back into the very process that waits for its answer.
"""

import os
import socket
import time

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

BLUEZ = "org.bluez"
ADAPTER = "org.bluez.Adapter1"
DEVICE = "org.bluez.Device1"
SERVICE = "org.bluez.GattService1"
CHARACTERISTIC = "org.bluez.GattCharacteristic1"
ADVERTISEMENT = "org.bluez.LEAdvertisement1"
PROPERTIES = "org.freedesktop.DBus.Properties"
OBJECTS = "org.freedesktop.DBus.ObjectManager"

SERVICE_UUID = "b1e1ab00-0000-4000-8000-00000000b1e0"
CHARACTERISTIC_UUID = "b1e1ab00-0000-4000-8000-00000000b1e1"

dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
context = GLib.MainContext.default()


class Timeout(Exception):
    pass


def wait(condition, seconds, what):
    """Run the main loop until condition() holds; returns the seconds it took."""
    start = time.monotonic()
    wake = GLib.timeout_add(20, lambda: True)
    try:
        while not condition():
            if time.monotonic() - start > seconds:
                raise Timeout(f"{what}: not within {seconds} s")
            context.iteration(True)
    finally:
        GLib.source_remove(wake)
    return time.monotonic() - start


def idle(seconds):
    end = time.monotonic() + seconds
    wait(lambda: time.monotonic() >= end, seconds + 5, "idle")


def call(method, *arguments, seconds=40):
    """Call a D-Bus method while the main loop keeps turning."""
    box = []
    method(
        *arguments,
        reply_handler=lambda *values: box.append((values[0] if values else None, None)),
        error_handler=lambda error: box.append((None, error)),
        timeout=seconds,
    )
    wait(lambda: box, seconds + 5, "D-Bus call")
    value, error = box[0]
    if error:
        raise error
    return value


def call_later(method, *arguments):
    """Start a D-Bus call; its outcome lands in the list returned."""
    box = []
    method(
        *arguments,
        reply_handler=lambda *values: box.append(values[0] if values else None),
        error_handler=box.append,
        timeout=60,
    )
    return box


class Served(dbus.service.Object):
    """An object with properties, in the form BlueZ reads them."""

    interface = None

    def __init__(self, bus, path):
        super().__init__(bus, path)
        self.path = dbus.ObjectPath(path)

    def properties(self):
        raise NotImplementedError

    @dbus.service.method(PROPERTIES, in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        return self.properties()

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return self.properties()[name]


class Application(dbus.service.Object):
    def __init__(self, bus, path, members):
        super().__init__(bus, path)
        self.path = dbus.ObjectPath(path)
        self.members = members

    @dbus.service.method(OBJECTS, out_signature="a{oa{sa{sv}}}")
    def GetManagedObjects(self):
        return {m.path: {m.interface: m.properties()} for m in self.members}


class ServedService(Served):
    interface = SERVICE

    def properties(self):
        return {"UUID": SERVICE_UUID, "Primary": dbus.Boolean(True)}


class ServedCharacteristic(Served):
    interface = CHARACTERISTIC

    def __init__(self, bus, path, service, sockets):
        super().__init__(bus, path)
        self.service = service
        self.sockets = sockets          # offer AcquireWrite/AcquireNotify
        self.received = []              # (seconds, device path, bytes)
        self.subscribed = 0
        self.options = {}
        self.notifier = None
        self.notify_mtu = None

    def properties(self):
        values = {
            "UUID": CHARACTERISTIC_UUID,
            "Service": self.service.path,
            "Flags": dbus.Array(["write", "write-without-response", "notify"], signature="s"),
        }
        if self.sockets:
            values["WriteAcquired"] = dbus.Boolean(False)
            values["NotifyAcquired"] = dbus.Boolean(False)
        return values

    @dbus.service.method(CHARACTERISTIC, in_signature="aya{sv}", byte_arrays=True)
    def WriteValue(self, value, options):
        self.options = dict(options)
        self.received.append((time.monotonic(), str(options.get("device", "")), bytes(value)))

    @dbus.service.method(CHARACTERISTIC)
    def StartNotify(self):
        self.subscribed += 1

    @dbus.service.method(CHARACTERISTIC)
    def StopNotify(self):
        self.subscribed -= 1

    @dbus.service.method(CHARACTERISTIC, in_signature="a{sv}", out_signature="hq")
    def AcquireWrite(self, options):
        if not self.sockets:
            raise dbus.exceptions.DBusException(name="org.bluez.Error.NotSupported")
        self.options = dict(options)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        device = str(options.get("device", ""))

        def readable(_, condition):
            data = ours.recv(600)
            if not data:
                ours.close()
                return False
            self.received.append((time.monotonic(), device, data))
            return True

        GLib.io_add_watch(ours.fileno(), GLib.IO_IN | GLib.IO_HUP, readable)
        return dbus.types.UnixFd(theirs), dbus.UInt16(options["mtu"])

    @dbus.service.method(CHARACTERISTIC, in_signature="a{sv}", out_signature="hq")
    def AcquireNotify(self, options):
        if not self.sockets:
            raise dbus.exceptions.DBusException(name="org.bluez.Error.NotSupported")
        self.notifier, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.notify_mtu = int(options["mtu"])
        self.subscribed += 1
        return dbus.types.UnixFd(theirs), dbus.UInt16(options["mtu"])

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass

    def notify(self, data):
        if self.notifier:
            self.notifier.send(data)
        else:
            self.PropertiesChanged(CHARACTERISTIC, {"Value": dbus.ByteArray(data)}, [])


class Advertisement(Served):
    interface = ADVERTISEMENT

    def __init__(self, bus, path, name):
        super().__init__(bus, path)
        self.name = name
        self.released = 0

    def properties(self):
        return {
            "Type": "peripheral",
            "ServiceUUIDs": dbus.Array([SERVICE_UUID], signature="s"),
            "LocalName": self.name,
        }

    @dbus.service.method(ADVERTISEMENT)
    def Release(self):
        self.released += 1


class Node:
    def __init__(self, index, sockets=False):
        self.index = index
        self.path = f"/org/bluez/hci{index}"
        self.bus = dbus.SystemBus(private=True)
        self.signals = []               # (seconds, object path, interface, changes)
        self.bus.add_signal_receiver(
            self._changed, "PropertiesChanged", PROPERTIES, BLUEZ, path_keyword="path")
        base = f"/lab/node{index}"
        service = ServedService(self.bus, f"{base}/service")
        self.served = ServedCharacteristic(self.bus, f"{base}/service/data", service, sockets)
        self.application = Application(self.bus, base, [service, self.served])
        self.advertisement = Advertisement(self.bus, f"{base}/advertisement", f"node{index}")
        self.values = []                # notifications received: (seconds, path, bytes)

    def _changed(self, interface, changed, invalidated, path):
        if not path.startswith(self.path):
            return
        self.signals.append((time.monotonic(), str(path), str(interface), dict(changed)))
        if interface == CHARACTERISTIC and "Value" in changed:
            self.values.append((time.monotonic(), str(path), bytes(changed["Value"])))

    def interface(self, path, name):
        return dbus.Interface(self.bus.get_object(BLUEZ, path, introspect=False), name)

    def get(self, path, interface, name):
        return call(self.interface(path, PROPERTIES).Get, interface, name)

    def set(self, name, value):
        call(self.interface(self.path, PROPERTIES).Set, ADAPTER, name, value)

    def power(self, on):
        self.set("Powered", dbus.Boolean(on, variant_level=1))

    @property
    def address(self):
        return str(self.get(self.path, ADAPTER, "Address"))

    def adapter(self):
        return self.interface(self.path, ADAPTER)

    def objects(self):
        return call(self.interface("/", OBJECTS).GetManagedObjects)

    # Serving

    def serve(self):
        call(self.interface(self.path, "org.bluez.GattManager1").RegisterApplication,
             self.application.path, dbus.Dictionary({}, signature="sv"))

    def advertise(self):
        call(self.interface(self.path, "org.bluez.LEAdvertisingManager1").RegisterAdvertisement,
             self.advertisement.path, dbus.Dictionary({}, signature="sv"))

    def unadvertise(self):
        call(self.interface(self.path, "org.bluez.LEAdvertisingManager1").UnregisterAdvertisement,
             self.advertisement.path)

    # Reaching out

    def scan(self):
        call(self.adapter().SetDiscoveryFilter,
             dbus.Dictionary({"UUIDs": dbus.Array([SERVICE_UUID], signature="s"),
                              "Transport": "le", "DuplicateData": dbus.Boolean(True)},
                             signature="sv"))
        call(self.adapter().StartDiscovery)

    def stop_scan(self):
        call(self.adapter().StopDiscovery)

    def device_path(self, address):
        return f"{self.path}/dev_{address.replace(':', '_')}"

    def device(self, address):
        return self.interface(self.device_path(address), DEVICE)

    def sees(self, address):
        return self.device_path(address) in self.objects()

    def device_property(self, address, name):
        try:
            return self.get(self.device_path(address), DEVICE, name)
        except dbus.exceptions.DBusException:
            return None

    def connected(self, address):
        return bool(self.device_property(address, "Connected"))

    def resolved(self, address):
        return bool(self.device_property(address, "ServicesResolved"))

    def connect(self, address):
        start = time.monotonic()
        call(self.device(address).Connect)
        return time.monotonic() - start

    def remote(self, address):
        """The path of the peer's characteristic, or None."""
        prefix = self.device_path(address) + "/"
        for path, interfaces in self.objects().items():
            values = interfaces.get(CHARACTERISTIC)
            if values and path.startswith(prefix) and values["UUID"] == CHARACTERISTIC_UUID:
                return str(path)
        return None

    def characteristic(self, path):
        return self.interface(path, CHARACTERISTIC)

    def write(self, path, data, kind="command"):
        call(self.characteristic(path).WriteValue, dbus.ByteArray(data),
             dbus.Dictionary({"type": kind}, signature="sv"))

    def acquire_write(self, path):
        fd, mtu = self._acquire(self.characteristic(path).AcquireWrite)
        return socket.socket(fileno=fd), mtu

    def acquire_notify(self, path):
        fd, mtu = self._acquire(self.characteristic(path).AcquireNotify)
        return socket.socket(fileno=fd), mtu

    def _acquire(self, method):
        box = []
        method(dbus.Dictionary({}, signature="sv"),
               reply_handler=lambda fd, mtu: box.append((fd.take(), int(mtu))),
               error_handler=box.append)
        wait(lambda: box, 30, "acquire")
        if isinstance(box[0], Exception):
            raise box[0]
        return box[0]


def pid_of(name):
    with open(f"/run/{name}.pid") as file:
        return int(file.read())
