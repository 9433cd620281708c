#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""doc/rfc-map.md: each clause names the test cases that show its standing, and these exist. Each RFC has a row or stands among
those that concern no broker."""
import re
import sys
from pathlib import Path

TOP = Path(sys.argv[1])
MAP = Path("doc/rfc-map.md")
HEAD = "| RFC | clause | standing | where | shown by |"
STANDINGS = re.compile(r"(whole|part|left out)(: |$)")
NO_ROW = re.compile(r"^RFCs that concern no broker: (.+)\.$", re.M)
RFCS = set(range(1, 51)) - {8, 17}  # numbers that were never given
CASE = re.compile(r"`(t/[\w./-]+)`: (.+?)(?:; (?=`t/)|$)")


def cases(path):
    """The names of the cases of a test file, or of the lines of a list of commands."""
    text = (TOP / path).read_text(encoding="utf-8")
    if path.endswith(".t"):
        found = re.findall(r"^\s*(?:test_expect_success (?:[A-Z_,]+ )?|try )(?:'((?:[^'\n]|'\\'')*)'|\"([^\"\n]*)\")", text, re.M)
        return {(single or double).replace("'\\''", "'") for single, double in found}
    if path.endswith(".txt"):
        return {line.partition(" | ")[0].strip() for line in text.splitlines() if not line.startswith(("#", "~", " "))}
    return set(re.findall(r'^TEST_CASE\("((?:[^"\\]|\\.)*)"', text, re.M))


def lint_row(cells):
    if len(cells) != 5:
        yield f"the row has {len(cells)} cells, not 5"
        return
    rfc, _, standing, _, shown = cells
    kind = STANDINGS.match(standing)
    if not kind:
        yield f'RFC {rfc}: the standing is "whole", "part: what" or "left out: what instead", not "{standing}"'
    elif kind[1] != "whole" and kind[2] != ": ":
        yield f'RFC {rfc}: "{kind[1]}" says what'
    named = CASE.findall(shown)
    if "; ".join(f"`{path}`: {case}" for path, case in named) != shown:
        yield f"RFC {rfc}: the last cell is `t/FILE`: CASE; `t/FILE`: CASE"
    if not named:
        yield f"RFC {rfc}: no test shows it"
    for path, case in named:
        if not (TOP / path).is_file():
            yield f"RFC {rfc}: {path} does not exist"
        elif case not in cases(path):
            yield f'RFC {rfc}: {path} has no case "{case}"'


def numbers(text):
    return {int(number) for number in re.findall(r"\d+", text)}


def lint_map(text):
    lines = text.splitlines()
    if HEAD not in lines:
        yield 0, f"no table begins with {HEAD}"
        return
    begin = lines.index(HEAD)
    seen = set()
    for number, line in enumerate(lines[begin + 2:], begin + 3):
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        seen |= numbers(cells[0])
        yield from ((number, wrong) for wrong in lint_row(cells))
    others = NO_ROW.search(text)
    for rfc in sorted(RFCS ^ (seen | (numbers(others[1]) if others else set()))):
        yield begin + 1, f"RFC {rfc}: has no row and is not among those that concern no broker, or there is no such RFC"


def main():
    wrong = [f"[fail] {MAP}:{line}: {what}" for line, what in lint_map((TOP / MAP).read_text(encoding="utf-8"))]
    print("\n".join(wrong) or "[ok] each clause of an RFC names test cases that exist")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
