#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""The check itself: a round that holds has no violation, and each way to break it is found by the check that is meant to."""
import copy
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

import check  # noqa: E402
from tree import USERS, path_of  # noqa: E402

USER = next(iter(USERS))
PARENT_JOB, COPY, PARTITION = 70, 7, 10


def event(time, name, **context):
    return {"timestamp": time, "name": name, "context": context}


def resources(cores):
    return {"execution": {"R_lite": [{"rank": "0", "children": {"core": cores}}]}}


def jobspec(name, weir):
    return {"attributes": {"system": {"job": {"name": name}, "weir": weir}}}


def life(userid, begin, end, status):
    return [event(begin - 1, "submit", userid=userid, urgency=16), event(begin, "alloc"), event(begin, "start"),
            event(end, "finish", status=status), event(end, "free"), event(end, "clean")]


def good():
    """One job of 2 cores and 3 seconds, in batch."""
    submit = {"what": "submit", "token": "j1", "id": PARENT_JOB, "user": USER, "cores": 2, "status": 3, "queue": "batch",
              "seconds": 3}
    return {
        "parent": {PARTITION: [jobspec("batch", {"serves": ["batch"]}), "2-7", life(0, 10, 99, 0)],
                   PARENT_JOB: [jobspec("j1", {}), "2-3", life(USERS[USER], 20, 23, 768)]},
        "batch": {COPY: [jobspec("j1", {"jobid": PARENT_JOB}), "0-1", life(0, 20, 23, 768)]},
        "debug": {},
        "answered": [submit, {"what": "share", "path": path_of(USER), "shares": 4, "ok": True},
                     {"what": "urgency", "id": PARENT_JOB, "urgency": 16}],
        "witness": ["start j1", "end j1"],
        "rest": {"problems": [], "left": [], "stop_code": 0, "shares": {path_of(USER): 4},
                 "usage": {"parent": {path_of(USER): 6000000}, "batch": {path_of(USER): 6000000}, "debug": {}}},
    }


def write_journal(folder, jobs):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "jobs.journal"), "w", encoding="utf-8") as file:
        file.write('{"weir-jobs":1}\n')
        for jobid, (spec, cores, events) in jobs.items():
            for one in events:
                line = {"id": jobid, "event": one}
                line.update({"jobspec": spec} if one["name"] == "submit" else {})
                line.update({"R": resources(cores)} if one["name"] == "alloc" else {})
                file.write(json.dumps(line) + "\n")
        file.write('{"id":1,"event":{"na')  # torn by a kill


def violations_of(world):
    with tempfile.TemporaryDirectory() as folder:
        state = os.path.join(folder, "state")
        for name, place in (("parent", ""), ("batch", "batch"), ("debug", "debug")):
            write_journal(os.path.join(state, place), world[name])
        with open(os.path.join(folder, "answered.jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(entry) + "\n" for entry in world["answered"])
        with open(os.path.join(folder, "witness"), "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in world["witness"])
        with open(os.path.join(folder, "rest.json"), "w", encoding="utf-8") as file:
            json.dump(world["rest"], file)
        return check.violations(folder)


def events_of(world, journal, jobid):
    return world[journal][jobid][2]


def without(world, journal, jobid, name):
    world[journal][jobid][2] = [one for one in events_of(world, journal, jobid) if one["name"] != name]


def second_copy(world):
    world["debug"][8] = copy.deepcopy(world["batch"][COPY])


def neighbour(world):
    world["batch"][8] = [jobspec("j2", {"jobid": PARENT_JOB}), "1-2", [event(19, "submit", userid=0, urgency=16), event(21, "alloc")]]


def stretched(seconds):
    """The clock was stepped while the job ran: all agree on a length that was not."""
    def mutate(world):
        for journal, jobid in (("parent", PARENT_JOB), ("batch", COPY)):
            for one in events_of(world, journal, jobid)[3:]:
                one["timestamp"] += seconds
        for name in ("parent", "batch"):
            world["rest"]["usage"][name][path_of(USER)] += 2000000 * seconds
    return mutate


def never_ran(world):
    """A copy that had its cores for a day and was never started: who held them has to say for how long nobody was there."""
    without(world, "batch", COPY, "start")
    stretched(86400)(world)


def status_zero(world):
    for journal, jobid in (("parent", PARENT_JOB), ("batch", COPY)):
        events_of(world, journal, jobid)[3]["context"]["status"] = 0


# what is broken -> (how, the check that must say so)
MUTANTS = {
    "an answered submission is gone": (lambda w: w["parent"].pop(PARENT_JOB), "every answered submission ends once"),
    "a submission stands twice": (lambda w: w["parent"].update({71: w["parent"][PARENT_JOB]}), "every answered submission ends once"),
    "a job does not end": (lambda w: without(w, "parent", PARENT_JOB, "clean"), "every answered submission ends once"),
    "a job ends twice": (lambda w: events_of(w, "parent", PARENT_JOB).append(event(24, "clean")), "every answered submission ends once"),
    "the witness saw two starts": (lambda w: w["witness"].append("start j1"), "nothing ran twice"),
    "two copies started": (second_copy, "nothing ran twice"),
    "the parent tells another status": (lambda w: events_of(w, "parent", PARENT_JOB)[3]["context"].update(status=0), "results are what happened"),
    "the job never ran": (lambda w: w["witness"].clear(), "results are what happened"),
    "the script ended otherwise": (status_zero, "results are what happened"),
    "cores are not given back": (lambda w: without(w, "batch", COPY, "free"), "cores are held once"),
    "a core has two jobs": (neighbour, "cores are held once"),
    "the partitions share a core": (lambda w: w["parent"].update({11: [jobspec("debug", {"serves": ["debug"]}), "2", life(0, 11, 98, 0)]}), "cores are held once"),
    "the parent charged one microsecond less": (lambda w: w["rest"]["usage"]["parent"].update({path_of(USER): 5999999}), "usage is what the eventlogs say"),
    "the child charged one microsecond more": (lambda w: w["rest"]["usage"]["batch"].update({path_of(USER): 6000001}), "usage is what the eventlogs say"),
    "a job is charged for a step of the clock": (stretched(60), "durations are what passed"),
    "a job is free until the clock has caught up": (stretched(-2), "durations are what passed"),
    "a copy that never ran is charged for the time down": (never_ran, "durations are what passed"),
    "the time down is charged": (lambda w: events_of(w, "batch", COPY).insert(2, event(20.5, "weir.down", seconds=0.25)),
                                 "usage is what the eventlogs say"),
    "a process is left": (lambda w: w["rest"]["left"].append("process 1"), "nothing is left"),
    "the stop failed": (lambda w: w["rest"].update(stop_code=1), "nothing is left"),
    "a share is lost": (lambda w: w["rest"]["shares"].update({path_of(USER): 1}), "answered edits stand"),
    "a nice is lost": (lambda w: w["answered"][2].update(urgency=9), "answered edits stand"),
    "a cancel is lost": (lambda w: w["answered"].append({"what": "cancel", "id": PARENT_JOB}), "answered edits stand"),
    "a job waits for ever": (lambda w: w["rest"]["problems"].append("job 70 does not end"), "all came to rest"),
}


def main():
    failed, number = [], 1
    found = violations_of(good())
    print(f"{'ok' if not found else 'not ok'} 1 - a round that holds has no violation {found or ''}")
    failed += found
    for number, (what, (mutate, name)) in enumerate(MUTANTS.items(), 2):
        world = good()
        mutate(world)
        found = violations_of(world)
        is_found = any(sentence.startswith(name) for sentence in found)
        print(f"{'ok' if is_found else 'not ok'} {number} - found: {what}" + ("" if is_found else f" {found}"))
        failed += [] if is_found else [what]
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
