#!/usr/bin/python3
"""Runs scenarios: in the lab's guest over BlueZ, or anywhere over a transport that needs no guest.

    scenarios.py --list
    scenarios.py --bin .build/release NAME…
    scenarios.py --bin .build/release --transport-template 'local:{folder}/air,name=node{index}' NAME…

One line for each scenario: name, label, ok or FAILED, seconds, and what was measured. Exit code 1 when one failed.
"""

import argparse
import os
import sys
import tempfile
import traceback

import loop
import scenarios_links
import scenarios_faults
import scenarios_endurance
import scenarios_numbers
import worlds
from scenario import ALL

OVER_BLUEZ = "bluez:adapter={address}"


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true", help="name, bound in seconds, kind and content of each")
    parser.add_argument("--bin", default=os.environ.get("RELAYCHAT_BIN", ".build/release"))
    parser.add_argument("--transport-template", default=OVER_BLUEZ)
    parser.add_argument("--daemon-options", default="", type=str.split)
    parser.add_argument("--adapters", type=int, default=4)
    parser.add_argument("--label", default="local")
    parser.add_argument("--logs")
    return parser.parse_args()


def print_list():
    for each in ALL.values():
        kind = "quick" if each.is_quick else "long" if each.is_long else "usual"
        print(f"{each.name}\t{each.seconds:.0f}\t{kind}\t{each.what}")


def run(each, options, bluez):
    """One scenario in a world of its own; returns whether it went well."""
    start = loop.now()
    world = None
    fault = remark = None
    try:
        if bluez:
            bluez.renew()
        world = worlds.make(f"{options.label}-{each.name}", options, bluez)
        remark = each.run(world)
        if bluez:
            bluez.assert_nobody_paired()
        for program in world.programs():
            loop.check(program.is_running(), f"{program.name} ended by itself")
    except loop.Failed as error:
        fault = str(error)
    except Exception:                       # a fault of the lab's own: said, and the next scenario still runs
        fault = traceback.format_exc()
    if bluez and bluez.obituary():
        fault = bluez.obituary() + (f"; {fault}" if fault else "")
    seconds = loop.now() - start
    verdict = "ok    " if fault is None else "FAILED"
    print(f"{each.name:<26} {options.label:<9} {verdict} {seconds:6.1f} s  {fault or remark or ''}".rstrip(), flush=True)
    if world:
        if fault is not None:
            report(world)
        try:
            world.close()
        except loop.Failed as error:
            print(f"  at the end of {each.name}: {error}", flush=True)
            fault = fault or str(error)
    return fault is None


def report(world):
    for program in world.programs():
        if program.process is None:
            continue
        state = "running" if program.is_running() else f"ended with {program.process.poll()}"
        print(f"  — {program.name} ({state}), the end of its log:")
        for line in program.tail().splitlines():
            print(f"    {line}")
    sys.stdout.flush()


def main():
    options = parse()
    if options.list:
        print_list()
        return 0
    options.bin = os.path.abspath(options.bin)
    options.logs = options.logs or tempfile.mkdtemp(prefix="relaychat-lab-logs.")
    unknown = [name for name in options.names if name not in ALL]
    if unknown:
        print(f"lab: there is no scenario {unknown[0]}; --list names them.", file=sys.stderr)
        return 2
    worlds.assert_can_run(options)
    bluez = None
    if not options.transport_template.startswith("local:"):
        from bluez import BlueZ             # needs a system bus
        bluez = BlueZ(options.adapters, options.logs)
    possible = {"any", "bluez"} if bluez else {"any"}
    names = options.names or list(ALL)
    chosen = [ALL[name] for name in names if ALL[name].needs in possible]
    results = [run(each, options, bluez) for each in chosen]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
