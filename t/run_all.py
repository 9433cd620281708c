#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""Runs every test of a build folder, kind by kind, and closes with the counts. ctest knows all tests and their kinds;
this adds what ctest does not print: cases per Catch2 program, subtests per sharness script, and what was skipped and why."""
import os
import re
import subprocess
import sys
import time

# More failures than this are no matter of a busy machine.
ALONE_MAX = 4
KINDS = ("lint", "unit", "property", "oracle", "corpus", "bench", "system", "chaos")


def count(output):
    """(passed, skipped lines) from Catch2 summaries and TAP in ctest's verbose output."""
    cases = 0
    for m in re.finditer(r"All tests passed \([\d,]+ assertions? in ([\d,]+) test cases?\)", output):
        cases += int(m.group(1).replace(",", ""))
    cases += len(re.findall(r"^\d+: ok \d+(?!.*# skip)", output, re.M | re.I))
    cases += sum(int(m.group(1)) for m in re.finditer(r"^\d+: total (\d+)/\d+ cases", output, re.M))
    cases += len(re.findall(r"^\d+: \[ok\]", output, re.M))
    skips = re.findall(r"^\d+: (?:ok \d+ # skip (.*)|1\.\.0 # SKIP (.*)|\[skip\] (.*))$", output, re.M | re.I)
    return cases, [next(s for s in groups if s) if any(groups) else "no reason given" for groups in skips]


def ctest(build, kind, *options):
    return subprocess.run(["ctest", "--test-dir", build, "-L", f"^{kind}$", "-V", "--no-tests=ignore", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")


def failed_tests(done):
    return re.findall(r"^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|.*aborted.*)\)", done.stdout, re.M)


def show_failures(done):
    print("       failing: " + ", ".join(failed_tests(done) or ["see below"]))
    print("\n".join(line for line in done.stdout.splitlines()
                    if re.search(r"not ok|FAILED|error:|\[fail\]|mismatch", line))[:8000], flush=True)


def run(build, kind):
    """(what ctest said last, cases, skips, seconds, tests that passed only alone). System tests run real brokers beside
    each other, with limits on how long they wait. One that fails there is run again with nothing beside it."""
    begin = time.monotonic()
    done = ctest(build, kind, "-j", str(os.cpu_count() or 1))
    cases, skips = count(done.stdout)
    alone = failed_tests(done) if kind == "system" else []
    if 0 < len(alone) <= ALONE_MAX:
        show_failures(done)
        done = ctest(build, kind, "-j", "1", "-R", "^(" + "|".join(map(re.escape, alone)) + ")$")
        cases += count(done.stdout)[0]
    return done, cases, skips, time.monotonic() - begin, alone


def main():
    build = sys.argv[1]
    failed, totals, skipped, unsteady = [], [], [], []
    for kind in KINDS:
        done, cases, skips, seconds, alone = run(build, kind)
        if "No tests were found" in done.stdout:
            continue
        verdict = "ok" if done.returncode == 0 else "FAILED"
        print(f"       {kind:<9} {cases:>6} passed  {len(skips):>3} skipped  {seconds:6.1f} s  {verdict}", flush=True)
        totals.append((kind, cases))
        skipped += [(kind, why) for why in skips]
        if done.returncode != 0:
            failed.append(kind)
            show_failures(done)
        else:
            unsteady += alone
    for kind, why in sorted(set(skipped)):
        print(f"       skipped in {kind}: {why}")
    if unsteady:
        print("       passed only alone, which is a fault of the test or of what it tests: " + ", ".join(unsteady))
    print("check: " + " · ".join(f"{kind} {cases}" for kind, cases in totals) +
          (f" · FAILED: {', '.join(failed)}" if failed else f" · all passed, {len(skipped)} skipped"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
