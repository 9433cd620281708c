#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""The scheduler module's peers, played by the test: resource, job-manager and kvs, so that a commit can be kept waiting.

    sched_peers.py MODULE.so [stock]    loads it into the broker at FLUX_URI, which has none of the three

A job that ran at the first hello and not at the second gave its resources back in between: they must be free. A job is
cancelled while its R is on its way into the KVS: it must not start, and what it got must be free again. A stock job-manager
that has an R of a waiting job must not get another one. The name of each step is appended to the file $STEPS when it begins.
"""
import base64
import json
import os
import pathlib
import sys

from wire import ENODATA, REQUEST, RESPONSE, STREAMING, Client

SUCCESS, ANNOTATE, CANCEL = 0, 1, 3
ENOENT = 2
AFTER_ALL = 4e9  # a time of submission after the job-manager was greeted
R = {"version": 1, "execution": {"R_lite": [{"rank": "0", "children": {"core": "0-1"}}], "nodelist": ["n0"],
                                 "starttime": 0, "expiration": 0}}
JOBSPEC = {"version": 1, "tasks": [{"command": ["true"], "slot": "task", "count": {"per_slot": 1}}],
           "resources": [{"type": "slot", "label": "task", "count": 1, "with": [{"type": "core", "count": 2}]}],
           "attributes": {"system": {"duration": 0}}}


class Peers(Client):
    def __init__(self):
        super().__init__()
        self.requests, self.allocs, self.others = [], [], {}  # what came and nobody has asked for yet
        self.alloc_tags = set()

    def take(self, is_there, take):
        while not is_there():
            msg = self.receive()
            if msg.kind == REQUEST and not msg.topic.endswith(".disconnect"):
                self.requests.append(msg)
            elif msg.kind == RESPONSE and msg.aux2 in self.alloc_tags:
                self.allocs.append(json.loads(msg.text))
            elif msg.kind == RESPONSE:
                self.others[msg.aux2] = msg
        return take()

    def request(self, topic):
        msg = self.take(lambda: self.requests, lambda: self.requests.pop(0))
        expect(f"the scheduler asks {topic}", msg.topic == topic)
        return msg

    def rpc(self, topic, payload=None):
        tag = self.start(topic, payload)
        return self.take(lambda: tag in self.others, lambda: self.others.pop(tag))

    def alloc(self, job, submit=AFTER_ALL):
        payload = {"id": job, "priority": 16, "userid": 0, "t_submit": submit, "jobspec": JOBSPEC}
        self.alloc_tags.add(self.start("sched.alloc", payload, STREAMING))

    def cancel(self, job, module):
        """What was sent before has been read when this returns: one client's messages stay in order."""
        self.notify("sched.cancel", {"id": job})
        self.rpc(module + ".stats-get", {})

    def expect_removal(self, job):
        ops = json.loads(self.request("kvs.commit").text)["ops"]
        expect("R of the job that waits again is removed",
               [(op["key"], op["dirent"]) for op in ops] == [(f"job.0000.0000.0000.{job:04x}.R", None)])


def lookup(value):
    data = base64.b64encode(json.dumps(value).encode()).decode()
    return {"val": {"ver": 1, "type": "val", "data": data}}


def step(name):
    with open(os.environ["STEPS"], "a", encoding="utf-8") as steps:
        steps.write(name + "\n")


def expect(what, is_so):
    if not is_so:
        sys.exit("FAILED: " + what)


def older_jobs(peers, module):
    """The machine is free, and is free again afterwards."""
    step("of a job that was submitted before, the job-manager is asked whether it has an R")
    peers.alloc(5, submit=5.)
    question = peers.request("job-manager.getattr")
    expect("of this job", json.loads(question.text) == {"id": 5, "attrs": ["R"]})
    peers.respond(question, {}, ENOENT)
    peers.respond(peers.request("kvs.commit"), {"rootref": "", "rootseq": 5})
    got = peers.take(lambda: peers.allocs, lambda: peers.allocs.pop(0))
    expect("if not, the job starts", (got["id"], got["type"]) == (5, SUCCESS))
    peers.notify("sched.free", {"id": 5, "R": R, "final": True})
    step("if it has, the R is removed, the job waits for another job-manager, and says so")
    peers.alloc(6, submit=6.)
    peers.respond(peers.request("job-manager.getattr"), {"R": R})
    peers.expect_removal(6)
    got = peers.take(lambda: peers.allocs, lambda: peers.allocs.pop(0))
    expect("why", (got["id"], got["type"]) == (6, ANNOTATE) and "job-manager" in got["annotations"]["sched"]["reason_pending"])
    step("the next job gets the cores")
    peers.alloc(7)
    peers.respond(peers.request("kvs.commit"), {"rootref": "", "rootseq": 7})
    got = peers.take(lambda: peers.allocs, lambda: peers.allocs.pop(0))
    expect("job 7 has the machine", (got["id"], got["type"]) == (7, SUCCESS))
    step("a job that waits so, or of which the job-manager has been asked, can be cancelled")
    peers.cancel(6, module)
    expect("one answer", peers.allocs == [{"id": 6, "type": CANCEL}])
    peers.notify("sched.free", {"id": 7, "R": R, "final": True})
    peers.alloc(8, submit=8.)
    question = peers.request("job-manager.getattr")
    peers.allocs.clear()
    peers.cancel(8, module)
    expect("one answer: cancelled", peers.allocs == [{"id": 8, "type": CANCEL}])
    peers.respond(question, {}, ENOENT)
    peers.allocs.clear()


def main(path, is_stock):
    module = pathlib.Path(path).stem
    peers = Peers()
    step("the test takes the place of its peers")
    for service in "resource", "job-manager", "kvs":
        expect("be " + service, peers.rpc("service.add", {"service": service}).aux1 == 0)
    step("it asks for resources and running jobs, and is ready")
    peers.start("module.load", {"path": path, "args": [], "exec": False})
    peers.respond(peers.request("resource.acquire"), {"resources": R, "up": "0"})
    hello = peers.request("job-manager.sched-hello")
    peers.respond(hello, {"id": 9, "priority": 16, "userid": 0, "t_submit": 9.0})
    peers.respond(hello, {}, ENODATA)
    peers.respond(peers.request("kvs.lookup"), lookup(R))  # job 9 has the whole machine
    peers.respond(peers.request("job-manager.sched-ready"), {"count": 0})
    step("what ran at the first hello and does not run at the second is free")
    hello = peers.request("job-manager.sched-hello")  # it ended before the scheduler was ready: no sched.free comes
    peers.respond(hello, {}, ENODATA)

    step("a job that is cancelled while its R is on its way gets that answer")
    peers.alloc(1)
    commit = peers.request("kvs.commit")  # R of job 1, and nobody answers yet
    peers.cancel(1, module)
    expect("one answer: cancelled", peers.allocs == [{"id": 1, "type": CANCEL}])
    peers.expect_removal(1)
    step("the next job gets the cores that the cancelled one had")
    peers.respond(commit, {"rootref": "", "rootseq": 1})
    peers.allocs.clear()
    peers.alloc(2)  # wants the whole machine: so job 1 gave back what it had
    peers.respond(peers.request("kvs.commit"), {"rootref": "", "rootseq": 2})
    got = peers.take(lambda: peers.allocs, lambda: peers.allocs.pop(0))
    expect("job 2 has the machine, and there is no second answer for job 1", (got["id"], got["type"]) == (2, SUCCESS))
    step("after the answer a cancellation has no effect")
    peers.cancel(2, module)
    expect("no answer", not peers.allocs)
    step("a job-manager that was loaded again is greeted, and what it does not name is free")
    peers.notify("sched.disconnect", {})  # as a broker tells it for who asked for resources and has ended
    peers.respond(peers.request("job-manager.sched-hello"), {}, ENODATA)
    peers.respond(peers.request("job-manager.sched-ready"), {"count": 0})
    peers.respond(peers.request("job-manager.sched-hello"), {}, ENODATA)
    step("one that ends before it asked for anything is noticed by its journal's end")
    peers.respond(peers.request("job-manager.events-journal"), {}, ENODATA)
    peers.respond(peers.request("job-manager.sched-hello"), {}, ENODATA)
    peers.respond(peers.request("job-manager.sched-ready"), {"count": 0})
    peers.respond(peers.request("job-manager.sched-hello"), {}, ENODATA)
    peers.request("job-manager.events-journal")
    peers.alloc(3)  # wants the whole machine, which job 2 had
    peers.respond(peers.request("kvs.commit"), {"rootref": "", "rootseq": 3})
    got = peers.take(lambda: peers.allocs, lambda: peers.allocs.pop(0))
    expect("job 3 has the machine", (got["id"], got["type"]) == (3, SUCCESS))
    peers.notify("sched.free", {"id": 3, "R": R, "final": True})
    if is_stock:
        older_jobs(peers, module)
    step("a job-manager that ends while an R is on its way finds none in the KVS")
    peers.alloc(4)
    commit = peers.request("kvs.commit")
    peers.notify("sched.disconnect", {})
    peers.expect_removal(4)
    peers.respond(commit, {"rootref": "", "rootseq": 4})
    peers.respond(peers.request("job-manager.sched-hello"), {}, ENODATA)
    peers.rpc("module.remove", {"name": module})


main(sys.argv[1], sys.argv[2:] == ["stock"])
