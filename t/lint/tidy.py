#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""clang-tidy over all sources but the tests', by .clang-tidy. A target's sources are read as one file, since the headers
are most of the work: the whole tree takes two to three CPU-minutes instead of twenty. (Where two of them use a name of an
anonymous namespace, it takes longer: the target is read in halves.) A target that has not changed since it was found clean
is not read again.
By hand, from the top: python3 t/lint/tidy.py clang-tidy . build/check
  tidy.py CLANG_TIDY TOP BUILD    BUILD has compile_commands.json and takes the notes of what was clean"""
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from files import project_files

FOLDERS = ("libfairshare", "libsched", "modules", "broker", "cmd")
FINDING = re.compile(r"^(/\S+?:\d+):\d+: (?:error|warning): (.*)$", re.M)


def sources_of(entry):
    """The file of a compile command, or the files that a unity file of CMake includes."""
    path = Path(entry["directory"], entry["file"])
    if path.name.startswith("unity_"):
        return re.findall(r'#include "(.*)"', path.read_text())
    return [str(path)]


def targets(top, build):
    """target -> ([source], [argument]); a source that two targets compile belongs to the first."""
    found, seen = {}, set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        target = re.search(r"CMakeFiles/([^/]+)\.dir/", entry.get("output") or entry["command"])
        words = shlex.split(entry["command"])
        for source in sources_of(entry):
            if Path(source).relative_to(top).parts[0] in FOLDERS and source.endswith(".cpp") and source not in seen:
                seen.add(source)
                arguments = [w for i, w in enumerate(words) if w.startswith(("-I", "-D", "-isystem", "-std="))
                             or words[i - 1] == "-isystem"]
                found.setdefault(target.group(1), ([], arguments))[0].append(source)
    return found


def examine(clang_tidy, notes, target, sources, arguments, state):
    """The findings of one target; [] when there are none, or when it was clean in this state before."""
    digest = hashlib.sha256(" ".join([state, *sources, *arguments]).encode()).hexdigest()
    clean = notes / f"{target}.clean"
    if clean.exists() and clean.read_text() == digest:
        return []
    findings = read(clang_tidy, notes, target, sorted(sources), arguments)
    if not findings:
        clean.write_text(digest)
    return findings


def read(clang_tidy, notes, name, sources, arguments):
    """The findings of sources read as one file; in halves where that does not compile since two share a name."""
    unity = notes / f"{name}.cpp"
    unity.write_text("".join(f'#include "{source}"\n' for source in sources))
    done = subprocess.run([clang_tidy, "--quiet", "--config-file", str(notes / "config"), str(unity), "--",
                           "-ferror-limit=0", *arguments], capture_output=True, text=True)
    findings = sorted(set(FINDING.findall(done.stdout + done.stderr)))
    if len(sources) > 1 and any("[clang-diagnostic-error" in what for _, what in findings):
        half = len(sources) // 2
        return (read(clang_tidy, notes, name + "-1", sources[:half], arguments) +
                read(clang_tidy, notes, name + "-2", sources[half:], arguments))
    if done.returncode != 0 and not findings:
        findings = [(name, (done.stdout + done.stderr).strip()[-500:])]
    return findings


def main(clang_tidy, top, build):
    notes = build / "tidy"
    notes.mkdir(exist_ok=True)
    (notes / "config").write_text((top / ".clang-tidy").read_text())
    # Any header may matter to any target; to follow them would cost more than it spares.
    headers = [p for p in project_files(top, "*.hpp", "*.h") if p.parts[0] in FOLDERS]
    version = subprocess.run([clang_tidy, "--version"], capture_output=True, text=True).stdout
    common = version + (top / ".clang-tidy").read_text() + "".join((top / p).read_text() for p in headers)
    groups = sorted(targets(top, build).items(), key=lambda item: -len(item[1][0]))
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = [pool.submit(examine, clang_tidy, notes, target, sources, arguments,
                            common + "".join(Path(s).read_text() for s in sources))
                for target, (sources, arguments) in groups]
        for place, what in sorted({finding for run in runs for finding in run.result()}):
            print(f"[fail] {place.removeprefix(str(top) + '/')}: {what}")
            bad += 1
    if not bad:
        print(f"[ok] clang-tidy ({sum(len(s) for s, _ in dict(groups).values())} sources in {len(groups)} targets)")
    return 1 if bad else 0


sys.exit(main(sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()))
