"""What a scenario is, the list of all, and steps that many of them share."""

from loop import ALLOWANCE, check, now, wait

ALL = {}
BUS_IS_BACK = 5.0 * ALLOWANCE   # seconds from bluetoothd's return to the first message, as promised
LINK = 45               # seconds for a link to come up; an idle machine takes up to 15
SPREAD = 30             # seconds for a message to reach everybody in a small mesh


class Scenario:
    def __init__(self, function, name, seconds, needs, is_quick, is_long):
        self.run, self.name, self.seconds = function, name, seconds
        self.needs, self.is_quick, self.is_long = needs, is_quick, is_long
        self.what = (function.__doc__ or "").strip().splitlines()[0]


def scenario(name, seconds, needs="any", is_quick=False, is_long=False):
    """`seconds` is a bound for the whole; its function takes the world and returns a remark or None."""
    def note(function):
        ALL[name] = Scenario(function, name, seconds, needs, is_quick, is_long)
        return function
    return note


def pairs_of(nodes, is_chain=False):
    if is_chain:
        return list(zip(nodes, nodes[1:]))
    return [(a, b) for place, a in enumerate(nodes) for b in nodes[place + 1:]]


def describe(nodes):
    return "; ".join(f"{node.name}: {', '.join(node.neighbours()) or 'no link'}" for node in nodes)


def await_links(pairs, seconds=LINK, what="links"):
    """Both ends say that the link is ready; returns the seconds it took."""
    nodes = {node.name: node for pair in pairs for node in pair}.values()
    return wait(lambda: all(a.is_linked(b) and b.is_linked(a) for a, b in pairs), seconds,
                lambda: f"{what} ({describe(nodes)})")


def await_loss(a, b, seconds=LINK):
    return wait(lambda: not a.is_linked(b) and not b.is_linked(a), seconds, f"the loss of {a.name} – {b.name}")


def await_heard(nodes, texts, seconds=SPREAD):
    """Each of the nodes has heard each of the texts that is not its own, once."""
    def missing():
        return [(node.name, text) for node in nodes for text in texts
                if not text.startswith(node.name + " ") and not node.heard[text]]
    took = wait(lambda: not missing(), seconds, lambda: f"messages, {len(missing())} missing, first {missing()[:3]}")
    assert_none_doubled(nodes)
    return took


def assert_none_doubled(nodes):
    doubled = [(node.name, text, count) for node in nodes for text, count in node.heard.items() if count > 1]
    check(not doubled, f"heard more than once: {doubled[:3]}")


def talk(nodes, seconds=SPREAD):
    """Everybody says something and everybody else hears it once; returns the seconds."""
    start = now()
    await_heard(nodes, [node.say() for node in nodes], seconds)
    return now() - start


def assert_no_second_link(nodes):
    for node in nodes:
        names = node.neighbours()
        check(len(names) == len(set(names)), f"{node.name} has two links to one neighbour: {names}")


def steps(monitor, start):
    """Seconds from a moment to each step that the bus shows, for the report."""
    def first(times):
        return f"{min(times) - start:.2f}" if times else "–"
    return (f"advertised {first([e.time for e in monitor.calls('RegisterAdvertisement', start)])},"
            f" dialled {first([e.time for e in monitor.calls('Connect', start)])},"
            f" connected {first([t for t, _ in monitor.changes('Connected', True, start)])},"
            f" resolved {first([t for t, _ in monitor.changes('ServicesResolved', True, start)])},"
            f" subscribed {first([e.time for e in monitor.calls('StartNotify', start)])}")
