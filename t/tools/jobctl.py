#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""A Flux client of its own for system tests: speaks the local:// wire protocol (RFC 3 messages), so that the tests of
the embedded broker need neither libflux nor a flux command, and can send what no well-behaved client would.

  jobctl.py rpc TOPIC [JSON]            one request, prints the response; exit 1 and "errno: text" on error
  jobctl.py stream TOPIC [JSON]         prints responses until the stream ends (ENODATA)
  jobctl.py submit [-n N] [-u URGENCY] [-t SECONDS] [-q QUEUE] [-S KEY=JSON]... [--copies N] [--] [COMMAND...]
                                        prints ids; without COMMAND a simulated job of run_duration -r (default 0.001)
  jobctl.py wait ID EVENT               waits for the event, prints it; exit 1 if the eventlog ends before
  jobctl.py events ID                   names of the job's events, one line
  jobctl.py jobs [ATTR...]              one line a job: attributes separated by blanks, in job-list order
  --user UID [--roles MASK]             act as a guest, or with other roles (the owner may set a message's credentials)
"""
import argparse
import base64
import json
import os
import socket
import struct
import sys

REQUEST, RESPONSE = 1, 2
TOPIC, PAYLOAD, NORESPONSE, ROUTE, STREAMING = 1, 2, 4, 8, 0x40
ENODATA = 61


class RpcError(Exception):
    def __init__(self, errnum, text):
        super().__init__(f"{errnum}: {text}")
        self.errnum, self.text = errnum, text


def frames(body):
    at = 0
    while at < len(body):
        size, at = body[at], at + 1
        if size == 255:
            size, at = struct.unpack(">I", body[at:at + 4])[0], at + 4
        yield body[at:at + size]
        at += size


def frame(data):
    return (bytes([len(data)]) if len(data) < 255 else b"\xff" + struct.pack(">I", len(data))) + data


class Client:
    def __init__(self, uri, user=None, roles=2):
        path = uri.removeprefix("local://")
        self.sock = socket.socket(socket.AF_UNIX)
        folder = os.open(os.path.dirname(path), os.O_PATH)
        self.sock.connect(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
        os.close(folder)
        refused = self.read(1)[0]
        if refused:
            raise RpcError(refused, os.strerror(refused))
        self.tag, self.user, self.roles = 0, user, roles

    def read(self, n):
        data = b""
        while len(data) < n:
            got = self.sock.recv(n - len(data))
            if not got:
                raise RpcError(104, "connection closed")
            data += got
        return data

    def send(self, topic, payload=None, streaming=False, noresponse=False):
        self.tag += 1
        flags = TOPIC | ROUTE | (STREAMING if streaming else 0) | (NORESPONSE if noresponse else 0)
        body = frame(b"") + frame(topic.encode())
        if payload is not None:
            flags |= PAYLOAD
            body += frame(json.dumps(payload).encode() + b"\0")
        user, roles = (self.user, self.roles) if self.user is not None else (0xFFFFFFFF, 0)
        tag = 0 if noresponse else self.tag
        body += frame(struct.pack(">BBBBIIII", 0x8E, 1, REQUEST, flags, user, roles, 0xFFFFFFFF, tag))
        self.sock.sendall(struct.pack("<I", 0xFFEE0012) + struct.pack(">I", len(body)) + body)
        return self.tag

    def receive(self, tag):
        while True:
            head = self.read(8)
            body = self.read(struct.unpack(">I", head[4:])[0])
            parts = list(frames(body))
            _, _, kind, flags, _, _, errnum, got = struct.unpack(">BBBBIIII", parts[-1])
            if kind != RESPONSE or got != tag:
                continue
            text = parts[-2].rstrip(b"\0").decode() if flags & PAYLOAD else ""
            if errnum:
                raise RpcError(errnum, text or os.strerror(errnum))
            return json.loads(text) if text.startswith(("{", "[")) else text or {}

    def rpc(self, topic, payload=None):
        return self.receive(self.send(topic, payload))

    def stream(self, topic, payload=None):
        tag = self.send(topic, payload, streaming=True)
        while True:
            try:
                yield self.receive(tag)
            except RpcError as error:
                if error.errnum == ENODATA:
                    return
                raise

    def submit(self, jobspec, urgency=16, flags=0):
        user = self.user if self.user is not None else os.geteuid()
        header = b"".join(s.encode() + b"\0" for s in ("version", "i1", "userid", f"i{user}", "mechanism", "snone"))
        j = ".".join([base64.b64encode(header).decode(), base64.b64encode(json.dumps(jobspec).encode()).decode(), "none"])
        return self.rpc("job-ingest.submit", {"J": j, "urgency": urgency, "flags": flags})["id"]

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
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--uri", default=os.environ.get("FLUX_URI"))
    parser.add_argument("--user", type=int)
    parser.add_argument("--roles", type=int, default=2)
    sub = parser.add_subparsers(dest="action", required=True)
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


if __name__ == "__main__":
    try:
        sys.exit(run(parse(sys.argv[1:])))
    except RpcError as failed:
        print(failed, file=sys.stderr)
        sys.exit(1)
