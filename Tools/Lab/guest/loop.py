"""The one event loop of a program in the lab, and waiting on it.

Everything that happens (a line from a daemon, a signal on the bus, the end of a process) comes in as an event of GLib's
main loop; a condition is looked at again after each. Nothing polls.
"""

import os
import time

from gi.repository import GLib

context = GLib.MainContext.default()

# Limits are three times what an idle machine takes; on a slow one, more.
PATIENCE = float(os.environ.get("RELAYCHAT_LAB_PATIENCE", "1"))
# By how much a promised number may be missed: 1 on an idle machine, more on one that does other things meanwhile.
ALLOWANCE = float(os.environ.get("RELAYCHAT_LAB_ALLOWANCE", "1"))


class Failed(Exception):
    """Something that had to hold does not."""


class Timeout(Failed):
    """Something that had to happen did not, in its time."""


def now():
    """Seconds on a clock that never jumps."""
    return time.monotonic()


def wait(condition, seconds, what, every=None):
    """Runs the loop until condition() holds; returns the seconds that took. Raises Timeout.

    The condition is asked after every event; with `every` also after so many seconds, for what makes no event."""
    start = now()
    deadline = start + seconds * PATIENCE
    while not condition():
        left = deadline - now()
        if left <= 0:
            raise Timeout(f"{what() if callable(what) else what}: not within {seconds * PATIENCE:.0f} s")
        wake = GLib.timeout_add(max(1, int(min(left, every or left) * 1000) + 1), lambda: True)
        try:
            context.iteration(True)
        finally:
            GLib.source_remove(wake)
    return now() - start


def watch_quietly(seconds):
    """Runs the loop for this long: for what must not happen."""
    over = []
    GLib.timeout_add(int(seconds * 1000), lambda: over.append(True))
    while not over:
        context.iteration(True)


def every(seconds, action):
    """Calls action() again and again until the returned function is called."""
    source = GLib.timeout_add(int(seconds * 1000), lambda: action() or True)
    return lambda: GLib.source_remove(source)


def when_readable(descriptor, action):
    """Calls action() whenever something can be read, until it returns False."""
    GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, descriptor, GLib.IOCondition.IN | GLib.IOCondition.HUP,
                          lambda fd, condition: action())


def check(holds, what):
    if not holds:
        raise Failed(what)
