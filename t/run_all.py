#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""Runs every test of a build folder, kind by kind, and closes with the counts. ctest knows all tests and their kinds;
this adds what ctest does not print: cases per Catch2 program, subtests per sharness script, and what was skipped and why."""
import os
import re
import subprocess
import sys
import time

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


def run(build, kind):
    begin = time.monotonic()
    done = subprocess.run(["ctest", "--test-dir", build, "-L", f"^{kind}$", "-V", "--no-tests=ignore", "-j", str(os.cpu_count() or 1)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    cases, skips = count(done.stdout)
    return done, cases, skips, time.monotonic() - begin


def main():
    build = sys.argv[1]
    failed, totals, skipped = [], [], []
    for kind in KINDS:
        done, cases, skips, seconds = run(build, kind)
        if "No tests were found" in done.stdout:
            continue
        verdict = "ok" if done.returncode == 0 else "FAILED"
        print(f"       {kind:<9} {cases:>6} passed  {len(skips):>3} skipped  {seconds:6.1f} s  {verdict}", flush=True)
        totals.append((kind, cases))
        skipped += [(kind, why) for why in skips]
        if done.returncode != 0:
            failed.append(kind)
            bad = re.findall(r"^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|.*aborted.*)\)", done.stdout, re.M)
            print("       failing: " + ", ".join(bad or ["see below"]))
            print("\n".join(line for line in done.stdout.splitlines()
                            if re.search(r"not ok|FAILED|error:|\[fail\]|mismatch", line))[:8000])
    for kind, why in sorted(set(skipped)):
        print(f"       skipped in {kind}: {why}")
    print("check: " + " · ".join(f"{kind} {cases}" for kind, cases in totals) +
          (f" · FAILED: {', '.join(failed)}" if failed else f" · all passed, {len(skipped)} skipped"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
