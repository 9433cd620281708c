#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""Rounds of faults against the tree that is shipped: real brokers, real processes as jobs, real signals. See README.md.

    campaign.py --build BUILD_DIR [--rounds N] [--seed S] [--faults NAME,NAME...]
    campaign.py --build BUILD_DIR --seed S --round K      one round again, with its log

A round that violates anything keeps its folder, and the line that shows it again is printed."""
import argparse
import json
import os
import random
import shutil
import socket
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

import check  # noqa: E402
import faults  # noqa: E402
import rest  # noqa: E402
from room import NEEDS, Room  # noqa: E402
from tree import Tree  # noqa: E402
from workload import Workload  # noqa: E402

STREAM_S = 2.5


class Log:
    def __init__(self, path, is_shown):
        self.file, self.is_shown, self.begin = open(path, "a", encoding="utf-8"), is_shown, time.monotonic()

    def __call__(self, text):
        line = f"{time.monotonic() - self.begin:7.3f} {text}"
        self.file.write(line + "\n")
        self.file.flush()
        if self.is_shown:
            print(line, flush=True)


def choose(seed, number, names):
    """One or two faults. Each name has its turn as the first, so that a short campaign has them all."""
    order = sorted(names)
    random.Random(f"{seed} order {number // len(order)}").shuffle(order)
    draw = random.Random(f"{seed} round {number}")
    chosen = [order[number % len(order)]]
    if draw.random() < 0.5:
        chosen.append(draw.choice(order))
    return chosen, draw


def inject(chosen, draw, tree, workload, log):
    """Each fault when a drawn number of submissions has been answered since the last and the tree is up."""
    for name in chosen:
        workload.wait_count(workload.count + draw.randrange(2, 14), STREAM_S)
        tree.up.wait(30)
        time.sleep(draw.random() * 0.05)  # between the events of a job, not only at them
        log(f"fault {name}")
        try:
            faults.FAULTS[name][0](tree, draw, log)
        except OSError as failure:
            log(f"the fault did not happen: {failure}")


def play(folder, options, number, chosen, draw):
    log = Log(os.path.join(folder, "log"), options.is_shown)
    log(f"seed {options.seed} round {number}: {', '.join(chosen)}")
    needs = {faults.FAULTS[name][1] for name in chosen} - {None}
    with Room(folder, options.build, needs) as room:
        tree = Tree(folder, room.bin_folder, log, dict(os.environ, LC_ALL="C.UTF-8"))
        tree.step_clock = room.step_clock
        try:
            tree.write_files()
            tree.start()
            workload = Workload(tree, f"{options.seed} {number}", log)
            workload.start(STREAM_S)
            inject(chosen, draw, tree, workload, log)
            workload.thread.join()
            rest.come_to_rest(tree, log)
        finally:
            tree.destroy()
    return check.violations(folder)


def run_round(options, number, names):
    chosen, draw = choose(options.seed, number, names)
    folder = tempfile.mkdtemp(prefix=f"round-{number}-", dir=options.dir)
    begin = time.monotonic()
    try:
        found = play(folder, options, number, chosen, draw)
    except Exception as failure:  # whatever went wrong, the round did not hold
        found = [f"the round itself: {type(failure).__name__}: {failure}"]
    with open(os.path.join(folder, "violations"), "w", encoding="utf-8") as file:
        file.write("\n".join(found) + "\n")
    verdict = "ok" if not found else "not ok"
    print(f"{verdict} {number + 1} - {' + '.join(chosen)} ({time.monotonic() - begin:.1f} s)", flush=True)
    for sentence in found[:20]:
        print(f"#   {sentence}")
    if found:
        print(f"#   kept: {folder}\n#   again: {sys.argv[0]} --build {options.build} --seed {options.seed} --round {number}"
              + (f" --faults {options.faults}" if options.faults else ""), flush=True)
    elif not options.is_kept:
        shutil.rmtree(folder)
    return found


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=os.path.abspath)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=None, help="default: a fresh one")
    parser.add_argument("--round", type=int, default=None, help="this round alone, counted from 0, with its log")
    parser.add_argument("--faults", default="", help="these alone, separated by commas")
    parser.add_argument("--dir", default=None, help="where the rounds' folders are made")
    parser.add_argument("--keep", dest="is_kept", action="store_true", help="keep the folders of rounds that hold too")
    options = parser.parse_args()
    options.is_shown = options.round is not None
    options.seed = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
    options.dir = options.dir or tempfile.mkdtemp(prefix="weir-chaos-")
    os.makedirs(options.dir, exist_ok=True)
    os.chmod(options.dir, 0o755)
    return options


def main():
    options = parse()
    socket.setdefaulttimeout(10)
    asked = [name for name in options.faults.split(",") if name] or list(faults.FAULTS)
    names = [name for name in asked if faults.FAULTS[name][1] is None or NEEDS[faults.FAULTS[name][1]][0]()]
    print(f"# chaos: seed {options.seed}, faults {', '.join(names)}")
    numbers = [options.round] if options.round is not None else list(range(options.rounds))
    for name in sorted(set(asked) - set(names)):
        print(f"[skip] {name}: {NEEDS[faults.FAULTS[name][1]][1]}")
    failed = sum(bool(run_round(options, number, names)) for number in numbers)
    print(f"1..{len(numbers)}")
    if not failed and not options.is_kept:
        shutil.rmtree(options.dir, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
