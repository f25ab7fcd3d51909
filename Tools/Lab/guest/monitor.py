"""What goes over the system bus between bluetoothd and everybody else, with the time of each.

Only the few kinds of messages below are asked for: the values that links carry would keep the guest busy.
"""

import dbus
import dbus.lowlevel

from loop import now

RULES = [
    *(f"type='method_call',interface='org.bluez.{name}'" for name in
      ("Device1", "Adapter1", "Agent1", "GattManager1", "LEAdvertisingManager1")),
    "type='method_call',interface='org.bluez.GattCharacteristic1',member='StartNotify'",
    "type='method_call',interface='org.freedesktop.DBus.Properties',member='Set'",
    *(f"type='signal',interface='org.freedesktop.DBus.Properties',arg0='org.bluez.{name}'"
      for name in ("Device1", "Adapter1")),
    "type='signal',interface='org.freedesktop.DBus.ObjectManager',member='InterfacesAdded'",
    "type='error'",
]
FIRST_VALUES = "type='method_call',interface='org.bluez.GattCharacteristic1',member='WriteValue'"


class Entry:
    def __init__(self, time, sender, path, member, facts):
        self.time, self.sender, self.path, self.member, self.facts = time, sender, path, member, facts

    def __repr__(self):
        return f"{self.time:.3f} {self.sender} {self.path} {self.member} {self.facts}"


class Monitor:
    """`values`: also every WriteValue, for links that carry few."""

    def __init__(self, values=False):
        self.entries = []
        self.pairings = []
        self.bus = dbus.SystemBus(private=True)
        self.bus.set_exit_on_disconnect(False)
        self.bus.add_message_filter(self._take)
        self.bus.call_blocking("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Monitoring",
                               "BecomeMonitor", "asu", (RULES + [FIRST_VALUES] * values, 0))

    def close(self):
        self.bus.close()

    def clear(self):
        self.entries.clear()
        self.pairings.clear()

    def _take(self, bus, message):
        path, member = str(message.get_path()), str(message.get_member())
        if message.get_type() == 3:             # an error is told by its name
            member = str(message.get_error_name())
        interface = str(message.get_interface())
        facts = None
        if member == "PropertiesChanged":
            facts = {str(key): value for key, value in message.get_args_list()[1].items()}
            if facts.get("Paired") or facts.get("Bonded"):
                self.pairings.append(f"{path} is paired")
        elif member == "InterfacesAdded":
            path, facts = str(message.get_args_list()[0]), [str(key) for key in message.get_args_list()[1]]
        elif member == "WriteValue":
            facts = len(message.get_args_list()[0])
        if member == "Pair" or interface == "org.bluez.Agent1" and member not in ("Release", "Cancel"):
            self.pairings.append(f"{member} {path}")
        self.entries.append(Entry(now(), str(message.get_sender()), path, member, facts))
        # Anything else, and the bus library would answer for us; whoever monitors may not send.
        return dbus.lowlevel.HANDLER_RESULT_HANDLED

    def calls(self, member, start=0.0):
        return [entry for entry in self.entries if entry.member == member and entry.time >= start]

    def changes(self, name, value, start=0.0):
        """When a property became this value, as (time, object path)."""
        return [(entry.time, entry.path) for entry in self.entries
                if entry.member == "PropertiesChanged" and entry.time >= start and name in entry.facts
                and bool(entry.facts[name]) == value]
