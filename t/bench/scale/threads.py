#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""threads.py SCALE_BENCH ARGUMENT...: the counts of a run on one processor are those of a run on all."""
import os
import subprocess
import sys


def counts(bench, cpus):
    """Jobs, simulated seconds, reports and bytes of each level, and copies recalled: all but times and memory."""
    run = subprocess.run(
        bench, stdout=subprocess.PIPE, text=True, check=True, preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    lines = run.stdout.splitlines()
    curve = next(line for line in lines if line.startswith("curve ")).split()[1:]
    leaves, jobs, simulated = curve[:3]
    levels = [curve[first:first + 3] for first in range(4, len(curve), 4)]
    return [leaves, jobs, simulated, levels, [line for line in lines if "recalled" in line or "ledger" in line]]


def main():
    every = os.sched_getaffinity(0)
    alone = counts(sys.argv[1:], {min(every)})
    together = counts(sys.argv[1:], every)
    if alone != together:
        sys.exit(f"on one processor: {alone}\non {len(every)}: {together}")
    print(f"the same on 1 and on {len(every)} processors: {together}")


main()
