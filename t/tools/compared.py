# SPDX-License-Identifier: LGPL-3.0-only
"""For tests that compare JSON files of commands with something else: `from compared import *`."""
import json
import os


def load(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def same(a, b):
    assert a == b, f"{a}\nis not\n{b}"


def patience_s():
    """Two seconds; more on a machine that is busy with other things, and of a program that a sanitizer makes slow."""
    is_slow = os.getloadavg()[0] >= 1.5 * os.cpu_count() or os.environ["SANITIZER_TIME"] != "1"
    return 20 if is_slow else 2
