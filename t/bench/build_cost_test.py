#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""build_cost.py fails where the build's cost grows. The script runs on a small project whose files cost one calibration
compile each: with as many as recorded it passes; with three times as many it fails. The limit of a fifth is checked to the
number."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import build_cost

CALIBRATION = "#include <tuple>\nstd::tuple<int, char> NAME{1, 'x'};\n"
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(small CXX)
set(CMAKE_CXX_STANDARD 20)
find_program(WEIR_CCACHE ccache)
file(GLOB sources *.cpp)
add_library(small STATIC ${sources})
set_target_properties(small PROPERTIES UNITY_BUILD OFF)
add_custom_target(weir_quickstart DEPENDS small)
"""
FILES = 4


def expect(what, is_so, seen=""):
    if not is_so:
        sys.exit(f"not ok - {what}\n{seen}")
    print(f"[ok] {what}")


def run(top, files):
    """Builds a project of so many files from nothing. The script's exit code and its words."""
    source, folder = top / "small", top / "build"
    for path in source, folder:
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
    (source / "CMakeLists.txt").write_text(PROJECT)
    for i in range(files):
        (source / f"file{i}.cpp").write_text(CALIBRATION.replace("NAME", f"name{i}"))
    environment = dict(os.environ, CCACHE_DISABLE="1")
    subprocess.run(["cmake", "-G", "Ninja", "-S", source, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_COMPILER=g++",
                    "-DCMAKE_CXX_FLAGS_RELEASE=-Og -DNDEBUG", "-DCMAKE_UNITY_BUILD=ON"], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([sys.executable, top / "t/bench/build_cost.py", folder], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def main():
    expect("19 per cent more is no failure", not build_cost.has_grown(1.19 * 234, 234))
    expect("21 per cent more is a failure", build_cost.has_grown(1.21 * 234, 234))
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        (top / "t/bench").mkdir(parents=True)
        shutil.copy(build_cost.TOP / "t/bench/build_cost.py", top / "t/bench")
        (top / "t/bench/calibration.cpp").write_text(CALIBRATION.replace("NAME", "name"))
        record = top / "t/bench/baseline.json"
        record.write_text(json.dumps({"build": {"quickstart_calibrations": 2 * FILES}}))  # between once and three times: no noise decides
        code, words = run(top, FILES)
        expect("the recorded cost passes", code == 0 and "not compared" not in words, words)
        code, words = run(top, 3 * FILES)
        expect("three times the files fail", code == 1 and re.search(r"build cost: FAILED: \d+ calibration compiles", words), words)
        expect("what seems to have grown is measured again", words.count("built and measured again") == build_cost.MEASUREMENTS - 1, words)
        record.write_text("{}")
        code, words = run(top, FILES)
        expect("without a record nothing is compared", code == 0 and "baseline.json has no record" in words, words)


main()
