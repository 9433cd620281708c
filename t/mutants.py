#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""The mutants that tests claim to kill: mutants.py [--list] [--preset NAME] [TEXT...]

A comment above a TEST_CASE names one, each on a line, which may be wrapped:

    // Mutant: FILE: OLD => NEW

In a copy of the source tree (build/mutants), OLD, which stands in FILE exactly once, is replaced by NEW, the test's program
is built and that test case is run: it must fail, as it must pass without. TEXT chooses the mutants whose line or test case
contains it. A mutant that does not apply, does not build or lives is an error."""
import argparse
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLACE = os.path.join(ROOT, "build", "mutants")
TIMEOUT_S = 600
COLUMNS = 120


@dataclass(frozen=True)
class Mutant:
    test_file: str
    case: str
    file: str
    old: str
    new: str

    def __str__(self):
        return f"{self.file}: {self.old} => {self.new}"

    @property
    def test(self):
        return self.test_file, self.case

    def applied(self, source):
        """(the file's text with the mutant, ""), or ("", why it does not apply)."""
        path = os.path.join(source, self.file)
        if not os.path.isfile(path):
            return "", f"does not apply: there is no {self.file}"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.count(self.old) != 1:
            return "", f"does not apply: OLD stands {text.count(self.old)} times in {self.file}"
        return text.replace(self.old, self.new), ""


def tracked(pattern=""):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *([pattern] if pattern else [])], cwd=ROOT,
                            check=True, stdout=subprocess.PIPE, text=True).stdout
    return [path for path in listed.splitlines() if os.path.isfile(os.path.join(ROOT, path))]


def parts_of(path, number, line):
    parts = re.fullmatch(r"// Mutant: ([^:]+): (.+?) => ?(.*)", line)
    if not parts:
        sys.exit(f"{path}:{number}: must be `// Mutant: FILE: OLD => NEW`")
    return parts.groups()


def named():
    """All mutants. Error: a line that is none, or that stands above no test case."""
    found = []
    for path in tracked("t/unit"):
        waiting = []
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.startswith("// Mutant:"):
                    waiting.append((number, line.strip()))
                elif waiting and line.startswith("// "):  # clang-format has wrapped the line
                    if before + len(line.split()[1]) < COLUMNS:
                        sys.exit(f"{path}:{number}: a sentence stands above the mutant, or it is read as a part of it")
                    waiting[-1] = (waiting[-1][0], waiting[-1][1] + line[2:].rstrip())
                elif case := re.match(r'TEST_CASE\("([^"]+)"', line):
                    found += [Mutant(path, case[1], *parts_of(path, *one)) for one in waiting]
                    waiting = []
                before = len(line.rstrip())
        if waiting:
            sys.exit(f"{path}:{waiting[0][0]}: no TEST_CASE follows this mutant")
    return found


def program_of(mutant):
    """The weir_add_unit_test that lists the test's file."""
    folder, name = os.path.split(mutant.test_file)
    with open(os.path.join(ROOT, folder, "CMakeLists.txt"), encoding="utf-8") as file:
        for call in re.finditer(r"weir_add_unit_test\((\w+)([^)]*)\)", file.read()):
            if name in call[2].split():
                return call[1], os.path.join(folder, call[1])
    sys.exit(f"{mutant.test_file}: no weir_add_unit_test in its folder lists it")


def copy_source():
    """Only what differs, so that what is built stays built."""
    source = os.path.join(PLACE, "source")
    wanted = set(tracked())
    for folder, _, names in os.walk(source):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.relpath(path, source) not in wanted:
                os.unlink(path)
    for path in wanted:
        here, there = os.path.join(ROOT, path), os.path.join(source, path)
        with open(here, "rb") as file:
            data = file.read()
        if not os.path.exists(there) or open(there, "rb").read() != data:
            os.makedirs(os.path.dirname(there), exist_ok=True)
            shutil.copyfile(here, there)
            shutil.copymode(here, there)
    return source


class Copy:
    def __init__(self, preset):
        self.source, self.build = copy_source(), os.path.join(PLACE, "build")
        self.passed = {}
        # A mutant may leave a variable or a parameter unused: that is no reason not to build it. Each source is compiled
        # alone: a mutant then costs one file, not its target.
        subprocess.run(["cmake", "--preset", preset, "-DWEIR_WERROR=OFF", "-DCMAKE_UNITY_BUILD=OFF", "-B", self.build],
                       cwd=self.source, check=True, stdout=subprocess.DEVNULL)

    def run(self, mutant):
        """Whether the test case passes in the copy as it is now; None if it does not build."""
        target, path = program_of(mutant)
        built = subprocess.run(["cmake", "--build", self.build, "--target", target], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, check=False)
        if built.returncode != 0:
            print(built.stdout[-2000:])
            return None
        case = re.sub(r"([,\[\]\\])", r"\\\1", mutant.case)
        environment = dict(os.environ, WEIR_SOURCE_DIR=self.source, RC_PARAMS="max_success=1000 seed=20261121")
        try:
            done = subprocess.run([os.path.join(self.build, path), case], env=environment, cwd=self.build, timeout=TIMEOUT_S,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        except subprocess.TimeoutExpired:
            return False  # it hangs: noticed
        if "No tests ran" in done.stdout or "No test cases matched" in done.stdout:
            sys.exit(f"{mutant.test_file}: {target} has no test case \"{mutant.case}\"")
        return done.returncode == 0

    def check_unchanged(self, mutants):
        """Runs the test case of each once in the copy without a mutant, so that no later build restores one for that."""
        for mutant in mutants:
            if mutant.test not in self.passed:
                self.passed[mutant.test] = self.run(mutant)
        print(f"mutants: {sum(map(bool, self.passed.values()))} of {len(self.passed)} test cases pass without one", flush=True)

    def kills(self, mutant):
        """The verdict on one mutant; empty: it is killed. check_unchanged() has run its test."""
        if not self.passed[mutant.test]:
            return "the test fails without it"
        changed, why_not = mutant.applied(self.source)
        if why_not:
            return why_not
        path = os.path.join(self.source, mutant.file)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(changed)
            survives = self.run(mutant)
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return "does not build" if survives is None else "LIVES" if survives else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print them, check that each applies, and end")
    parser.add_argument("--preset", default="check")
    parser.add_argument("text", nargs="*")
    options = parser.parse_args()
    mutants = [m for m in named() if all(text in f"{m} {m.case} {m.test_file}" for text in options.text)]
    if options.list:
        print("\n".join(f"{m}   [{m.case}]" for m in mutants))
        wrong = [f"{m.test_file}: {m}: {why_not}" for m in mutants if (why_not := m.applied(ROOT)[1])]
        print("\n".join(wrong), file=sys.stderr)
        return 1 if wrong else 0
    mutants.sort(key=lambda m: (m.file, *m.test))  # one build restores a file and changes it again
    copy, failed = Copy(options.preset), 0
    copy.check_unchanged(mutants)
    for mutant in mutants:
        verdict = copy.kills(mutant)
        failed += bool(verdict)
        print(f"{'not ok' if verdict else 'ok'} - {mutant}   [{mutant.case}]{' # ' + verdict if verdict else ''}", flush=True)
    print(f"mutants: {len(mutants) - failed} of {len(mutants)} killed")
    return 1 if failed or not mutants else 0


if __name__ == "__main__":
    sys.exit(main())
