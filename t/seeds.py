#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""The property tests from other seeds than the one that every check starts from: seeds.py BUILD_DIR [ROUNDS [NAME...]].
SEED_TESTS (1000) is the number of cases of each property: rare courses of events need some thousands. Prints what to write in front
of the program of a test that fails to see it fail again."""
import json
import os
import random
import subprocess
import sys


def main():
    build, rounds, names = sys.argv[1], int((sys.argv[2:] or ["1"])[0]), sys.argv[3:]
    listed = subprocess.run(["ctest", "--test-dir", build, "-L", "^property$", "--show-only=json-v1"], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    tests = [test for test in json.loads(listed)["tests"] if "RC_PARAMS" in str(test["properties"]) and
             (not names or test["name"] in names)]  # the others have seeds of their own
    failed, cases = 0, int(os.environ.get("SEED_TESTS", "1000"))
    for turn in range(1, rounds + 1):
        for test in tests:
            seed = random.SystemRandom().getrandbits(63)
            own = {p["name"]: p["value"] for p in test["properties"]}
            env = dict(os.environ, **dict(pair.split("=", 1) for pair in own.get("ENVIRONMENT", [])))
            env["RC_PARAMS"] = f"max_success={cases} seed={seed}"
            done = subprocess.run(test["command"], env=env, cwd=own.get("WORKING_DIRECTORY"), stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace")
            if done.returncode != 0:
                failed += 1
                print(f"{test['name']} fails with RC_PARAMS=\"{env['RC_PARAMS']}\"", flush=True)
        print(f"round {turn} of {rounds}: {len(tests)} tests, {failed} failures so far", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
