#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""The tree is formatted by clang-format. Mend with: git ls-files '*.cpp' '*.hpp' | xargs clang-format -i"""
import subprocess
import sys

from files import project_files

clang_format, top = sys.argv[1:3]
files = [str(p) for p in project_files(top, "*.cpp", "*.hpp")]
done = subprocess.run([clang_format, "--dry-run", "-Werror", *files], cwd=top, capture_output=True, text=True)
bad = sorted({line.split(":")[0] for line in done.stderr.splitlines() if "error:" in line})
for name in bad:
    print(f"[fail] {name}: run clang-format -i {name}")
if not bad:
    print(f"[ok] {len(files)} files are formatted")
sys.exit(1 if bad else 0)
