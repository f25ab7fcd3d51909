"""A BLE node on one adapter, spoken to over BlueZ's D-Bus API.

Each Node both serves (a GATT service with one characteristic, advertised) and
reaches out (scan, connect, subscribe, write): the two roles a mesh node plays
at once. Everything runs on one GLib main loop; calls to BlueZ never block it,
since BlueZ calls back into the very process that waits for its answer.
"""

import dbus
import dbus.mainloop.glib
import dbus.service

from loop import now, wait

BLUEZ = "org.bluez"
ADAPTER = "org.bluez.Adapter1"
DEVICE = "org.bluez.Device1"
SERVICE = "org.bluez.GattService1"
CHARACTERISTIC = "org.bluez.GattCharacteristic1"
ADVERTISEMENT = "org.bluez.LEAdvertisement1"
PROPERTIES = "org.freedesktop.DBus.Properties"
OBJECTS = "org.freedesktop.DBus.ObjectManager"

SERVICE_UUID = "fd4d710a-584c-42d5-8b04-3fa704889a08"
CHARACTERISTIC_UUID = "f77a5d46-27fe-4daa-8ce6-410e4d40eee5"

dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)


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

    def __init__(self, bus, path, service):
        super().__init__(bus, path)
        self.service = service
        self.received = []              # (seconds, device path, bytes)
        self.subscribed = 0

    def properties(self):
        return {
            "UUID": CHARACTERISTIC_UUID,
            "Service": self.service.path,
            "Flags": dbus.Array(["write", "write-without-response", "notify"], signature="s"),
        }

    @dbus.service.method(CHARACTERISTIC, in_signature="aya{sv}", byte_arrays=True)
    def WriteValue(self, value, options):
        self.received.append((now(), str(options.get("device", "")), bytes(value)))

    @dbus.service.method(CHARACTERISTIC)
    def StartNotify(self):
        self.subscribed += 1

    @dbus.service.method(CHARACTERISTIC)
    def StopNotify(self):
        self.subscribed -= 1

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass


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
    """One adapter with both roles, and a mirror of the objects below it that its signals keep up to date."""

    def __init__(self, index):
        self.path = f"/org/bluez/hci{index}"
        self.bus = dbus.SystemBus(private=True)
        self.bus.set_exit_on_disconnect(False)
        self.bus.add_signal_receiver(self._added, "InterfacesAdded", OBJECTS, BLUEZ)
        self.bus.add_signal_receiver(self._removed, "InterfacesRemoved", OBJECTS, BLUEZ)
        base = f"/relaychat/lab/node{index}"
        service = ServedService(self.bus, f"{base}/service")
        self.served = ServedCharacteristic(self.bus, f"{base}/service/data", service)
        self.application = Application(self.bus, base, [service, self.served])
        self.advertisement = Advertisement(self.bus, f"{base}/advertisement", f"node{index}")
        self.devices = set()
        self.characteristics = set()    # paths of those with our UUID
        for path, interfaces in call(self.interface("/", OBJECTS).GetManagedObjects).items():
            self._added(path, interfaces)
        self.address = str(call(self.interface(self.path, PROPERTIES).Get, ADAPTER, "Address"))

    def _added(self, path, interfaces):
        if not path.startswith(self.path + "/"):
            return
        if DEVICE in interfaces:
            self.devices.add(str(path))
        if interfaces.get(CHARACTERISTIC, {}).get("UUID") == CHARACTERISTIC_UUID:
            self.characteristics.add(str(path))

    def _removed(self, path, interfaces):
        self.devices.discard(str(path))
        self.characteristics.discard(str(path))

    def served_by(self, device):
        """The path of the device's characteristic, or None."""
        return next((path for path in self.characteristics if path.startswith(device + "/")), None)

    def interface(self, path, name):
        return dbus.Interface(self.bus.get_object(BLUEZ, path, introspect=False), name)

    def device_path(self, address):
        return f"{self.path}/dev_{address.replace(':', '_')}"

    def characteristic(self, path):
        return self.interface(path, CHARACTERISTIC)

    # Serving

    def serve(self):
        call(self.interface(self.path, "org.bluez.GattManager1").RegisterApplication,
             self.application.path, dbus.Dictionary({}, signature="sv"))

    def unserve(self):
        call(self.interface(self.path, "org.bluez.GattManager1").UnregisterApplication, self.application.path)

    def advertise(self):
        call(self.interface(self.path, "org.bluez.LEAdvertisingManager1").RegisterAdvertisement,
             self.advertisement.path, dbus.Dictionary({}, signature="sv"))

    def unadvertise(self):
        call(self.interface(self.path, "org.bluez.LEAdvertisingManager1").UnregisterAdvertisement,
             self.advertisement.path)

    # Reaching out

    def scan(self):
        adapter = self.interface(self.path, ADAPTER)
        call(adapter.SetDiscoveryFilter,
             dbus.Dictionary({"UUIDs": dbus.Array([SERVICE_UUID], signature="s"),
                              "Transport": "le", "DuplicateData": dbus.Boolean(True)},
                             signature="sv"))
        call(adapter.StartDiscovery)

    def stop_scan(self):
        call(self.interface(self.path, ADAPTER).StopDiscovery)

    def write(self, path, data, kind="command"):
        call(self.characteristic(path).WriteValue, dbus.ByteArray(data),
             dbus.Dictionary({"type": kind}, signature="sv"))
