"""Scenarios of meshes that form: two, a chain, everybody in reach of everybody, and an echo from afar."""

from loop import check, now, wait, watch_quietly
from scenario import (LINK, assert_no_second_link, await_heard, await_links, await_loss, pairs_of, scenario, talk)


@scenario("two-nodes", 120, is_quick=True)
def two_nodes(world):
    """Two nodes find each other, get one link, and talk both ways."""
    a, b = world.start(2)
    linked = await_links([(a, b)])
    talk([a, b])
    assert_no_second_link([a, b])
    milliseconds, hops = a.ping(b)
    check(hops == 1, f"the ping took {hops} hops")
    return f"link after {linked:.1f} s, ping {milliseconds:.0f} ms"


@scenario("chain-of-four", 240, is_quick=True)
def chain_of_four(world):
    """Four nodes, each in reach of the next alone; everybody hears everybody, in three hops at most."""
    world.chain(4)
    nodes = world.start(4)
    linked = await_links(pairs_of(nodes, is_chain=True), 2 * LINK)
    wait(lambda: all(len(node.peers) >= 3 for node in nodes), LINK, "everybody's cards at everybody's")
    spread = talk(nodes)
    for node in nodes:
        check(len(node.neighbours()) <= 2, f"{node.name} hears further than the next: {node.neighbours()}")
    text = nodes[0].say()
    await_heard(nodes, [text])
    check(nodes[3].messages[text]["hops"] == 3, "the message did not take three hops")
    milliseconds, hops = nodes[0].ping(nodes[3])
    return f"links after {linked:.1f} s, four messages spread in {spread:.1f} s, ping over {hops} hops {milliseconds:.0f} ms"


@scenario("mesh-of-four", 300)
def mesh_of_four(world):
    """Four nodes in reach of each other, every adapter advertises and scans; six links, every message once."""
    start = now()
    nodes = world.start(4)
    linked = await_links(pairs_of(nodes), 4 * LINK)
    spread = talk(nodes)
    assert_no_second_link(nodes)
    roles = [node.roles() for node in nodes]
    check(all(role["central"] + role["peripheral"] == 3 for role in roles) and
          sum(role["central"] for role in roles) == 6, f"six links have six dialled ends: {roles}")
    if "bluez" in world.needs:
        for member in ("RegisterAdvertisement", "StartDiscovery"):
            adapters = {entry.path for entry in world.bluez.monitor.calls(member, start)}
            check(len(adapters) == 4, f"{member} came for {sorted(adapters)} alone")
    roles = ", ".join(f"{role['central']}+{role['peripheral']}" for role in roles)
    return f"six links after {linked:.1f} s, messages spread in {spread:.1f} s, dialled+accepted {roles}"


def dial_back(world, start, rounds):
    """One of two nodes yields to the other. When the first dials, the adapter of the other is made to dial as well, by
    `Device1.Connect` as its daemon's own dial is: two connects cross on the air, and both daemons find a link of theirs."""
    def first():
        return next((entry.path for entry in world.bluez.monitor.calls("Connect", start)), None)

    wait(first, LINK, "the first dial")
    dialler = int(first().split("/")[3].removeprefix("hci"))
    back = f"{world.bluez.adapter_path(1 - dialler)}/dev_{world.bluez.address(dialler).replace(':', '_')}"
    ended = lambda *values: None
    world.bluez.interface(back, "org.bluez.Device1").Connect(reply_handler=ended, error_handler=ended, timeout=60)
    rounds.append(dialler)


@scenario("both-dial", 400)
def both_dial(world):
    """Two nodes come into range at the same moment and dial each other, five times: always exactly one link."""
    world.range(0, 1, False)
    world.hide_hints()
    a, b = world.start(2)
    times, diallers = [], []
    for _ in range(5):
        start = now()
        world.range(0, 1, True)
        if "bluez" in world.needs:
            dial_back(world, start, diallers)
        times.append(await_links([(a, b)], 2 * LINK))
        talk([a, b])
        watch_quietly(2)                    # a second link would come about now
        assert_no_second_link([a, b])
        check(a.is_linked(b) and b.is_linked(a), "the link did not stay")
        world.range(0, 1, False)
        await_loss(a, b)
    first = f", first to dial {', '.join(f'hci{dialler}' for dialler in diallers)}" if diallers else ""
    return "link after " + ", ".join(f"{time:.1f}" for time in times) + f" s of both dials under way{first}"


@scenario("echo-over-three-hops", 240)
def echo_over_three_hops(world):
    """An echo bot at the far end of a chain answers a personal message."""
    world.chain(4)
    nodes = world.start(4)
    first, last = nodes[0], nodes[3]
    await_links(pairs_of(nodes, is_chain=True), 2 * LINK)
    wait(lambda: last.name in first.peers, LINK, "the last node's card")
    world.start_bot(last)
    start = now()
    first.say("is there an echo?", to=last.name)

    def echo():
        return next((event for event in first.messages.values() if event["isEcho"]), None)

    wait(echo, LINK, "the echo")
    check(echo()["hops"] == 3, f"the echo came over {echo()['hops']} hops")
    check("is there an echo?" in echo()["text"], "the echo says something else")
    return f"echo after {now() - start:.1f} s"
