#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""screen.py SOCKET REGEX [--gone]: returns when the screen of the tmux server's only pane matches (with --gone: no more).

The screen is looked at when this client attaches and whenever tmux tells that the program wrote something: nobody
sleeps. REGEX is Python's, over all lines, "." without line feeds. On failure, after 30 s, the screen is shown.
"""
import re
import select
import subprocess
import sys
import time

SECONDS = 30


def capture(socket):
    return subprocess.run(["tmux", "-S", socket, "capture-pane", "-p"], capture_output=True, text=True, check=True).stdout


def main():
    socket, pattern, is_gone = sys.argv[1], re.compile(sys.argv[2], re.M), "--gone" in sys.argv[3:]
    until = time.monotonic() + SECONDS
    # A client in control mode gets a line for each output of the pane. It has no say in the window's size.
    client = subprocess.Popen(["tmux", "-S", socket, "-C", "attach", "-f", "read-only,ignore-size"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        while bool(pattern.search(capture(socket))) == is_gone:
            if not select.select([client.stdout], [], [], max(0, until - time.monotonic()))[0]:
                print(f"{sys.argv[2]!r} is {'still' if is_gone else 'not'} on the screen:\n{capture(socket)}")
                return 1
            if not client.stdout.read1(1 << 16):
                print("tmux has ended")
                return 1
        return 0
    finally:
        client.kill()
        client.wait()


sys.exit(main())
