#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""What the documents promise of command lines, for t7010.

plan TABLE FILE...   a line each: kind, place, what the document says, what to run, apart by tabs. Kinds:
  line      a command line that stands in a block of its own; run as it is, or as TABLE says
  mention   a command, perhaps with options, in running text; has help that names the options
  option    an option alone in running text; some weir command has it, or TABLE says whose it is
  A run of "not here: WHY" is for the caller to skip. TABLE has lines "SAID => RUN"; one that nobody says any more is an error.
block FILE FIRST     the lines of the first block that begins with the line FIRST, without its indent
"""
import re
import sys

PROGRAMS = r"(?:\./[\w-]+|build/\S+|weir|weir-broker|flux|cmake|ctest|my-script|frontier_bench)"
LINE = re.compile(rf"^    ({PROGRAMS}(?: .*)?)$")
MENTION = re.compile(r"`((?:weir|flux) [^`]+)`")
OPTION = re.compile(r"`(--[a-z][\w-]*)[^`]*`")


def said_in(path):
    """(kind, line number, text) in the order of the document."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            found = LINE.match(line.rstrip())
            if found:
                yield "line", number, re.sub(r"\s+#\s.*$", "", found.group(1)).strip()
                continue
            for kind, pattern in (("mention", MENTION), ("option", OPTION)):
                for text in pattern.findall(line):
                    yield kind, number, text


def table_of(path):
    table = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not line.startswith("#"):
                said, arrow, run = line.strip().partition(" => ")
                if not arrow or said in table:
                    sys.exit(f"{path}:{number}: wants a new SAID => RUN")
                table[said] = run
    return table


def help_of(mention):
    """The command without its words: `weir share set chem 40 -n` is `weir share set`, option -n."""
    program, *words = mention.split()
    options = [word.split("=")[0] for word in words if word.startswith("-")]
    names = []
    for word in words:
        if not re.fullmatch(r"[a-z-]+", word) or word.startswith("-"):
            break
        names.append(word)
    return program, " ".join(names), " ".join(options)


def plan(table_path, documents):
    table = table_of(table_path)
    unused = set(table)
    for path in documents:
        shown = "/".join(path.split("/")[-2:]) if "/doc/" in path else path.split("/")[-1]
        for kind, number, text in said_in(path):
            unused.discard(text)
            run = table.get(text)
            if run is None:
                run = text if kind == "line" else "\x1f".join(help_of(text)) if kind == "mention" else text
            elif kind == "mention" and not run.startswith("not here: "):
                kind = "line"
            print(kind, f"{shown}:{number}", text, run, sep="\t")
    if unused:
        sys.exit(f"{table_path}: no document says any more: " + "; ".join(sorted(unused)))


def block(path, first):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file]
    begin = next(i for i, line in enumerate(lines) if line.startswith("    " + first))
    for line in lines[begin:]:
        if line and not line.startswith("    "):
            break
        print(line[4:])


if __name__ == "__main__":
    plan(sys.argv[2], sys.argv[3:]) if sys.argv[1] == "plan" else block(sys.argv[2], sys.argv[3])
