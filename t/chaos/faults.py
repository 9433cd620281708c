# SPDX-License-Identifier: LGPL-3.0-only
"""The faults. Each is a function of (tree, random, log) that injects one and returns when it is over; the tree comes back
by its operator or by itself. A new fault is one function and one line in FAULTS."""
import os
import signal
import time

from tree import LOST_AFTER_S, PARTITIONS


def signal_each(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def send(tree, number, role, partition=None):
    pids = tree.pids(role, partition)
    signal_each(pids, number)
    return pids


def kill(role):
    def inject(tree, random, log):
        partition = random.choice(sorted(PARTITIONS)) if role in ("partition", "script") else None
        log(f"SIGKILL {role} {partition or ''} {send(tree, signal.SIGKILL, role, partition)}")
    return inject


def kill_all(tree, random, log):
    """A power cut, as far as processes can have one: all at once, none sees another's end first."""
    del random
    targets = [("starter", None), ("parent", None)] + [(r, p) for p in PARTITIONS for r in ("script", "partition")]
    pids = [pid for role, partition in targets for pid in tree.pids(role, partition)]
    for number in (signal.SIGSTOP, signal.SIGKILL):
        signal_each(pids, number)
    log(f"SIGKILL all {pids}")


def leave_down(tree, random, log):
    """Nobody starts the tree again for a while: what died with it is not charged for that."""
    tree.away_s = 9
    kill_all(tree, random, log)


def pause(role, lengths=(0.05, 0.3, 1.2)):
    def inject(tree, random, log):
        partition = random.choice(sorted(PARTITIONS)) if role == "partition" else None
        seconds = random.choice(lengths)
        # A fork of the broker has the broker's words until it executes a launcher: whoever was stopped must go on.
        stopped = send(tree, signal.SIGSTOP, role, partition)
        log(f"SIGSTOP {role} {partition or ''} for {seconds} s: {stopped}")
        time.sleep(seconds)
        signal_each(stopped, signal.SIGCONT)
        log("SIGCONT")
    return inject


def fill_disk(tree, random, log):
    """The statedir's file system has no room for a while (see room.py: it is a small tmpfs in these rounds)."""
    filler = os.path.join(tree.statedir, "filler")
    written = 0
    with open(filler, "wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    written += file.write(b"\0" * size)
            except OSError:
                pass
    seconds = random.choice([0.1, 0.5, 1.0])
    log(f"the disk is full ({written} bytes of filler) for {seconds} s")
    time.sleep(seconds)
    os.unlink(filler)
    log("the disk has room")


def step_clock(tree, random, log):
    """The wall clock of all brokers jumps (see room.py: they read it from a file in these rounds)."""
    step = random.choice([-3600, -60, -1, 1, 60, 3600])
    tree.step_clock(step)
    log(f"the wall clock steps by {step} s")


def stop_orderly(tree, random, log):
    del random
    log(f"SIGTERM starter {send(tree, signal.SIGTERM, 'starter')}")


# name -> (function, what the round needs: a key of room.NEEDS)
FAULTS = {
    "kill-parent": (kill("parent"), None),
    "kill-partition": (kill("partition"), None),
    "kill-script": (kill("script"), None),
    "kill-starter": (kill("starter"), None),
    "kill-all": (kill_all, None),
    "leave-down": (leave_down, None),
    "stop-orderly": (stop_orderly, None),
    "pause-parent": (pause("parent"), None),
    "pause-partition": (pause("partition"), None),
    "hang-partition": (pause("partition", (LOST_AFTER_S + 2.5,)), None),
    "fill-disk": (fill_disk, "tmpfs"),
    "step-clock": (step_clock, "faketime"),
}
