#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""clang-tidy over all sources but the tests', by .clang-tidy. The sources of a folder are read as one file, since the headers
are most of the work: the whole tree takes two CPU-minutes instead of twenty. So no two sources of a folder may use one name
in their anonymous namespaces: the later one does not compile there, which is a finding. Each may have its own entry point
(main, mod_main). A folder that has not changed since it was found clean is not read again.
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
# What cannot be in one file with the rest of its folder is a reading of its own.
ALONE = {"libfairshare/toml/share_tree_toml.cpp": "libfairshare-toml"}  # toml++ without exceptions; toml_json.cpp has them
ENTRY_POINT = re.compile(r'^(?:extern "C" .*)?\bint (main|mod_main|flux_plugin_init)\(', re.M)
FINDING = re.compile(r"^(/\S+?):(\d+):\d+: (?:error|warning): (.*)$", re.M)  # file, line, what
ERROR = "[clang-diagnostic-error"
COLLISION = (": the sources of a folder are read as one file; if this one compiles alone, another source uses the same name: "
             "give it a name of its own")


def sources_of(entry):
    """The file of a compile command, or the files that a unity file of CMake includes."""
    path = Path(entry["directory"], entry["file"])
    if path.name.startswith("unity_"):
        return re.findall(r'#include "(.*)"', path.read_text())
    return [str(path)]


def readings(top, build):
    """folder, or a name of ALONE -> ([source], [argument])"""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        for source in sources_of(entry):
            path = Path(source).relative_to(top)
            if path.parts[0] not in FOLDERS or path.suffix != ".cpp":
                continue
            sources, arguments = found.setdefault(ALONE.get(str(path), path.parts[0]), (set(), {}))
            sources.add(source)
            arguments.update({w: None for i, w in enumerate(words) if w.startswith(("-I", "-D", "-isystem", "-std="))
                              or words[i - 1] == "-isystem"})
    return {name: (sorted(sources), list(arguments)) for name, (sources, arguments) in found.items()}


def included(number, source):
    """The lines of the one file for a source. Its entry point gets a name of its own."""
    names = sorted(set(ENTRY_POINT.findall(Path(source).read_text())))
    return "".join([*(f"#define {name} {name}_of_{number}\n" for name in names), f'#include "{source}"\n',
                    *(f"#undef {name}\n" for name in names)])


class Tidy:
    def __init__(self, program, top, notes):
        self.program, self.top, self.notes = program, top, notes

    def examine(self, name, sources, arguments, state):
        """The findings of one reading. One that was clean in this state is not repeated."""
        digest = hashlib.sha256(" ".join([state, *sources, *arguments]).encode()).hexdigest()
        clean = self.notes / f"{name}.clean"
        if clean.exists() and clean.read_text() == digest:
            return set()
        findings = self.read(name, sources, arguments)
        if not findings:
            clean.write_text(digest)
        return findings

    def read(self, name, sources, arguments):
        """The findings of sources read as one file."""
        unity = self.notes / f"{name}.cpp"
        unity.write_text("".join(included(number, source) for number, source in enumerate(sources)))
        done = subprocess.run([self.program, "--quiet", "--config-file", str(self.notes / "config"), str(unity), "--",
                               "-ferror-limit=0", *arguments], capture_output=True, text=True)
        found = {(file, int(line), what) for file, line, what in FINDING.findall(done.stdout + done.stderr)}
        # A wrong use of a template is an error in the standard library, too.
        findings = {finding for finding in found if finding[0].startswith(f"{self.top}/")} or found
        if done.returncode != 0 and not findings:
            findings = {(name, 0, (done.stdout + done.stderr).strip()[-500:])}
        return findings


def main(clang_tidy, top, build):
    notes = build / "tidy"
    notes.mkdir(exist_ok=True)
    (notes / "config").write_text((top / ".clang-tidy").read_text())
    # Any header may matter to any folder; to follow them would cost more than it spares.
    headers = [p for p in project_files(top, "*.hpp", "*.h") if p.parts[0] in FOLDERS]
    version = subprocess.run([clang_tidy, "--version"], capture_output=True, text=True).stdout
    common = version + (top / ".clang-tidy").read_text() + "".join((top / p).read_text() for p in headers)
    groups = sorted(readings(top, build).items(), key=lambda item: -len(item[1][0]))
    tidy = Tidy(clang_tidy, top, notes)
    findings = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda group: tidy.examine(group[0], *group[1], common + "".join(
                Path(source).read_text() for source in group[1][0])), groups):
            findings |= found
    refused = set()
    for file, line, what in sorted(findings):
        # One name that collides often causes further errors in its file.
        hint = COLLISION if ERROR in what and file not in refused else ""
        refused |= {file} if hint else set()
        print(f"[fail] {file.removeprefix(str(top) + '/')}:{line}: {what}{hint}")
    if not findings:
        print(f"[ok] clang-tidy ({sum(len(sources) for _, (sources, _) in groups)} sources, {len(groups)} readings)")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()))
