#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""The trust boundary: every method that a guest may call says beside its handler the worst that a guest can do with it, in
a comment that begins "// Guest:", and doc/guests.md collects them. "Private:" in it begins what [access] private-mode changes. `guests.py TOP --write` writes that page."""
import re
import sys
from pathlib import Path

from files import project_files

TOP = Path(sys.argv[1])
PAGE = "doc/guests.md"
GUEST_ROLES = r"(?:FLUX_ROLE_USER|FLUX_ROLE_ALL|~0u)"
# {FLUX_MSGTYPE_REQUEST, "kvs.get", on_message<Kvs, &Kvs::get>, FLUX_ROLE_USER}, over one line or several
ROW = re.compile(r'\{\s*(?:FLUX_MSGTYPE_REQUEST|request),\s*"([\w.*-]+)",\s*([^{}]*?),\s*' + GUEST_ROLES + r"\s*\}")
# router.add_method("attr.get", ~0u, ...)
METHOD = re.compile(r'add_method\("([\w.-]+)",\s*' + GUEST_ROLES + r",\s*([^;]*?)\);", re.S)
HEAD = """# What a guest can do

A guest is any user other than the instance's owner. An instance admits guests only with `[access] allow-guest-user`. A child
instance that a guest started is a guest's program, too. This page lists all methods that a guest may call, and the worst that he
can do with each. The sentences are comments beside the handlers, and `t/lint/guests.py` checks that this page has them. The broker
counts and bounds the memory, requests and connections of each guest ([ADR 0188](adr/0188-guests.md)). A guest's message has at most
4 MiB. A guest's request has at most 64 KiB of payload, one to `job-list.list`, `job-ingest.submit` or `feasibility.check` 256 KiB.
A longer one is refused with EMSGSIZE before anything parses it. `event.publish` takes a whole message. So do the methods of modules
that are sent R, facts of many jobs or paths of many accounts; `broker/core/guest_payloads.hpp` has the list.
[ADR 0184](adr/0184-what-a-child-is-believed.md) says what an instance believes of a child's reports. Property tests with
hostile users and children are in `t/unit/job_priority/hostile_children_property_test.cpp`. Fuzz targets for all bytes of a peer are in `t/fuzz`.

A guest's requests to `job-priority` wait for their turns, but `report`, which has turns of its own, `policy` and `disconnect`. So do
those to the embedded job-manager that look at all jobs (`job-list.list`, `job-manager.history.get`, `raiseall`, `killall`) or read output
(`job-info.lookup` of it). A turn is one request, and the users have turns one after the other. A turn comes when no other message waits
for the module, or after a second all the same. Then there is none for as long as that one took. So guests have at most half of the
module's time, and one guest delays another by one request each turn. 64 requests of a guest wait; further ones are refused with EAGAIN.
Those of a client that disconnects are dropped. So is one to the job-manager that wants no answer and has more than 4 KiB, since the
memory of such a request is charged to nobody.

All a guest's requests to `job-route` but `disconnect` wait for their turns, too. These turns do not wait for other messages, since child
instances wait for the answers: a turn comes when there was none for as long as the last one took. A turn serves one question, or one
message of a child of each of several guests, until these have 64 KiB together. What follows from it (orders, a new plan) is part of the
turn. The longest turn serves one message of 4 MiB, in one to two tenths of a second. 256 requests of a guest wait; 16 of them may be
answers to questions, which get no response themselves. A guest is refused before his message is read where no job of his runs in the
instance itself (attach), where no child of his is attached (report), or where none was asked (answer). In its turn the head of an attach
or a report is read first: its jobs, events and R are expanded only where the child is the sender's.

## A private instance

With `[access] private-mode` a guest is told of his own jobs, of his own part of the share tree, and of sums without names. Who has
Flux's role `admin` sees what the owner sees. A job of another user is answered as one that is not there. The last but one column
says what private mode changes. Empty means that the answer has nothing of other users anyway, or sums alone. `config.get` shows the
configuration as it is, and a site that writes users' names into it shows them. `t/t7038-private-topics.t` calls each method of this
page as a guest of a private instance, compares each answer about another user's job with that about no job, and fails where this
page has a method that it does not know.

In a stock Flux the methods of Flux's own services (`job-list`, `job-info`, `job-manager`, `resource` and so on) are Flux's, with
Flux's rules for the same key. The methods of `job-priority`, `job-route` and `sched` are these.

| method | the worst | in private mode | handler in |
|---|---|---|---|
"""


def comment_above(lines, number):
    """The text of the comment that ends right above line `number` (from 0), from "Guest:" on; None without one."""
    block = []
    number -= 1
    while number >= 0 and re.match(r"\s*//", lines[number]):
        block.insert(0, re.sub(r"^\s*///?\s?", "", lines[number]))
        number -= 1
    text = " ".join(block)
    at = text.find("Guest:")
    return text[at + len("Guest:"):].strip() if at >= 0 else None


def definition_comment(name, folder_lines):
    """The Guest comment above a definition or declaration of `name`, the same folder's files in order."""
    pattern = re.compile(r"^(?!\s*(?:return|if|while)\b)[\w\s:<>&*,~]*\b" + re.escape(name) + r"\s*\(")
    for lines in folder_lines:
        for number, line in enumerate(lines):
            if pattern.match(line) and (found := comment_above(lines, number)):
                return found
    return None


def names_in(handler):
    """Candidates for the handler's function, most specific first."""
    return list(reversed(re.findall(r"(?:::|\b)(\w+)\b", handler)))


def row_of(topic, comment, path):
    """What follows "Private:" in the comment is the third column."""
    worst, _, private = comment.replace("|", "/").partition("Private:")
    return f"| `{topic}` | {worst.strip()} | {private.strip()} | {path} |\n"


def methods(path, text, service):
    for pattern in (ROW, METHOD):
        for match in pattern.finditer(text):
            topic = match.group(1)
            if "." not in topic and service:
                topic = f"{service}.{topic}"
            yield topic, match.group(2), text.count("\n", 0, match.start())


def main():
    paths = [p for p in project_files(TOP) if str(p).startswith(("broker/", "modules/")) and p.suffix == ".cpp"
             and not str(p).startswith("broker/api")]
    folders = {}
    for path in sorted(p for p in project_files(TOP) if p.suffix in (".cpp", ".hpp")):
        folders.setdefault(path.parent, {})[path] = (TOP / path).read_text().splitlines()
    rows, bad = [], []
    for path in sorted(paths):
        lines = folders[path.parent][path]
        text = "\n".join(lines)
        own_first = [lines] + [other for p, other in folders[path.parent].items() if p != path]
        for topic, handler, number in methods(path, text, service_of(path)):
            found = comment_above(lines, number)
            for name in names_in(handler):
                found = found or definition_comment(name, own_first)
            if found:
                rows.append((topic, found, str(path)))
            else:
                bad.append(f'{path}:{number + 1}: "{topic}" is open to guests: say beside its handler, in a comment that '
                           'begins "// Guest:", the worst that a guest can do with it')
    page = HEAD + "".join(row_of(*row) for row in sorted(set(rows)))
    if "--write" in sys.argv:
        (TOP / PAGE).write_text(page)
    elif not bad and (not (TOP / PAGE).exists() or (TOP / PAGE).read_text() != page):
        bad.append(f"{PAGE} is not what the comments say: run t/lint/guests.py . --write")
    for line in bad:
        print(f"[fail] {line}")
    if not bad:
        print(f"[ok] {len(rows)} methods open to guests say what a guest can do with them")
    return 1 if bad else 0


# Services whose rows name methods alone.
SERVICES = {"modules/job-priority": "job-priority", "modules/job-route": "job-route", "modules/sched": "sched"}


def service_of(path):
    """The service of the module that `path` is a file of; None elsewhere."""
    return next((SERVICES[str(folder)] for folder in path.parents if str(folder) in SERVICES), None)


if __name__ == "__main__":
    sys.exit(main())
