#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""clang-tidy over all sources but the tests', by .clang-tidy. The sources of a folder are read as one file, since the headers
are most of the work: the whole tree takes two CPU-minutes instead of twenty. Where two sources use one name of an anonymous
namespace, the later one does not compile there; all such sources are read once more, as a file of their own. A folder that has
not changed since it was found clean is not read again.
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
FINDING = re.compile(r"^(/\S+?):(\d+):\d+: (?:error|warning): (.*)$", re.M)  # file, line, what
ERROR = "[clang-diagnostic-error"


def sources_of(entry):
    """The file of a compile command, or the files that a unity file of CMake includes."""
    path = Path(entry["directory"], entry["file"])
    if path.name.startswith("unity_"):
        return re.findall(r'#include "(.*)"', path.read_text())
    return [str(path)]


def folders(top, build):
    """folder -> ([source], [argument])"""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        for source in sources_of(entry):
            folder = Path(source).relative_to(top).parts[0]
            if folder not in FOLDERS or not source.endswith(".cpp"):
                continue
            sources, arguments = found.setdefault(folder, (set(), {}))
            sources.add(source)
            arguments.update({w: None for i, w in enumerate(words) if w.startswith(("-I", "-D", "-isystem", "-std="))
                              or words[i - 1] == "-isystem"})
    return {folder: (sorted(sources), list(arguments)) for folder, (sources, arguments) in found.items()}


class Tidy:
    def __init__(self, program, top, notes):
        self.program, self.top, self.notes = program, top, notes

    def examine(self, folder, sources, arguments, state):
        """The findings of one folder. One that was clean in this state is not read again."""
        digest = hashlib.sha256(" ".join([state, *sources, *arguments]).encode()).hexdigest()
        clean = self.notes / f"{folder}.clean"
        if clean.exists() and clean.read_text() == digest:
            return set()
        findings = self.read(folder, sources, arguments)
        if not findings:
            clean.write_text(digest)
        return findings

    def read(self, name, sources, arguments):
        """The findings of sources read as one file; those that do not compile behind the others are read again."""
        unity = self.notes / f"{name}.cpp"
        unity.write_text("".join(f'#include "{source}"\n' for source in sources))
        done = subprocess.run([self.program, "--quiet", "--config-file", str(self.notes / "config"), str(unity), "--",
                               "-ferror-limit=0", *arguments], capture_output=True, text=True)
        findings = {(file, line, what) for file, line, what in FINDING.findall(done.stdout + done.stderr)}
        refused = {file for file, _, what in findings if ERROR in what}
        again = [source for source in sources if source in refused]
        if again and len(sources) > 1:
            half = len(again) // 2 if len(again) == len(sources) else 0  # all of them: read fewer at once
            kept = {finding for finding in findings if finding[0] not in again and finding[0].startswith(f"{self.top}/")}
            for part, some in (("first", again[:half]), ("again", again[half:])):
                kept |= self.read(f"{name}-{part}", some, arguments) if some else set()
            return kept
        if done.returncode != 0 and not findings:
            findings = {(name, "", (done.stdout + done.stderr).strip()[-500:])}
        return findings


def main(clang_tidy, top, build):
    notes = build / "tidy"
    notes.mkdir(exist_ok=True)
    (notes / "config").write_text((top / ".clang-tidy").read_text())
    # Any header may matter to any folder; to follow them would cost more than it spares.
    headers = [p for p in project_files(top, "*.hpp", "*.h") if p.parts[0] in FOLDERS]
    version = subprocess.run([clang_tidy, "--version"], capture_output=True, text=True).stdout
    common = version + (top / ".clang-tidy").read_text() + "".join((top / p).read_text() for p in headers)
    groups = sorted(folders(top, build).items(), key=lambda item: -len(item[1][0]))
    tidy = Tidy(clang_tidy, top, notes)
    findings = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda group: tidy.examine(group[0], *group[1], common + "".join(
                Path(source).read_text() for source in group[1][0])), groups):
            findings |= found
    for file, line, what in sorted(findings):
        print(f"[fail] {file.removeprefix(str(top) + '/')}:{line}: {what}")
    if not findings:
        print(f"[ok] clang-tidy ({sum(len(sources) for _, (sources, _) in groups)} sources in {len(groups)} folders)")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()))
