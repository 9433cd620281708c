# SPDX-License-Identifier: LGPL-3.0-only
"""A client that submits and follows jobs, for system tests of job semantics. Its command line is job.py.

  job.py rpc TOPIC [JSON]            one request, prints the response; exit 1 and "errno: text" on error
  job.py stream TOPIC [JSON]         prints responses until the stream ends (ENODATA)
  job.py submit [-n N] [-u URGENCY] [-t SECONDS] [-q QUEUE] [-S KEY=JSON]... [--copies N] [--] [COMMAND...]
                                     prints ids; without COMMAND a simulated job of run_duration -r (default 0.001)
  job.py wait ID EVENT               waits for the event, prints it; exit 1 if the eventlog ends before
  job.py events ID                   names of the job's events, one line
  job.py jobs [ATTR...]              one line a job: attributes separated by blanks, in job-list order
  --user UID [--roles MASK]          act as a guest, or with other roles (the owner may set a message's credentials)
"""
import json
import os
import sys

import wire
from wire import Failed


class Client(wire.Client):
    """One whose answers are values. With `user` it acts as a guest, or in other roles."""

    def __init__(self, uri, user=None, roles=2):
        super().__init__(uri, *(() if user is None else (user, roles)))
        self.user = os.geteuid() if user is None else user

    def answer(self, matchtag):
        text = super().answer(matchtag)
        return json.loads(text) if text.startswith(("{", "[")) else text or {}

    def submit(self, jobspec, urgency=16, flags=0):
        signed = wire.signed(self.user, jobspec)
        return self.rpc("job-ingest.submit", {"J": signed, "urgency": urgency, "flags": flags})["id"]

    def watch(self, jobid):
        for answer in self.stream("job-info.eventlog-watch", {"id": jobid, "path": "eventlog", "flags": 0}):
            yield json.loads(answer["event"])


def jobspec(args):
    system = {"duration": args.time}
    if not args.command:
        system["exec"] = {"test": {"run_duration": f"{args.run}s"}}
    if args.queue:
        system["queue"] = args.queue
    for setting in args.set:
        key, value = setting.split("=", 1)
        at = system
        for step in key.split(".")[:-1]:
            at = at.setdefault(step, {})
        at[key.split(".")[-1]] = json.loads(value)
    slot = {"type": "slot", "count": args.n, "label": "task", "with": [{"type": "core", "count": 1}]}
    task = {"command": args.command or ["true"], "slot": "task", "count": {"per_slot": 1}}
    return {"resources": [slot], "tasks": [task], "attributes": {"system": system}, "version": 1}


def parse(argv):
    parser = wire.Parser(usage=__doc__)
    parser.add_argument("--uri", default=os.environ.get("FLUX_URI"))
    parser.add_argument("--user", type=int)
    parser.add_argument("--roles", type=int, default=2)
    sub = parser.add_subparsers(dest="action", required=True, prog="job.py")
    for name in ("rpc", "stream"):
        p = sub.add_parser(name)
        p.add_argument("topic")
        p.add_argument("payload", nargs="?", type=json.loads)
    p = sub.add_parser("submit")
    p.add_argument("-n", type=int, default=1)
    p.add_argument("-u", "--urgency", type=int, default=16)
    p.add_argument("-t", "--time", type=float, default=0)
    p.add_argument("-r", "--run", type=float, default=0.001)
    p.add_argument("-q", "--queue")
    p.add_argument("-S", "--set", action="append", default=[])
    p.add_argument("--copies", type=int, default=1)
    p.add_argument("--flags", type=int, default=0)
    p.add_argument("command", nargs="*")
    p = sub.add_parser("wait")
    p.add_argument("id", type=int)
    p.add_argument("event")
    sub.add_parser("events").add_argument("id", type=int)
    sub.add_parser("jobs").add_argument("attrs", nargs="*", default=["state"])
    return parser.parse_args(argv)


def run(args):
    client = Client(args.uri, args.user, args.roles)
    if args.action == "rpc":
        print(json.dumps(client.rpc(args.topic, args.payload)))
    elif args.action == "stream":
        for answer in client.stream(args.topic, args.payload):
            print(json.dumps(answer), flush=True)
    elif args.action == "submit":
        for _ in range(args.copies):
            print(client.submit(jobspec(args), args.urgency, args.flags))
    elif args.action == "wait":
        for event in client.watch(args.id):
            if event["name"] == args.event:
                print(json.dumps(event))
                return 0
        return 1
    elif args.action == "events":
        log = client.rpc("job-info.lookup", {"id": args.id, "keys": ["eventlog"], "flags": 0})["eventlog"]
        print(" ".join(json.loads(line)["name"] for line in log.splitlines()))
    elif args.action == "jobs":
        for answer in client.stream("job-list.list", {"max_entries": 0, "attrs": args.attrs}):
            for job in answer["jobs"]:
                print(job["id"], *(json.dumps(job.get(attr)) for attr in args.attrs))
    return 0


def main():
    try:
        return run(parse(sys.argv[1:]))
    except Failed as failed:
        print(f"{failed.errnum}: {failed.text}", file=sys.stderr)
        return 1
