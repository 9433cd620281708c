#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""build_cost.py BUILD: builds what ./quickstart builds (target weir_quickstart), then all else, and prints the CPU seconds of both.
The first, in units of a calibration compile (t/bench/calibration.cpp) in the same run, is compared with t/bench/baseline.json: a
fifth more than recorded, each time that it is measured, is a failure. A build from a compiler cache, or on top of older objects,
is not compared, and neither is one with other flags than the preset check has."""
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
GROWTH_MAX = 1.2
# Of equal compiles on a shared machine some cost a third more than others.
CALIBRATIONS = 5
# The build, too, costs up to a quarter more at one time than at another. What seems to have grown is built and measured again.
MEASUREMENTS = 3


def cpu_seconds(work):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def calibrations(compiler):
    """CPU seconds of single compiles, with as many at a time as the build has, since they share caches."""
    jobs = os.cpu_count() or 1

    def compile_all():
        with tempfile.TemporaryDirectory() as folder:
            running = [subprocess.Popen([compiler, "-std=c++20", "-O1", "-c", str(TOP / "t/bench/calibration.cpp"), "-o",
                                         f"{folder}/{i}.o"]) for i in range(jobs)]
            if any(process.wait() != 0 for process in running):
                sys.exit("error: the calibration file does not compile")
    compile_all()  # the first reads the headers from the disk
    return [cpu_seconds(compile_all) / jobs for _ in range(CALIBRATIONS)]


def build(folder, *targets):
    if subprocess.run(["cmake", "--build", folder, *(["--target", *targets] if targets else [])]).returncode != 0:
        sys.exit(1)


def why_not_compared(folder, cache):
    if cache.get("WEIR_CCACHE", "").endswith("ccache") and not os.environ.get("CCACHE_DISABLE"):
        return "a compiler cache answers"
    if any(folder.rglob("*.o")):
        return "some of it was there"
    if cache.get("CMAKE_CXX_FLAGS_RELEASE") != "-Og -DNDEBUG" or cache.get("CMAKE_UNITY_BUILD") != "ON":
        return "its flags are not those of the preset check"
    if not cache["CMAKE_CXX_COMPILER"].endswith(("c++", "g++")):
        return "the record is of g++"
    if recorded() is None:
        return "baseline.json has no record"
    return None


def recorded():
    return json.loads((TOP / "t/bench/baseline.json").read_text()).get("build", {}).get("quickstart_calibrations")


def has_grown(ratio, record):
    """Whether a build costs more than a fifth above the record; both in calibration compiles."""
    return ratio > record * GROWTH_MAX


def quickstart_cost(folder, compiler):
    """CPU seconds of building it, and the same in calibration compiles."""
    units = calibrations(compiler)
    seconds = cpu_seconds(lambda: build(folder, "weir_quickstart"))
    units += calibrations(compiler)
    return seconds, seconds / (sum(units) / len(units))


def main():
    folder = Path(sys.argv[1])
    cache = dict(line.replace(":", "=", 1).split("=", 2)[::2] for line in (folder / "CMakeCache.txt").read_text().splitlines()
                 if "=" in line and not line.startswith(("#", "//")))
    excuse = why_not_compared(folder, cache)
    first, ratio = quickstart_cost(str(folder), cache["CMAKE_CXX_COMPILER"])
    for _ in range(1, MEASUREMENTS):
        if excuse or not has_grown(ratio, recorded()):
            break
        print(f"build cost: {ratio:.0f} calibration compiles, more than a fifth above the record: built and measured again", flush=True)
        build(str(folder), "clean")
        first, ratio = min((first, ratio), quickstart_cost(str(folder), cache["CMAKE_CXX_COMPILER"]), key=lambda cost: cost[1])
    rest = cpu_seconds(lambda: build(str(folder)))
    print(f"build cost: {first:.0f} CPU seconds for what ./quickstart builds ({ratio:.0f} calibration compiles), {first + rest:.0f} in all")
    if excuse:
        print(f"build cost: not compared: {excuse}")
        return 0
    if has_grown(ratio, recorded()):
        print(f"build cost: FAILED: {ratio:.0f} calibration compiles, a fifth above the {recorded()} of t/bench/baseline.json")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
