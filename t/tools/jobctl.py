# SPDX-License-Identifier: LGPL-3.0-only
"""A client that submits and follows jobs, for system tests of job semantics. Its command line is job.py.

  job.py rpc TOPIC [JSON]            one request, prints the response; exit 1 and "errno: text" on error
  job.py stream TOPIC [JSON]         prints responses until the stream ends (ENODATA)
  job.py submit [-n N] [-u URGENCY] [-t SECONDS] [-q QUEUE] [-S KEY=JSON]... [--copies N] [--] [COMMAND...]
                                     prints ids; without COMMAND a simulated job of run_duration -r (default 0.001)
  job.py wait ID EVENT               waits for the event, prints it; exit 1 if the eventlog ends before
  job.py events ID                   names of the job's events, one line
  job.py jobs [ATTR...]              one line a job: attributes separated by blanks, in job-list order
  --userid UID [--rolemask MASK]     before the command: speaks as this user, who has the role of a user (the owner may)
"""
import json
import os
import sys

import wire
from wire import Failed


class Client(wire.Client):
    """One whose answers are values. With a user id it speaks as this user, who has the role of a user or those given."""

    def __init__(self, uri=None, userid=None, rolemask=2):
        super().__init__(uri, *(() if userid is None else (userid, rolemask)))
        self.user = os.geteuid() if userid is None else userid

    def answer(self, matchtag):
        text = super().answer(matchtag)
        return json.loads(text) if text.startswith(("{", "[")) else text or {}

    def submit(self, jobspec, urgency=16, flags=0):
        signed = wire.signed(self.user, jobspec)
        return self.rpc("job-ingest.submit", {"J": signed, "urgency": urgency, "flags": flags})["id"]

    def watch(self, jobid):
        for answer in self.stream("job-info.eventlog-watch", {"id": jobid, "path": "eventlog", "flags": 0}):
            yield json.loads(answer["event"])


def jobspec(options, command):
    system = {"duration": options.time}
    if not command:
        system["exec"] = {"test": {"run_duration": f"{options.run}s"}}
    if options.queue:
        system["queue"] = options.queue
    for setting in options.S:
        key, value = setting.split("=", 1)
        at = system
        for step in key.split(".")[:-1]:
            at = at.setdefault(step, {})
        at[key.split(".")[-1]] = json.loads(value)
    slot = {"type": "slot", "count": options.n, "label": "task", "with": [{"type": "core", "count": 1}]}
    task = {"command": command or ["true"], "slot": "task", "count": {"per_slot": 1}}
    return {"resources": [slot], "tasks": [task], "attributes": {"system": system}, "version": 1}


def submit_words(argv):
    return wire.words(argv, n=1, urgency=16, time=0.0, run=0.001, queue=None, S=[], copies=1, flags=0)


def submit(client, argv):
    options, command = submit_words(argv)
    for _ in range(options.copies):
        print(client.submit(jobspec(options, command), options.urgency, options.flags))


def wait(client, jobid, name):
    for event in client.watch(int(jobid)):
        if event["name"] == name:
            print(json.dumps(event))
            return 0
    return 1


def run(client, what, argv):
    if what == "rpc":
        print(json.dumps(client.rpc(*argv)))
    elif what == "stream":
        for answer in client.stream(*argv):
            print(json.dumps(answer), flush=True)
    elif what == "submit":
        submit(client, argv)
    elif what == "wait":
        return wait(client, *argv)
    elif what == "events":
        log = client.rpc("job-info.lookup", {"id": int(argv[0]), "keys": ["eventlog"], "flags": 0})["eventlog"]
        print(" ".join(json.loads(line)["name"] for line in log.splitlines()))
    elif what == "jobs":
        attrs = argv or ["state"]
        for answer in client.stream("job-list.list", {"max_entries": 0, "attrs": attrs}):
            for job in answer["jobs"]:
                print(job["id"], *(json.dumps(job.get(attr)) for attr in attrs))
    else:
        sys.exit(f"error: no command {what}\n{__doc__}")
    return 0


def main():
    try:
        given, (what, *argv) = wire.credentials(sys.argv[1:])
        return run(Client(**given), what, argv)
    except Failed as failed:
        print(f"{failed.errnum}: {failed.text}", file=sys.stderr)
        return 1
