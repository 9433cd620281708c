#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""House rules that a machine can hold: which folder may include which (layers.py), who may read a clock, how long a file
may be, what a file must open with, what no file may name. CONTRIBUTING.md has the rules in short. `tree.py TOP --write`
writes the table of includes into doc/architecture.md."""
import re
import sys
from pathlib import Path

import layers
from files import project_files

TOP = Path(sys.argv[1])
FILE_LINES_MAX = 500

# pure libraries: what they must not include at all (codec folders may)
PURE = ("libfairshare", "libsched")
IMPURE_HEADERS = re.compile(r'#include <(uv\.h|zmq\.h|hwloc\.h|sqlite3\.h|flux/|thread|mutex|fstream|iostream|jansson\.h|toml\+\+)')
CODECS = ("libfairshare/toml", "libfairshare/json", "libfairshare/base/json", "libfairshare/base/text", "libsched/config", "libsched/json", "libsched/sim/")
CLOCK = re.compile(r"\b(system_clock|steady_clock|high_resolution_clock|clock_gettime|gettimeofday|std::time)\b|(?<!\w)::time\b|\bsleep(_for|_until)?\s*\(|usleep|nanosleep")
CLOCK_FREE = ("libfairshare/", "libsched/", "modules/")
CLOCKS = ("modules/common/monotonic_clock.hpp",)  # what the Flux API does not give
PRIVATE = re.compile("/" + r"(work|farm|tmp/w)/|ses" + r"sion id|regis" + r"try\.npmjs")


def lint_includes(path, lines):
    layer = layers.layer_of(path)
    if layer is None:
        return
    for number, line in enumerate(lines, 1):
        target = layers.layer_of_include(line)
        if target and target not in (layer, layers.BASE) and target not in layers.LAYERS[layer]:
            yield number, f"{layer} must not include {target} (data flows one way; see doc/architecture.md)"
        if m := re.match(r'#include "([^"]+)"', line):
            if not target and "/" not in m.group(1) and not (TOP / path.parent / m.group(1)).exists():
                yield number, f'"{m.group(1)}": write includes from the root of the repository'
        if str(path).startswith(PURE) and not str(path).startswith(CODECS) and IMPURE_HEADERS.match(line):
            yield number, f"{line.strip()}: the libraries are pure; I/O belongs to modules/, broker/ and cmd/"


def lint_clock(path, lines):
    if str(path).startswith(CLOCK_FREE) and str(path) not in CLOCKS:
        for number, line in enumerate(lines, 1):
            code = line.split("//")[0]
            if CLOCK.search(code):
                yield number, "reads a clock or sleeps: take `Instant now` as an argument"


def lint_file(path, lines):
    if len(lines) > FILE_LINES_MAX:
        yield len(lines), f"{len(lines)} lines; stop at {FILE_LINES_MAX}: which second noun wants a file of its own?"
    if not any("SPDX-License-Identifier: LGPL-3.0" in line for line in lines[:3]):
        yield 1, "no SPDX line in the first three: add `SPDX-License-Identifier: LGPL-3.0-only`"


def lint_private(path, lines):
    for number, line in enumerate(lines, 1):
        if PRIVATE.search(line):
            yield number, "names a path of one machine: take it out"


def lint_doc_commands(path, lines):
    if path.suffix in (".cpp", ".hpp"):
        for number, line in enumerate(lines, 1):
            if m := re.search(r"//.*@(param|return|brief|tparam|throws|note|pre)\b", line):
                yield number, f"@{m.group(1)}: write \\{m.group(1)}, as all comments do"


def lint_tests_wait(path, lines):
    if path.suffix == ".t" or "sharness.d" in str(path):
        for number, line in enumerate(lines, 1):
            if re.search(r"(^|[;&|({]\s*|\bthen\s+|\bdo\s+)sleep\s+[0-9.]", line) and "flux submit" not in line:
                yield number, "waits for time: wait for the event instead"


def main():
    if "--write" in sys.argv:
        layers.write(TOP)
    code = project_files(TOP, "*.cpp", "*.hpp", "*.h", "*.c", "*.py", "CMakeLists.txt", "*.cmake", "*.t", "*.sh")
    failures = 0
    rules = {"layering and purity": lint_includes, "no clock, no sleep in pure code": lint_clock,
             "file length and licence": lint_file, "no private paths": lint_private, "one form of doc commands": lint_doc_commands,
             "system tests wait on events": lint_tests_wait}
    for name, rule in rules.items():
        bad = 0
        for path in code:
            lines = (TOP / path).read_text(errors="replace").splitlines()
            for number, what in rule(path, lines):
                print(f"[fail] {path}:{number}: {what}")
                bad += 1
        failures += bad
        if not bad:
            print(f"[ok] {name} ({len(code)} files)")
    bad = list(layers.wrong_in(TOP, [path for path in code if path.suffix in (".cpp", ".hpp", ".h")]))
    for path, number, what in bad:
        print(f"[fail] {path}:{number}: {what}")
    if not bad:
        print("[ok] layers are exact, and doc/architecture.md shows them")
    return 1 if failures or bad else 0


sys.exit(main())
