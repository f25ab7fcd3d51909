"""Who uses the guest's processors: what bounds a measurement is told beside it."""

import os

TICKS = os.sysconf("SC_CLK_TCK")
# Interpreters are told apart by what they run.
SCRIPTS = {"air.py": "air", "scenarios.py": "script"}


def name_of(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        words = [os.path.basename(word.decode(errors="replace")) for word in file.read().split(b"\0") if word]
    if not words:
        return "kernel"
    return next((SCRIPTS[word] for word in words if word in SCRIPTS), words[0])


def seconds_by_name():
    """Processor seconds so far, of each program; of the daemons each has its own."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            name = name_of(pid)
        except OSError:
            continue                            # it has ended meanwhile
        if name == "relaychatd":
            name = f"relaychatd {pid}"
        found[name] = found.get(name, 0) + (int(fields[11]) + int(fields[12])) / TICKS
    return found


def idle_seconds():
    """Of all processors together."""
    with open("/proc/stat", encoding="utf-8") as file:
        fields = file.readline().split()
    return (int(fields[4]) + int(fields[5])) / TICKS


class Load:
    """From its making to `told`."""

    def __init__(self, now):
        self.now = now
        self.start, self.idle, self.before = now(), idle_seconds(), seconds_by_name()

    def told(self, least=0.04):
        """Shares of one processor, the largest first, and what was idle of all."""
        seconds = max(self.now() - self.start, 1 / TICKS)
        after = seconds_by_name()
        shares = {name: (after[name] - self.before.get(name, 0)) / seconds for name in after}
        busy = sorted(((share, name) for name, share in shares.items() if share >= least), reverse=True)
        idle = (idle_seconds() - self.idle) / seconds
        return ", ".join([f"{name} {100 * share:.0f} %" for share, name in busy] + [f"idle {100 * idle:.0f} %"])
