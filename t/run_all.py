#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""Runs every test of a build folder and closes with the counts of each kind. ctest knows all tests and their kinds; this adds
what ctest does not print: cases per Catch2 program, subtests per sharness script, and what was skipped and why.
  run_all.py BUILD_DIR"""
import collections
import json
import os
import re
import subprocess
import sys
import time

# More failures than this are no matter of a busy machine.
ALONE_MAX = 4
# Kinds whose tests wait for real brokers, with limits on how long. One that fails is run again with nothing beside it.
WAITING = ("system", "chaos")
KINDS = ("lint", "unit", "property", "oracle", "corpus", "bench", *WAITING)


class Test:
    def __init__(self, name, kind):
        self.name, self.kind, self.lines, self.verdict = name, kind, [], None

    def cases(self):
        """From Catch2 summaries and TAP."""
        output = "\n".join(self.lines)
        cases = 0
        for m in re.finditer(r"All tests passed \([\d,]+ assertions? in ([\d,]+) test cases?\)", output):
            cases += int(m.group(1).replace(",", ""))
        cases += len(re.findall(r"^ok \d+(?!.*# skip)", output, re.M | re.I))
        cases += sum(int(m.group(1)) for m in re.finditer(r"^total (\d+)/\d+ cases", output, re.M))
        return cases + len(re.findall(r"^\[ok\]", output, re.M))

    def skips(self):
        found = re.findall(r"^(?:ok \d+ # skip (.*)|1\.\.0 # SKIP (.*)|\[skip\] (.*))$", "\n".join(self.lines), re.M | re.I)
        return [next((why for why in groups if why), "no reason given") for groups in found]

    def show_failure(self):
        """The lines that say what failed, with what was printed before, and the comments of a TAP line; the end of the output
        where there are none."""
        told = [at for at, line in enumerate(self.lines) if re.search(r"^not ok|^[^#]*(FAILED|error:|mismatch)|^\[fail\]", line)]
        shown = {line for at in told for line in range(max(0, at - 12), at + 1)}
        for at in told:
            while at + 1 < len(self.lines) and self.lines[at + 1].startswith("#"):
                at += 1
                shown.add(at)
        shown = sorted(shown)
        print(f"       {self.name}: {self.verdict}")
        print("\n".join([self.lines[at] for at in shown] or self.lines[-20:])[:6000], flush=True)


def tests_of(build):
    """number in ctest's output -> Test"""
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], stdout=subprocess.PIPE, check=True)
    tests = {}
    for number, entry in enumerate(json.loads(listed.stdout)["tests"], 1):
        labels = [p["value"] for p in entry.get("properties", []) if p["name"] == "LABELS"]
        tests[number] = Test(entry["name"], labels[0][0] if labels else "none")
    return tests


def run(build, tests, jobs, ended):
    """Runs these tests, with so many jobs, and calls `ended` after each."""
    numbers = ",".join(map(str, tests))
    ctest = subprocess.Popen(["ctest", "--test-dir", build, "-V", "-j", str(jobs), "-I", f"0,0,0,{numbers}"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    for line in ctest.stdout:
        said = re.match(r"(\d+): (.*)", line)
        end = re.match(r"\s*\d+/\d+ +Test +#(\d+): \S+ \.*\s*\**(.*?) +[\d.]+ sec", line)
        if said and int(said.group(1)) in tests:
            tests[int(said.group(1))].lines.append(said.group(2))
        elif end:
            test = tests[int(end.group(1))]
            test.verdict = end.group(2).strip()
            ended(test)
    ctest.wait()


class Report:
    """A line for each kind, as soon as its last test ended."""

    def __init__(self, tests):
        self.tests, self.begin = tests, time.monotonic()

    def of_kind(self, kind):
        return [test for test in self.tests.values() if test.kind == kind]

    def __call__(self, test):
        same = self.of_kind(test.kind)
        left = sum(other.verdict is None for other in self.tests.values())
        if sys.stdout.isatty():
            print(f"\r       {len(self.tests) - left} of {len(self.tests)} tests  \r", end="", flush=True)
        if all(other.verdict is not None for other in same):
            is_ok = all(other.verdict == "Passed" for other in same)
            print(f"       {test.kind:<9} {sum(t.cases() for t in same):>6} passed  {sum(len(t.skips()) for t in same):>3} "
                  f"skipped  after {time.monotonic() - self.begin:6.1f} s  {'ok' if is_ok else 'FAILED'}", flush=True)


def use_system_python(folder):
    """The tests start Python some thousand times. The system's starts in 20 ms; one of a version manager takes up to 140."""
    system = "/usr/bin/python3"
    if os.path.exists(system):
        os.makedirs(folder, exist_ok=True)
        link = os.path.join(folder, "python3")
        if not os.path.islink(link):
            os.symlink(system, link)
        os.environ["PATH"] = os.path.abspath(folder) + os.pathsep + os.environ["PATH"]


def main():
    build = sys.argv[1]
    use_system_python(os.path.join(build, "python"))
    tests = tests_of(build)
    if not tests:
        sys.exit(f"{build} has no tests: build it first")
    # Tests that wait for brokers leave the cores to others, so that more of them run than there are cores.
    run(build, tests, 2 * (os.cpu_count() or 1), Report(tests))
    failed = {number: test for number, test in tests.items() if test.verdict != "Passed"}
    for test in failed.values():
        test.show_failure()
    unsteady = []
    if 0 < len(failed) <= ALONE_MAX and all(test.kind in WAITING for test in failed.values()):
        print("       again, alone", flush=True)
        again = {number: Test(test.name, test.kind) for number, test in failed.items()}
        run(build, again, 1, lambda test: None)
        tests.update(again)
        unsteady = [test.name for test in again.values() if test.verdict == "Passed"]
        failed = {number: test for number, test in again.items() if test.verdict != "Passed"}
        for test in failed.values():
            test.show_failure()
    # What many lines of a document share is said once.
    skipped = collections.Counter((test.kind, re.sub(r"^([^ :]+):\d+:", r"\1:", why)) for test in tests.values() for why in test.skips())
    for (kind, why), times in sorted(skipped.items()):
        print(f"       skipped in {kind}: {why}" + (f", {times} times" if times > 1 else ""))
    if unsteady:
        print("       passed only alone, which is a fault of the test or of what it tests: " + ", ".join(unsteady))
    counts = [(kind, sum(test.cases() for test in tests.values() if test.kind == kind)) for kind in KINDS]
    print("check: " + " · ".join(f"{kind} {cases}" for kind, cases in counts if cases) +
          (f" · FAILED: {', '.join(test.name for test in failed.values())}" if failed else
           f" · all passed, {sum(len(test.skips()) for test in tests.values())} skipped"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
