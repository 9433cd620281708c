#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""tidy.py on a small project: a finding in a header and in each source is found, and a name that two sources use; a clean tree
passes, though two sources have a main, and passes again from the notes of the first run.
  tidy_test.py CLANG_TIDY"""
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = """#include "libsched/all.hpp"
namespace {
int half_of_NAME(int n) {
    return n / 2;
}
}  // namespace
int NAME(int n) {
    return half_of_NAME(n);
}
int main() {
    return NAME(all(1));
}
"""
CLEAN = {"all.hpp": "#pragma once\ninline int all(int n) {\n    return n;\n}\n",
         "first.cpp": SOURCE.replace("NAME", "first"), "second.cpp": SOURCE.replace("NAME", "second")}


def expect(what, is_so, seen=""):
    if not is_so:
        sys.exit(f"not ok - {what}\n{seen}")
    print(f"[ok] {what}")


def run(top, clang_tidy):
    done = subprocess.run([sys.executable, HERE / "tidy.py", clang_tidy, top, top / "build"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def main(clang_tidy):
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder).resolve()
        (top / "libsched").mkdir()
        (top / "build").mkdir()
        shutil.copy(HERE.parent.parent / ".clang-tidy", top)
        (top / "build/compile_commands.json").write_text(json.dumps(
            [{"directory": str(top), "file": str(top / "libsched" / name), "command": f"g++ -std=c++20 -I{top} -c {name}"}
             for name in CLEAN if name.endswith(".cpp")]))

        def write(wrong=None):
            for name, text in CLEAN.items():
                (top / "libsched" / name).write_text(text.replace("int n", "int Bad").replace(" n", " Bad") if name == wrong else text)
        for name in CLEAN:
            write(wrong=name)
            code, words = run(top, clang_tidy)
            expect(f"a finding in {name}", code == 1 and f"[fail] libsched/{name}:" in words and "'Bad'" in words, words)
        write()
        second = top / "libsched/second.cpp"
        second.write_text(second.read_text().replace("half_of_second", "half_of_first"))
        code, words = run(top, clang_tidy)
        expect("a name that two sources use", code == 1 and "[fail] libsched/second.cpp:3: redefinition of 'half_of_first'" in words
               and "give it a name of its own" in words and "main" not in words, words)
        write()
        code, words = run(top, clang_tidy)
        expect("a clean tree", code == 0 and "[ok] clang-tidy (2 sources, 1 readings)" in words, words)
        code, words = run(top, clang_tidy)
        expect("the same tree again", code == 0, words)


main(sys.argv[1])
