#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""A Flux client of the standard library alone, for tests of the embedded broker where there is no Flux: the local
connector's handshake and framing and RFC 3's encoding, written once more and independently of the broker's.
Its command line is call.py. The tests start it some thousand times, and most of a call's time is what Python imports: what
not every call needs is imported where it is used. So JSON is passed on as text, and argparse, whose import takes longest,
has its place taken by words().

    call.py rpc TOPIC [JSON]           the response, or "error N: text" and status 1
    call.py stream TOPIC [JSON]        each response on a line until the stream ends or --count of them have come
    call.py submit [options] -- CMD    submits a job (submit_words() has the options), prints its id
    call.py until TOPIC JSON FILTER    the first answer for which the jq filter holds; asks again whenever something happens
    call.py wait-event ID NAME         waits until the job's eventlog has the event, prints its context
    call.py events PREFIX COUNT        prints "ready" when subscribed, then COUNT event topics
    call.py raw HEX                    sends bytes as they are, prints what comes back until the broker hangs up
    --userid UID [--rolemask MASK]     before the command: speaks as this user (the owner may)
"""
import os
import struct
import sys
import time
from _socket import AF_UNIX, socket  # all that a client needs of the module socket, which imports several others
from binascii import b2a_base64

REQUEST, RESPONSE, EVENT = 1, 2, 4
TOPIC, PAYLOAD, NORESPONSE, ROUTE, STREAMING = 1, 2, 4, 8, 0x40
ENODATA = 61
UNTIL_S = 120  # real seconds, for what must come


def frame(data):
    return (bytes([len(data)]) if len(data) < 255 else b"\xff" + struct.pack(">I", len(data))) + data


def dumped(payload):
    """JSON; a text is JSON already."""
    if not isinstance(payload, str):
        import json
        payload = json.dumps(payload)
    return payload.encode()


def encode(kind, topic, payload, flags=0, aux1=0xFFFFFFFF, aux2=0, userid=0xFFFFFFFF, rolemask=0):
    body = b""
    if kind == REQUEST:
        flags |= ROUTE
        body += frame(b"")
    flags |= TOPIC
    body += frame(topic.encode())
    if payload is not None:
        flags |= PAYLOAD
        body += frame(dumped(payload) + b"\0")
    return body + frame(struct.pack(">BBBBIIII", 0x8E, 1, kind, flags, userid, rolemask, aux1, aux2))


def frames(data):
    at = 0
    while at < len(data):
        size = data[at]
        at += 1
        if size == 255:
            (size,) = struct.unpack_from(">I", data, at)
            at += 4
        yield data[at:at + size]
        at += size


class Message:
    def __init__(self, data):
        parts = list(frames(data))
        _, _, self.kind, self.flags, self.userid, self.rolemask, self.aux1, self.aux2 = struct.unpack(">BBBBIIII", parts.pop())
        self.routes = []
        if self.flags & ROUTE:
            while part := parts.pop(0):
                self.routes.append(part)
        self.topic = parts.pop(0).decode() if self.flags & TOPIC else ""
        self.text = parts.pop(0).rstrip(b"\0").decode() if self.flags & PAYLOAD else ""


class Failed(Exception):
    def __init__(self, errnum, text):
        self.errnum, self.text = errnum, text or os.strerror(errnum)
        super().__init__(f"error {errnum}: {self.text}")


class Client:
    def __init__(self, uri=None, userid=0xFFFFFFFF, rolemask=0):
        self.path = (uri or os.environ["FLUX_URI"]).removeprefix("local://")
        self.cred = {"userid": userid, "rolemask": rolemask}
        self.matchtag = 0
        self.early = []
        self.sock = socket(AF_UNIX)
        directory = os.open(os.path.dirname(self.path), os.O_PATH)  # short, however long the path is
        self.sock.connect(f"/proc/self/fd/{directory}/{os.path.basename(self.path)}")
        os.close(directory)
        verdict = self.sock.recv(1)
        if verdict != b"\0":
            raise Failed(verdict[0] if verdict else 104, "")

    def send(self, data):
        self.sock.sendall(struct.pack("=I", 0xFFEE0012) + struct.pack(">I", len(data)) + data)

    def exactly(self, count):
        data = b""
        while len(data) < count:
            piece = self.sock.recv(count - len(data))
            if not piece:
                raise Failed(104, "the broker hung up")
            data += piece
        return data

    def receive(self):
        head = self.exactly(8)
        return Message(self.exactly(struct.unpack(">I", head[4:])[0]))

    def start(self, topic, payload, flags=0):
        self.matchtag += 1
        self.send(encode(REQUEST, topic, payload, flags=flags, aux2=self.matchtag, **self.cred))
        return self.matchtag

    def answer(self, matchtag):
        """The next response to that request. Those to other requests are kept: answers keep no order among calls."""
        msg = next((m for m in self.early if m.aux2 == matchtag), None)
        if msg:
            self.early.remove(msg)
        while not msg:
            msg = self.receive()
            if msg.kind != RESPONSE:
                msg = None
            elif msg.aux2 != matchtag:
                self.early.append(msg)
                msg = None
        if msg.aux1:
            raise Failed(msg.aux1, msg.text)
        return msg.text

    def rpc(self, topic, payload=None):
        return self.answer(self.start(topic, payload))

    def notify(self, topic, payload=None):
        self.send(encode(REQUEST, topic, payload, flags=NORESPONSE, **self.cred))

    def respond(self, request, payload, errnum=0):
        """As a service that this client registered (service.add)."""
        body = b"".join(frame(part) for part in [*request.routes, b"", request.topic.encode()])
        body += frame(dumped(payload) + b"\0")
        cred = (self.cred["userid"], self.cred["rolemask"])
        self.send(body + frame(struct.pack(">BBBBIIII", 0x8E, 1, RESPONSE, request.flags | TOPIC | PAYLOAD | ROUTE, *cred,
                                           errnum, request.aux2)))

    def stream(self, topic, payload=None):
        matchtag = self.start(topic, payload, STREAMING)
        while True:
            try:
                yield self.answer(matchtag)
            except Failed as end:
                if end.errnum == ENODATA:
                    return
                raise


def jobspec(options):
    system = {"duration": options.duration, "cwd": options.cwd or os.getcwd()}
    if options.env:
        system["environment"] = dict(word.split("=", 1) for word in options.env)
    else:
        system["environment"] = dict(os.environ)
    if options.simulate is not None:
        system["exec"] = {"test": {"run_duration": options.simulate}}
    if options.output:
        system["shell"] = {"options": {"output": {"stdout": {"type": "file", "path": options.output}}}}
    for word in options.setattr:  # a.b=value, as flux submit has it
        path, value = word.split("=", 1)
        *above, key = path.split(".")
        place = system
        for step in above:
            place = place.setdefault(step, {})
        place[key] = value
    slot = {"type": "slot", "count": options.n, "label": "task", "with": [{"type": "core", "count": options.cores}]}
    return {"version": 1, "resources": [slot], "attributes": {"system": system},
            "tasks": [{"command": options.command or ["true"], "slot": "task", "count": {"per_slot": 1}}]}


def signed(userid, spec):
    """A jobspec as job-ingest takes it."""
    header = b"version\0i1\0userid\0i%d\0mechanism\0snone\0" % userid
    return ".".join(b2a_base64(part, newline=False).decode() for part in (header, dumped(spec))) + ".none"


def submit_words(argv):
    options, options.command = words(argv, n=1, cores=1, duration=0.0, simulate=None, output=None, cwd=None, env=[],
                                     setattr=[], urgency=16)
    return options


def submit(client, argv):
    import json
    options = submit_words(argv)
    userid = client.cred["userid"]
    signed_spec = signed(os.getuid() if userid == 0xFFFFFFFF else userid, jobspec(options))
    answer = json.loads(client.rpc("job-ingest.submit", {"J": signed_spec, "urgency": options.urgency, "flags": 0}))
    print(answer["id"])


class Condition:
    """A jq filter, asked again and again: one jq for all answers, since its start costs far more than an answer."""

    def __init__(self, text):
        import subprocess
        self.jq = subprocess.Popen(["jq", "--unbuffered", "-c", f"try ([{text}] | last) catch null | if . then true else false end"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def holds(self, answer):
        """Of a JSON text: the last value of the filter is neither false nor null. A filter that jq refuses ends the program."""
        try:
            self.jq.stdin.write(" ".join(answer.splitlines()) + "\n")
            self.jq.stdin.flush()
        except BrokenPipeError:
            pass
        said = self.jq.stdout.readline()
        if not said:
            sys.exit(f"error: jq ended with {self.jq.wait()} at: {answer}")
        return said == "true\n"


def until(client, topic, payload, text, patience_s):
    """Asks, and asks again after every job event, log line and count of jobs, which the broker streams. An answer between
    two modules is no event: after a second without any it asks all the same."""
    import select
    answer, condition = "nothing", Condition(text)
    client.sock.settimeout(patience_s)
    deadline = time.monotonic() + patience_s
    for stream, options in (("job-manager.events-journal", {}), ("log.dmesg", {"follow": True, "nobacklog": True}),
                            ("job-list.job-stats", {})):
        client.start(stream, options, STREAMING)
    tag = client.start(topic, payload)
    has_news = False
    while time.monotonic() < deadline:
        is_quiet = not select.select([client.sock], [], [], 1)[0]
        message = None if is_quiet else client.receive()
        if message is None or message.aux2 != tag:
            has_news = True
        else:
            answer, tag = message.text or os.strerror(message.aux1), None
            if message.text and not message.aux1 and condition.holds(answer):
                print(answer)
                return 0
        if tag is None and has_news:
            tag, has_news = client.start(topic, payload), False
    print(f"error: {topic} does not come to {text}; the last answer: {answer}")
    return 1


def wait_event(client, jobid, name):
    import json
    payload = {"id": int(jobid), "path": "eventlog", "flags": 0}
    for text in client.stream("job-info.eventlog-watch", payload):
        event = json.loads(json.loads(text)["event"])
        if event["name"] == name:
            print(json.dumps(event.get("context", {})))
            return 0
    print(f"error: job {jobid} ended without the event {name}")
    return 1


def events(client, prefix, count):
    client.rpc("event.subscribe", {"topic": prefix})
    print("ready", flush=True)
    while count > 0:
        msg = client.receive()
        if msg.kind == EVENT:
            print(msg.topic, flush=True)
            count -= 1


def raw(client, data):
    client.sock.sendall(bytes.fromhex(data))
    while piece := client.sock.recv(4096):
        print(piece.hex())
    print("closed")


class Words:
    """Options by name."""


def words(argv, **defaults):
    """The options, which have these defaults (None is a text, False a switch, a list gathers), and the other words, which
    all are that follow "--". An option's first letter stands for it."""
    options, rest, argv = Words(), [], list(argv)
    options.__dict__.update(defaults)
    names = {f"-{name[0]}": name for name in defaults} | {f"--{name}": name for name in defaults}
    while argv:
        word = argv.pop(0)
        if word == "--":
            return options, rest + argv
        word, is_joined, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if word[:2] in names:  # -n2
            word, is_joined, value = word[:2], word[2:], word[2:]
        if word not in names:
            if word.startswith("-"):
                sys.exit(f"error: no option {word}; there are: {' '.join(names)}")
            rest.append(word)
            continue
        name = names[word]
        if defaults[name] is False:
            setattr(options, name, True)
            continue
        value = value if is_joined else argv.pop(0)
        if isinstance(defaults[name], list):
            value = [*getattr(options, name), value]
        elif defaults[name] is not None:
            value = type(defaults[name])(value)
        setattr(options, name, value)
    return options, rest


def show_stream(client, argv):
    options, (topic, *payload) = words(argv, count=0, until=None, nth=1)
    if options.until:
        import re
    for count, text in enumerate(client.stream(topic, *payload), 1):
        if options.until:
            options.nth -= 1 if re.search(options.until, text) else 0
            if options.nth > 0 or not re.search(options.until, text):
                continue
        print(text, flush=True)
        if options.until or count == options.count:
            break


def rpc(client, argv):
    options, args = words(argv, noresponse=False)
    if options.noresponse:
        client.notify(*args)
    else:
        print(client.rpc(*args))


def run(client, what, argv):
    if what == "rpc":
        rpc(client, argv)
    elif what == "stream":
        show_stream(client, argv)
    elif what == "submit":
        submit(client, argv)
    elif what == "until":
        return until(client, *argv, UNTIL_S)
    elif what == "wait-event":
        return wait_event(client, *argv)
    elif what == "events":
        events(client, argv[0], int(argv[1]))
    elif what == "raw":
        raw(client, argv[0])
    else:
        sys.exit(f"error: no command {what}\n{__doc__}")
    return 0


def credentials(argv):
    """--userid and --rolemask, which come first, as Client() takes them; and the other words."""
    given = {}
    while argv and argv[0] in ("--userid", "--rolemask"):
        name, value, *argv = argv
        given[name.removeprefix("--")] = int(value)
    return given, argv


def main():
    if sys.argv[1:2] in ([], ["--help"]):
        print(__doc__)
        return 0
    try:
        given, (what, *argv) = credentials(sys.argv[1:])
        return run(Client(**given), what, argv)
    except BrokenPipeError:
        return 1  # whoever read our output has seen enough
    except (Failed, OSError) as failed:
        print(failed if isinstance(failed, Failed) else f"error {failed.errno}: {failed.strerror}")
        return 1
