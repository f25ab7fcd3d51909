"""Scenarios that take ten minutes: traffic without loss, and quiet without a disconnect."""

import os

from loop import check, every, now, watch_quietly
from scenario import LINK, await_heard, await_links, pairs_of, scenario

MINUTES = float(os.environ.get("RELAYCHAT_LAB_MINUTES", "10"))


@scenario("ten-minutes-of-traffic", 60 * MINUTES + 400, is_long=True)
def ten_minutes_of_traffic(world):
    """Four nodes in a mesh talk for ten minutes; every message reaches everybody exactly once."""
    nodes = world.start(4)
    await_links(pairs_of(nodes), 4 * LINK)
    texts = []
    stop = every(0.5, lambda: texts.append(nodes[len(texts) % 4].say()))
    try:
        watch_quietly(60 * MINUTES)
    finally:
        stop()
    last = await_heard(nodes, texts, 2 * LINK)
    downs = sum(len(node.downs) for node in nodes)
    return f"{len(texts)} messages, {3 * len(texts)} receptions, the last {last:.1f} s after the end, {downs} links lost"


@scenario("ten-idle-minutes", 60 * MINUTES + 300, is_long=True)
def ten_idle_minutes(world):
    """Four linked nodes with nothing to say: in ten minutes no link ends, and nobody asks for an end."""
    nodes = world.start(4)
    await_links(pairs_of(nodes), 4 * LINK)
    watch_quietly(10)                       # duplicate links of the start are gone
    start = now()
    watch_quietly(60 * MINUTES)
    downs = [(node.name, *down) for node in nodes for down in node.downs if down[0] >= start]
    check(not downs, f"links ended: {downs}")
    if "bluez" in world.needs:
        calls = world.bluez.monitor.calls("Disconnect", start) + world.bluez.monitor.calls("RemoveDevice", start)
        check(not calls, f"somebody asked for a disconnect: {calls}")
    await_links(pairs_of(nodes), 1)
    return f"{MINUTES:.0f} minutes, no link ended"
