#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""The independent check of one round: check.py FOLDER. Looks only at what is on disk: the job journals of parent and
partitions, what the jobs wrote themselves (witness), what the tree answered to those who asked (answered.jsonl), and what
it said of usage and shares at rest (rest.json). Each check yields a sentence for every violation."""
import collections
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

import journal  # noqa: E402
from tree import PARTITIONS, USERS, path_of  # noqa: E402

LATE_S = 7  # on a machine that is busy with others, and longer than a partition hangs; the clock steps by more, and leave-down lasts longer
EARLY_S = 0.02


class Evidence:
    def __init__(self, folder):
        state = os.path.join(folder, "state")
        self.parent = journal.read(state)
        self.children = {name: journal.read(os.path.join(state, name)) for name in PARTITIONS}
        self.answered = self._lines(os.path.join(folder, "answered.jsonl"))
        self.submitted = {entry["id"]: entry for entry in self.answered if entry["what"] == "submit"}
        self.witness = collections.Counter()
        if os.path.exists(os.path.join(folder, "witness")):
            with open(os.path.join(folder, "witness"), encoding="utf-8") as file:
                self.witness.update(line.strip() for line in file)
        with open(os.path.join(folder, "rest.json"), encoding="utf-8") as file:
            self.rest = json.load(file)

    @staticmethod
    def _lines(path):
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def users_jobs(self):
        """The parent's jobs that users sent; the others are its partitions."""
        return [job for job in self.parent.values() if "serves" not in job.system().get("weir", {})]

    def path(self, parent_job):
        uid = parent_job.named("submit")[0]["context"]["userid"]
        return path_of(next(name for name, known in USERS.items() if known == uid))

    def copies(self):
        """(partition, the child's job, the parent's job or None) of every job that any child had."""
        for name, jobs in self.children.items():
            for job in jobs.values():
                yield name, job, self.parent.get(job.upstream())


def every_answered_submission_ends_once(evidence):
    tokens = collections.Counter(job.token() for job in evidence.users_jobs())
    yield from (f"{token} was submitted once and is in the journal {n} times" for token, n in tokens.items() if n != 1)
    for jobid, entry in evidence.submitted.items():
        job = evidence.parent.get(jobid)
        if job is None or job.token() != entry["token"]:
            yield f"job {jobid} ({entry['token']}) was answered and is not in the journal"
    for job in evidence.users_jobs():
        if len(job.named("clean")) != 1:
            names = [event["name"] for event in job.events]
            yield f"job {job.id} ({job.token()}) has {len(job.named('clean'))} ends: {' '.join(names)}"


def nothing_ran_twice(evidence):
    yield from (f"{line} stands {n} times in the witness" for line, n in evidence.witness.items() if n != 1)
    started = collections.Counter(copy.upstream() for _, copy, _ in evidence.copies() if copy.named("start"))
    yield from (f"job {jobid} was started {n} times in the children" for jobid, n in started.items() if n != 1)


def results_are_what_happened(evidence):
    finished = {copy.upstream(): copy for _, copy, _ in evidence.copies() if copy.status() is not None}
    for job in evidence.users_jobs():
        if job.status() is None:
            continue
        copy = finished.get(job.id)
        if copy is None or copy.status() != job.status():
            yield f"job {job.id} ({job.token()}) has status {job.status()}, in its child {copy and copy.status()}"
        entry = evidence.submitted.get(job.id)
        is_whole = evidence.witness[f"start {job.token()}"] == 1 and evidence.witness[f"end {job.token()}"] == 1
        if entry and job.status() == entry["status"] << 8 and not is_whole:
            yield f"job {job.id} ({job.token()}) has status {job.status()} and did not run to its end"
        if entry and job.fatal() is None and job.status() != entry["status"] << 8:
            yield f"job {job.id} ({job.token()}) ended with {job.status()}, its script with {entry['status'] << 8}"


def cores_are_held_once(evidence):
    machine = {"the parent": (sum(PARTITIONS.values()), [job for job in evidence.parent.values()
                                                         if "serves" in job.system().get("weir", {})])}
    machine.update({name: (PARTITIONS[name], list(jobs.values())) for name, jobs in evidence.children.items()})
    for name, (cores, jobs) in machine.items():
        events = []
        for job in jobs:
            if job.time("alloc") is not None:
                if job.time("free") is None:
                    yield f"{name}: job {job.id} never gave its cores back"
                events.append((job.time("alloc"), 1, job))
                events.append((job.time("free") or 1 << 62, 0, job))
        held = {}
        for _, is_alloc, job in sorted(events, key=lambda event: event[:2]):
            if not is_alloc:
                held = {core: by for core, by in held.items() if by != job.id}
                continue
            taken = {held[core] for core in job.cores if core in held}
            if taken:
                yield f"{name}: job {job.id} got cores that job {taken} held"
            held.update({core: job.id for core in job.cores})
            if len(held) > cores:
                yield f"{name}: {len(held)} cores in use of {cores} when job {job.id} got its own"


def usage_is_what_the_eventlogs_say(evidence):
    views = {"the parent": evidence.rest["usage"]["parent"], "the children": collections.Counter()}
    for name in PARTITIONS:
        views["the children"].update(evidence.rest["usage"][name])
    used = collections.Counter()
    for name, copy, job in evidence.copies():
        if job is None:
            yield f"{name}: job {copy.id} is a copy of job {copy.upstream()}, which the parent does not have"
        elif copy.held() is not None:
            used[evidence.path(job)] += len(copy.cores) * copy.held()
    for name, view in views.items():
        for user in USERS:
            path = path_of(user)
            if view.get(path, 0) != used[path]:
                yield (f"{path}: {name} charged {view.get(path, 0) / 1e6:.6f} core-seconds, his jobs had "
                       f"{used[path] / 1e6:.6f} ({(view.get(path, 0) - used[path]) / 1e6:+.6f})")


def durations_are_what_passed(evidence):
    """Whatever the wall clock does, and however long a broker was down: a job had its cores about as long as it slept."""
    for name, copy, job in evidence.copies():
        entry = evidence.submitted.get(copy.upstream())
        if entry is None or copy.held() is None:
            continue
        seconds = copy.held() / 1e6
        is_whole = copy.status() == entry["status"] << 8 and evidence.witness[f"end {entry['token']}"] == 1
        if seconds > entry["seconds"] + LATE_S or (is_whole and seconds < entry["seconds"] - EARLY_S):
            yield f"{name}: job {copy.id} ({entry['token']}) had its cores for {seconds:.6f} s and slept {entry['seconds']} s"


def nothing_is_left(evidence):
    yield from (f"still there after the end: {what}" for what in evidence.rest["left"])
    if evidence.rest["stop_code"] != 0:
        yield f"weir start ended with {evidence.rest['stop_code']} when it was stopped"


def answered_edits_stand(evidence):
    shares = {}
    for entry in evidence.answered:
        job = evidence.parent.get(entry.get("id"))
        if entry["what"] == "share" and entry["ok"]:
            shares[entry["path"]] = entry["shares"]
        elif entry["what"] == "share":
            shares.pop(entry["path"], None)  # unanswered: either value may stand
        elif entry["what"] == "urgency" and job is not None:
            if not any(e["context"]["urgency"] == entry["urgency"] for e in job.named("urgency") + job.named("submit")):
                yield f"job {job.id}: the answered urgency {entry['urgency']} is not in its eventlog"
        elif entry["what"] == "cancel" and job is not None:
            if not any(event["context"]["type"] == "cancel" for event in job.named("exception")):
                yield f"job {job.id}: the answered cancel is not in its eventlog"
    for path, value in shares.items():
        if evidence.rest["shares"].get(path) != value:
            yield f"{path}: the answered {value} shares are {evidence.rest['shares'].get(path)} at rest"


def all_came_to_rest(evidence):
    yield from evidence.rest["problems"]


CHECKS = (all_came_to_rest, every_answered_submission_ends_once, nothing_ran_twice, results_are_what_happened,
          cores_are_held_once, usage_is_what_the_eventlogs_say, durations_are_what_passed, nothing_is_left, answered_edits_stand)


def violations(folder):
    evidence = Evidence(folder)
    return [f"{check.__name__.replace('_', ' ')}: {sentence}" for check in CHECKS for sentence in check(evidence)]


def main():
    found = violations(sys.argv[1])
    print("\n".join(found) or "no violation")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
