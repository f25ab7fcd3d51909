"""Which function answers which command, by its opcode."""


class Started:
    """The answer to a command whose outcome comes later, as an event."""

    def __init__(self, status=0, then=None):
        self.status = status
        self.then = then


HANDLERS = {}
EXTENDED_ONLY = set()


def handles(opcode, extended=False):
    def note(function):
        HANDLERS[opcode] = function
        if extended:
            EXTENDED_ONLY.add(opcode)
        return function
    return note


def accepts_silently(*opcodes):
    for opcode in opcodes:
        HANDLERS[opcode] = lambda c, data: 0
