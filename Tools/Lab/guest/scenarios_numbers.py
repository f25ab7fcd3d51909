"""Measurements: the daemon beside a plain Python script that asks the same of the same bluetoothd."""

import random
import statistics

from baseline import Pair
from load import Load
from loop import ALLOWANCE, check, now, wait, watch_quietly
from monitor import Monitor
from scenario import LINK, await_links, await_loss, scenario, steps

ROUNDS = 10
POWER_ON_RATIO = 1.5 * ALLOWANCE
PAYLOAD_RATIO = 0.9 / ALLOWANCE
VALUES = 800                # of a frame's size: some seconds
WINDOW = 32                 # of them unanswered by bluetoothd: more gain nothing
MESSAGES = 100
SAMPLE = 10                 # of them tell the size of their packets, untimed: to hear of each packet costs a processor
TEXT = 3000                 # characters; far below what the protocol takes

ALPHABET = "".join(chr(code) for code in range(0x21, 0x7F))


def switch(bluez, is_on):
    """Both adapters at once; the time of the later change is the monitor's."""
    start = now()
    for index in (0, 1):
        bluez.power(index, is_on)
    wait(lambda: len(bluez.monitor.changes("Powered", is_on, start)) >= 2, 30, "both adapters' power")
    return max(time for time, _ in bluez.monitor.changes("Powered", is_on, start))


def delivered(monitor, owner, start, end):
    """When bluetoothd handed values to whom they were written to."""
    return [entry.time for entry in monitor.calls("WriteValue", start) if entry.sender == owner and entry.time <= end]


def rounds_of(bluez, monitor, link, unlink, await_loss=lambda: None):
    """Ten times from power-on to a link; the seconds of each, and the steps of the median one."""
    found = []
    for _ in range(ROUNDS):
        unlink()
        switch(bluez, False)
        await_loss()
        monitor.clear()
        start = switch(bluez, True)
        link()
        end = now()
        found.append((max(delivered(monitor, bluez.owner, start, end), default=end) - start, steps(monitor, start)))
    found.sort()
    return [seconds for seconds, _ in found], found[len(found) // 2][1]


def baseline_of_power_on(bluez, monitor):
    pair = Pair()
    try:
        pair.link()
        return rounds_of(bluez, monitor, pair.link, pair.unlink)
    finally:
        pair.close()


def told(name, times, detail):
    return (f"{name} {statistics.median(times):.2f} s (from {times[0]:.2f} to {times[-1]:.2f}; {detail})")


@scenario("power-on-to-link", 1500, needs="bluez", is_long=True)
def power_on_to_link(world):
    """From power-on to a usable link between two idle nodes, the median of ten, beside a plain script's."""
    bluez, monitor = world.bluez, Monitor(values=True)
    try:
        script, script_steps = baseline_of_power_on(bluez, monitor)
        bluez.renew()
        a, b = world.start(2)
        await_links([(a, b)])
        # The nodes are idle when the power goes: a write under way at that moment can end this bluetoothd (see BlueZ.md).
        daemon, daemon_steps = rounds_of(
            bluez, monitor, lambda: await_links([(a, b)], 2 * LINK),
            lambda: watch_quietly(2), lambda: await_loss(a, b))
    finally:
        monitor.close()
    ratio = statistics.median(daemon) / statistics.median(script)
    remark = f"ratio {ratio:.2f}: {told('nodes', daemon, daemon_steps)}, {told('script', script, script_steps)}"
    check(ratio <= POWER_ON_RATIO, f"{remark}; it may be {POWER_ON_RATIO}")
    return remark


def baseline_of_payload(size):
    """Bytes a second of raw commands, the part of them that arrived, and who used the processors."""
    pair = Pair()
    try:
        pair.link()
        load = Load(now)
        seconds, arrived = pair.flood(VALUES, size, WINDOW)
        return VALUES * size / seconds, arrived / VALUES, load.told()
    finally:
        pair.close()


@scenario("payload-of-one-link", 900, is_long=True)
def payload_of_one_link(world):
    """Bytes of packets through one link, one way, beside raw commands of the same size; nothing is lost."""
    a, b = world.start(2)
    await_links([(a, b)])
    size = next(link["frameSize"] for link in a.links if link["step"] == "ready")
    # Out of letters at random from a fixed seed: nothing to be gained by compression beyond their alphabet.
    source = random.Random(7)
    texts = [f"{a.name} {number} " + "".join(source.choices(ALPHABET, k=TEXT)) for number in range(SAMPLE + MESSAGES)]
    sizes = b.count_receptions()
    for text in texts[:SAMPLE]:
        a.say(text)
    wait(lambda: all(b.heard[text] for text in texts[:SAMPLE]), 60, "the first messages")
    wait(lambda: len(sizes) >= SAMPLE, 30, "word of their packets")
    b.counter.close()
    total, texts = MESSAGES * sum(sizes[:SAMPLE]) / SAMPLE, texts[SAMPLE:]
    load = Load(now)
    start = now()
    for text in texts:
        a.say(text)
    wait(lambda: all(b.heard[text] for text in texts), 180,
         lambda: f"messages ({sum(1 for text in texts if b.heard[text])} of {MESSAGES} came)")
    daemon = total / (max(b.heard_at[text] for text in texts) - start)
    daemon_load = load.told()
    check(all(b.heard[text] == 1 for text in texts), "a message came twice")
    if "bluez" not in world.needs:
        return f"{daemon / 1000:.1f} kB/s in frames of {size} bytes"
    for node in (a, b):
        node.stop()
    world.bluez.renew()
    script, arrived, script_load = baseline_of_payload(size)
    for node in (a, b):
        node.start()
    ratio = daemon / script
    remark = (f"ratio {ratio:.2f}: nodes {daemon / 1000:.1f} kB/s, script {script / 1000:.1f} kB/s"
              f" ({100 * arrived:.0f} % arrived), {size} bytes each;"
              f" processors: nodes {daemon_load}; script {script_load}")
    check(ratio >= PAYLOAD_RATIO, f"{remark}; it must be {PAYLOAD_RATIO}")
    return remark
