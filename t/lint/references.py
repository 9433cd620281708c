#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""What documents and comments refer to exists: decision records, links, paths. The records have one shape, and each stands
in the index doc/adr/README.md with its title."""
import re
import sys
from pathlib import Path

from files import project_files

TOP = Path(sys.argv[1])
RECORDS = Path("doc/adr")
TEXT = (".md", ".cpp", ".hpp", ".h", ".c", ".py", ".t", ".sh", ".cmake", ".txt", ".toml", ".json", "")
FOLDERS = "broker|cmake|cmd|doc|etc|libfairshare|libsched|modules|t"
SOURCES = "cpp|hpp|py|t|md|cmake|sh"

CITATION = re.compile(r"(?:\bADRs?\b|\badr/)[\s/#*]*(\d{4})\b((?:(?:,|\s+and|\s+to)[\s/#*]*(?:ADR )?\d{4}\b(?!\.))*)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
SPAN = re.compile(r"`([^`\n]+)`")
# A path from the root of the repository, and a file of ours by its name: job_queue.hpp, tree/payer.hpp.
ROOTED = re.compile(rf"(?<![\w/.$}}>-])((?!doc/adr/\d|\S*NNNN)(?:{FOLDERS})/[\w.{{}},*/-]*[\w}}*])")
NAMED = re.compile(rf"(?!PREFIX|\S*NNNN)(?<![\w/.$}}>*-])([\w][\w./-]*\.(?:{SOURCES}))(?![\w/*(-])")
COMMENT = re.compile(r"^\s*(?://+|#(?!include|define|if|endif|!)|\*)(.*)$|\s//+<?\s(.*)$")
# Files of other projects, and of users.
FOREIGN = {"accountant.cpp", "a.cpp", "sharness.sh"}
STATUS = re.compile(r"- Status: (?:accepted|superseded by ADR \d{4}), \d{4}-\d{2}-\d{2}")
SECTIONS = ["## Context", "## Decision", "## Consequences"]


class Tree:
    """The files of the project and how a text may name them."""

    def __init__(self):
        self.files = [p for p in project_files(TOP) if not p.parts[0].startswith("build")]
        self.paths = {str(p) for p in self.files}
        for path in list(self.paths):
            self.paths.update(str(parent) for parent in Path(path).parents)
        self.suffixes = set()
        for path in self.files:
            parts = path.parts
            self.suffixes.update("/".join(parts[i:]) for i in range(len(parts)))

    def has(self, path):
        """Whether a path names a file or folder: with * and {a,b}, and without the end of its name (t/t1010)."""
        path = path.rstrip("/").rstrip(".")
        if (braces := re.search(r"\{([^}]*)\}", path)) is not None:
            return all(self.has(path.replace(braces.group(0), one, 1)) for one in braces.group(1).split(","))
        if path in self.paths:
            return True
        wanted = re.compile(re.escape(path).replace(r"\*", "[^/]*") + r"(?:[.-][^/]*)?$")
        return any(wanted.match(p) for p in self.paths)

    def ends(self, name):
        return name in self.suffixes


def records():
    return {p.name[:4]: p for p in sorted((TOP / RECORDS).glob("[0-9]" * 4 + "-*.md"))}


def earlier():
    """Numbers of records that are part of another one now, by the index."""
    return set(re.findall(r"\b\d{4}\b", (TOP / RECORDS / "README.md").read_text().partition("## Earlier numbers")[2]))


def lint_records(found):
    index = (TOP / RECORDS / "README.md").read_text()
    for number, path in found.items():
        where = f"{RECORDS}/{path.name}"
        lines = path.read_text().splitlines()
        title = re.match(rf"# ADR {number}: (.+)$", lines[0])
        if not title:
            yield f'{where}:1: begin with "# ADR {number}: Title"'
        elif f"| [{number}]({path.name}) | {title.group(1)} |" not in index:
            yield f"{RECORDS}/README.md: no row for {number}: | [{number}]({path.name}) | {title.group(1)} | ..."
        if len(lines) < 3 or not STATUS.match(lines[2]):
            yield f'{where}:3: write "- Status: accepted, YYYY-MM-DD"'
        if [line for line in lines if line.startswith("## ")] != SECTIONS:
            yield f"{where}: the sections are {', '.join(SECTIONS)}"
    for name in LINK.findall(index):
        if re.match(r"\d{4}-", name) and not (TOP / RECORDS / name).exists():
            yield f"{RECORDS}/README.md: {name} does not exist"


def lint_citations(path, text, found):
    for match in CITATION.finditer(text):
        for number in re.findall(r"\d{4}", match.group(0)):
            if number not in found:
                line = text.count("\n", 0, match.start()) + 1
                yield f"{path}:{line}: cites decision record {number}, which does not exist; see {RECORDS}/README.md"


def bases(path):
    return [Path("."), *reversed([p for p in path.parents if str(p) != "."])]


def lint_document(path, lines, tree):
    is_block = False
    for number, line in enumerate(lines, 1):
        is_block = line.startswith("    ") or (is_block and not line.strip())
        for target in LINK.findall(line):
            if not re.match(r"\w+:|#", target):
                plain = (TOP / path.parent / target.split("#")[0]).resolve()
                if not plain.exists():
                    yield f"{path}:{number}: the link {target} leads nowhere"
        if is_block:
            continue
        names = set(ROOTED.findall(re.sub(r"\]\([^)]*\)|https?://\S+", "", line)))
        for span in SPAN.findall(line):
            if re.fullmatch(r"[\w.-]+(/[\w.*{},-]+)+/?", span) and any(
                    str(base / span.split("/")[0]) in tree.paths for base in bases(path)):
                names.add(span)
            elif re.fullmatch(rf"[\w.-]+\.(?:{SOURCES})", span) and not tree.ends(span):
                names.add(span)
        for name in sorted(names - FOREIGN):
            if not any(tree.has(str(base / name)) for base in bases(path)):
                yield f"{path}:{number}: {name} does not exist"


def lint_comments(path, lines, tree):
    for number, line in enumerate(lines, 1):
        if (match := COMMENT.search(line)) is None:
            continue
        comment = re.sub(r"https?://\S+|\S*/usr/\S*", "", match.group(1) or match.group(2) or "")
        for name in sorted(set(ROOTED.findall(comment))):
            if not tree.has(name) and not tree.has(str(path.parent / name)):
                yield f"{path}:{number}: {name} does not exist"
        for name in sorted(set(NAMED.findall(comment)) - FOREIGN):
            if not tree.ends(name.lstrip("./")) and not ROOTED.match(name):
                yield f"{path}:{number}: there is no file {name}"


def main():
    tree = Tree()
    found = records()
    known = {*found, *earlier()}
    rules = {f"{len(found)} decision records, each in the index": list(lint_records(found)), "cited records exist": [],
             "links and paths in documents exist": [], "paths in comments exist": []}
    for path in tree.files:
        if path.suffix not in TEXT or "files" in path.parts or "corpus" in path.parts:
            continue
        text = (TOP / path).read_text(errors="replace")
        lines = text.splitlines()
        rules["cited records exist"] += lint_citations(path, text, known)
        if path.suffix == ".md":
            rules["links and paths in documents exist"] += lint_document(path, lines, tree)
        elif path.suffix in (".cpp", ".hpp", ".h", ".c", ".py", ".t", ".sh", ".cmake") or path.name == "CMakeLists.txt":
            rules["paths in comments exist"] += lint_comments(path, lines, tree)
    for name, bad in rules.items():
        for line in bad:
            print(f"[fail] {line}")
        if not bad:
            print(f"[ok] {name}")
    return 1 if any(rules.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
