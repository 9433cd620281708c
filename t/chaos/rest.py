# SPDX-License-Identifier: LGPL-3.0-only
"""How a round ends: all jobs end, the views of usage settle, the tree is stopped; what is seen goes into rest.json for
the check. Waits for the parent's own job events; a bound on the time without any says that something hangs."""
import json
import os
import select
import subprocess
import time

import wire
from tree import PARTITIONS, USERS, path_of, processes

SILENCE_S = 12   # without one event while jobs are active
SETTLE_S = 4     # for the last usage reports
STOP_S = 15

PATHS = [path_of(user) for user in USERS]
EXPECTED = (wire.Failed, OSError, ValueError, subprocess.TimeoutExpired)


def follow(client, active):
    """Folds the parent's job events into `active` {id: names of events} until no user's job is left."""
    client.sock.settimeout(SILENCE_S)
    is_backlog_done = False
    for text in client.stream("job-manager.events-journal", {"full": True}):
        answer = json.loads(text)
        jobid = answer["id"]
        if jobid == -1:
            is_backlog_done = True
        else:
            system = answer.get("jobspec", {}).get("attributes", {}).get("system", {})
            if "serves" not in system.get("weir", {}) and (jobid in active or "jobspec" in answer):
                names = [event["name"] for event in answer["events"]]
                active.setdefault(jobid, []).extend(names)
                if "clean" in names:
                    del active[jobid]
        if is_backlog_done and not active:
            return


def drain(tree, log):
    """Every job ends. Returns sentences about those that do not."""
    while True:
        active = {}
        try:
            if not tree.up.wait(30):
                return [f"the tree does not come back: {tree.problem}"]
            follow(tree.client(), active)
            return []
        except TimeoutError:
            log(f"silence with {len(active)} active jobs: {active}")
            return [f"job {jobid} does not end: {' '.join(names)}" for jobid, names in active.items()]
        except EXPECTED as failure:
            if tree.problem:
                return [tree.problem]
            log(f"draining: {failure}")
            select.select([], [], [], 0.05)


def charges(client):
    answer = json.loads(client.rpc("job-priority.usage", {}))
    return {node["path"]: node["charged_core_us"] for node in answer["nodes"] if node["path"] in PATHS}


def usage(tree):
    clients = {"parent": tree.client(), **{name: tree.client(name) for name in PARTITIONS}}
    return {name: charges(client) for name, client in clients.items()}


def agree(view):
    together = {}
    for name in PARTITIONS:
        for path, charge in view[name].items():
            together[path] = together.get(path, 0) + charge
    return all(view["parent"].get(path, 0) == together.get(path, 0) for path in PATHS)


def settled_usage(tree, log):
    """The views when parent and children agree and stand still, or the last before patience ends."""
    deadline, before = time.monotonic() + SETTLE_S, None
    while True:
        try:
            view = usage(tree)
            if (agree(view) and view == before) or time.monotonic() > deadline:
                return view
            before = view
        except EXPECTED as failure:
            log(f"usage: {failure}")
            if time.monotonic() > deadline:
                raise
        select.select([], [], [], 0.1)  # reports have no event that a client could wait for


def idle_cores(tree):
    """Sentences about cores that are held where no job runs."""
    for name in PARTITIONS:
        status = json.loads(tree.client(name).rpc("resource.sched-status", {}))
        if lists := status["allocated"]["execution"]["R_lite"]:
            yield f"{name}: cores are allocated and no job is active: {json.dumps(lists)}"


def shares(tree):
    answer = json.loads(tree.client().rpc("job-priority.tree-get", {}))
    return {node["path"]: node["shares"] for node in answer["nodes"] if "shares" in node}


def come_to_rest(tree, log):
    seen = {"problems": drain(tree, log), "usage": {}, "shares": {}, "left": [], "stop_code": None}
    log("no job is active" if not seen["problems"] else "not all jobs end")
    seen["usage"] = settled_usage(tree, log)
    seen["shares"] = shares(tree)
    if not seen["problems"]:
        seen["problems"] += idle_cores(tree)
    log("stopping")
    seen["stop_code"] = tree.stop(STOP_S)
    seen["left"] = [f"process {pid}: {' '.join(words)[:200]}" for pid, words in processes(tree.folder).items()]
    for place, _, names in os.walk(tree.rundir):
        seen["left"] += [os.path.join(place, name) for name in names]
    with open(os.path.join(tree.folder, "rest.json"), "w", encoding="utf-8") as file:
        json.dump(seen, file, indent=1)
    log("stopped")
