#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""hardening.py FILE...: every program and DSO that is installed has a read-only jump table that is resolved at the start (RELRO, BIND_NOW), stack
canaries, and a position-independent program; some of them call checked libc functions (_FORTIFY_SOURCE)."""
import re
import subprocess
import sys
from pathlib import Path


def read(*options):
    return subprocess.run(["readelf", "-W", *options], capture_output=True, text=True, check=True).stdout


def complaints(path):
    if "GNU_RELRO" not in read("-l", path):
        yield "has no RELRO segment: link with -z relro"
    dynamic = read("-d", path)
    if not re.search(r"BIND_NOW|Flags:.*\bNOW\b", dynamic):
        yield "resolves symbols lazily: link with -z now"
    if "Type:" not in (header := read("-h", path)) or "DYN" not in re.search(r"Type:\s*(\S+)", header)[1]:
        yield "is not position-independent: link with -pie"
    if "__stack_chk_fail" not in read("--dyn-syms", path):
        yield "has no stack canaries: compile with -fstack-protector-strong"


def main():
    files = [Path(name) for name in sys.argv[1:]]
    failed = [(path.name, why) for path in files for why in complaints(str(path))]
    if not any(re.search(r"__\w+_chk@", read("--dyn-syms", str(path))) for path in files):
        failed.append(("all of them", "call no checked function: compile with -D_FORTIFY_SOURCE=2"))
    for name, why in failed:
        print(f"[fail] {name}: {why}")
    if not failed:
        print(f"[ok] {len(files)} programs and DSOs are hardened")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
