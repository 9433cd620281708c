#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""Holds what commands print with --json against the tables of doc/json.md, for t7120. The page says how its tables are read.

check PAGE FILE...              each member of these answers is in the page with its type, and the reverse
shown PAGE UNSHOWN FILE...      these answers show each member of the page, each type of it, and what may be absent absent as
                                well; UNSHOWN has lines "ANSWER PATH: WHY" for what they cannot show
sources PAGE FOLDER             the page has the schemas that the sources print, and no other
commands PAGE WORDS...          the page names these commands ("weir jobs"), and no other
ran PAGE FILE...                FILE.words, the words of the command behind an answer, begin with a command that the page
                                names at the schema; each command of the page ran

Each fault is a line with schema, member and the line of the page; status 1 if there is one."""
import json
import re
import sys
from pathlib import Path

SCHEMA = re.compile(r"weir\.[a-z0-9-]+/[0-9]+")
COMMAND = re.compile(r"`(weir [a-z][a-z -]*)`")
PATH = re.compile(r"[\w-]*(?:\[\]|\{\})*(?:\.[\w-]+(?:\[\]|\{\})*)*\??|\.")
TYPES = {"text", "bool", "list", "object", "null", "integer", "number", "any"}
LINK = re.compile(r"\[([\w ]+)\]\(#[\w-]+\)")


class PageError(Exception):
    pass


class Member:
    """What the page says of one place in an answer, and what answers have shown of it."""

    def __init__(self):
        self.types, self.links, self.line = set(), [], None  # no line: only the paths of other rows go through it
        self.members, self.each = {}, {}                     # by name; by [] and {}
        self.may_be_absent, self.was_absent = False, False
        self.kinds = set()

    def child(self, step):
        known = self.each if step in ("[]", "{}") else self.members
        return known.setdefault(step, Member())


class Table:
    """An answer, or an object that several have."""

    def __init__(self, line):
        self.line, self.top, self.commands = line, Member(), []


def steps_of(path):
    return re.findall(r"\[\]|\{\}|[\w-]+", path)


def kind_of(value):
    if value is None:
        return "null"
    for kind, python in (("bool", bool), ("integer", int), ("number", float), ("text", str), ("list", list)):
        if isinstance(value, python):
            return kind
    return "object"


def types_of(said, line):
    """Names of types, and of tables that a type is a link to."""
    types, links = set(), []
    for word in said.split(" or "):
        link = LINK.fullmatch(word)
        if not link and word not in TYPES:
            raise PageError(f"line {line}: there is no type {word}")
        links += [(link.group(1), line)] if link else []
        types |= set() if link else {word}
    return types, links


def add_row(table, cells, line):
    """One row of a table: its paths, and one type for all or one each."""
    paths, types = re.findall(r"`([^`]+)`", cells[0]), cells[1].split(", ")
    if not paths or len(types) not in (1, len(paths)) or not all(PATH.fullmatch(path) for path in paths):
        raise PageError(f"line {line}: {len(paths)} members and {len(types)} types")
    for path, said in zip(paths, types if len(types) > 1 else types * len(paths)):
        if path.startswith(".") and path != ".":
            path = re.sub(r"[^.]*$", "", paths[0]) + path[1:]
        member = owner = table.top
        for step in steps_of(path):
            member = member.child(step)
            owner = owner if step in ("[]", "{}") else member
        if member.line is not None:
            raise PageError(f"line {line}: {path} stands in line {member.line} already")
        found, links = types_of(said, line)
        member.types, member.links = found, member.links + links
        member.line = None if path == "." else line
        if path.endswith("?"):
            owner.may_be_absent, owner.line = True, owner.line or line


def read_page(path):
    """Tables by schema, and of objects by name. A heading names the table below it; where a table has a column for names, the
    rows from one name to the next are a table."""
    tables, table, columns = {}, None, []
    for number, text in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        cells = [cell.strip() for cell in text[1:-1].split("|")] if text.startswith("|") else []
        is_named_by_row = bool(cells) and columns[:1] in (["answer"], ["object"])
        title = text[4:] if text.startswith("### ") else cells[0].strip("-") if is_named_by_row else ""
        if title:
            schema = SCHEMA.search(title)
            table = tables.setdefault(schema.group(0) if schema else title, Table(number))
            table.commands += COMMAND.findall(title) if schema else []
        if not cells:
            columns = []
        elif not columns:
            columns = cells
        elif "member" in columns and table and not cells[0].startswith("---"):
            if len(cells) != len(columns):
                raise PageError(f"line {number}: {len(cells)} cells, not {len(columns)}")
            add_row(table, cells[columns.index("member"):], number)
    for name, one in tables.items():
        link_all(tables, name, one.top)
    return {name: one for name, one in tables.items() if one.top.members or one.top.links}


def link_all(tables, name, member):
    for linked, line in member.links:
        if linked not in tables:
            raise PageError(f"line {line}: there is no table {linked}")
    for child in [*member.members.values(), *member.each.values()]:
        link_all(tables, name, child)


class Checker:
    def __init__(self, page):
        self.page, self.tables, self.faults = Path(page).name, read_page(page), []

    def fault(self, schema, path, line, what):
        said = f"{schema}: {path or '.'}: {what} ({self.page}:{line})"
        if said not in self.faults:
            self.faults.append(said)

    def members_of(self, member):
        """Those of the tables that it refers to, then its own."""
        found = {}
        for linked, _ in member.links:
            found.update(self.members_of(self.tables[linked].top))
        return {**found, **member.members}

    def check_answer(self, answer):
        schema = answer.pop("schema", "no schema")
        table = self.tables.get(schema)
        if table is None:
            self.fault(schema, "", 1, "the page has no such answer")
            return
        self.check_object(schema, "", answer, table.top, table.line)

    def check(self, schema, path, value, member, line):
        line = member.line or line
        kind = kind_of(value)
        member.kinds.add(kind)
        if "any" in member.types:
            return
        wanted = set(member.types)
        wanted |= {"object"} if member.links or member.members or "{}" in member.each else set()
        wanted |= {"list"} if "[]" in member.each else set()
        if kind not in wanted and not (kind == "integer" and "number" in wanted):
            self.fault(schema, path, line, f"is {kind}, not {' or '.join(sorted(wanted))}")
        elif kind == "list" and "[]" in member.each:
            for one in value:
                self.check(schema, path + "[]", one, member.each["[]"], line)
        elif kind == "object" and "{}" in member.each:
            for one in value.values():
                self.check(schema, path + "{}", one, member.each["{}"], line)
        elif kind == "object":
            self.check_object(schema, path, value, member, line)

    def check_object(self, schema, path, value, member, line):
        known = self.members_of(member)
        prefix = path + "." if path else ""
        for name, one in value.items():
            if name in known:
                self.check(schema, prefix + name, one, known[name], line)
            else:
                self.fault(schema, prefix + name, line, "is not in the page")
        for name, one in known.items():
            if name not in value:
                one.was_absent = True
                if not one.may_be_absent:
                    self.fault(schema, prefix + name, one.line or line, "is absent from the answer")

    def unshown(self, name, path, member):
        """(name and path, line, what) that no answer has shown."""
        place = f"{name} {path or '.'}"
        if member.line and not member.kinds:
            yield place, member.line, "no answer has it"
            return
        for kind in sorted(member.types - {"any"} - member.kinds):
            yield place, member.line, f"no answer has it as {kind}"
        if member.may_be_absent and not member.was_absent:
            yield place, member.line, "no answer is without it"
        prefix = path + "." if path else ""
        for step, child in [*member.members.items(), *member.each.items()]:
            yield from self.unshown(name, (path if step in ("[]", "{}") else prefix) + step, child)


def check(page, files):
    checker = Checker(page)
    for file in files:
        checker.check_answer(json.loads(Path(file).read_text(encoding="utf-8")))
    return checker


def shown(page, excuses_path, files):
    checker = check(page, files)
    excuses = dict(line.split(": ", 1) for line in Path(excuses_path).read_text().splitlines() if line)
    for name, table in checker.tables.items():
        for place, line, what in checker.unshown(name, "", table.top):
            if excuses.pop(place, None) is None:
                checker.fault(name, place.split(" ", 1)[1], line, what)
    checker.faults += [f"{place}: it is shown, or not in the page: take it out of {excuses_path}" for place in excuses]
    return checker.faults


def sources(page, folder):
    printed = set()
    for path in Path(folder).rglob("*.[ch]pp"):
        printed |= set(re.findall(rf'"({SCHEMA.pattern})"', path.read_text(encoding="utf-8")))
    tables = {name: table for name, table in read_page(page).items() if SCHEMA.fullmatch(name)}
    return [f"{name}: the sources print it, and {page} does not have it" for name in sorted(printed - set(tables))] + \
        [f"{name}: no source prints it ({page}:{tables[name].line})" for name in sorted(set(tables) - printed)]


def commands(page, names):
    said = {command for table in read_page(page).values() for command in table.commands}
    return [f"{name}: {page} does not say what it prints" for name in sorted(set(names) - said)] + \
        [f"{name}: {page} has it, and no command is called so" for name in sorted(said - set(names))]


def ran(page, files):
    tables, faults, all_of = read_page(page), [], {}
    for file in files:
        schema = json.loads(Path(file).read_text(encoding="utf-8"))["schema"]
        words = "weir " + Path(file).with_suffix(".words").read_text(encoding="utf-8").strip()
        found = [name for name in tables[schema].commands if (words + " ").startswith(name + " ")]
        faults += [] if found else [f"{schema}: {words}: the page names {tables[schema].commands} ({page}:{tables[schema].line})"]
        all_of.setdefault(schema, set()).update(found)
    return faults + [f"{schema}: {name}: it did not run ({page}:{table.line})" for schema, table in tables.items()
                     for name in table.commands if name not in all_of.get(schema, set())]


def main(verb, page, *rest):
    verbs = {"check": lambda: check(page, rest).faults, "shown": lambda: shown(page, rest[0], rest[1:]), "sources": lambda: sources(page, *rest),
             "commands": lambda: commands(page, rest), "ran": lambda: ran(page, rest)}
    try:
        faults = verbs[verb]()
    except PageError as error:
        faults = [f"{page}: {error}"]
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
