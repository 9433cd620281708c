#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""page.py BUILD [JOBS [VIEWERS [SECONDS]]]: what the live page costs at 100,000 associations and JOBS (100,000) waiting jobs.

An embedded instance of 64 cores runs jobs of a second each, so that usage, queue and order change all the time. First no one looks for
SECONDS (60). Then somebody asks for the events: milliseconds until tree, queue and instances come. Then a browser opens the page: its
first paint, and when they are drawn. Then VIEWERS (200) read the stream of events for SECONDS, twice. Prints bytes a second a viewer as they come over the socket, CPU of weir serve, and CPU of the broker by
thread, as parts of a core, with and without viewers."""
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../tools"))
FACULTIES, GROUPS, USERS = 40, 50, 50  # 100,000 users below 2,040 accounts
SUBMITTERS = 2000
IN_FLIGHT = 256
READY = ("document.querySelectorAll('.spacer [role=row]').length > 0 && document.querySelector('#queue g[data-place]')"
         " && document.querySelector('#instances g[data-busy]') && performance.now()")


def tree():
    for f in range(FACULTIES):
        yield f'"faculty{f}" = {1 + f % 7}'
        for g in range(GROUPS):
            yield f'"faculty{f}/group{g}" = {1 + g % 5}'
            for u in range(USERS):
                yield f'"faculty{f}/group{g}/@u{(f * GROUPS + g) * USERS + u}" = 1'
    yield '"instances" = 0'
    yield '"instances/@*" = 1'


def submitters():
    """(number in the tree, user id), spread over all accounts."""
    step = FACULTIES * GROUPS * USERS // SUBMITTERS
    return [(n * step, 100000 + n) for n in range(SUBMITTERS)]


def write_site(folder):
    with open(os.path.join(folder, "shares.toml"), "w", encoding="utf-8") as out:
        out.write("\n".join(tree()) + "\n")
    with open(os.path.join(folder, "weir.toml"), "w", encoding="utf-8") as out:
        out.write("[weir.users]\n" + "".join(f"u{number} = {uid}\n" for number, uid in submitters()))


def threads(pid):
    """CPU seconds by name of thread."""
    spent = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/stat", encoding="utf-8", errors="replace") as stat:
            head, fields = stat.read().rsplit(")", 1)
        name = head.split("(", 1)[1]
        fields = fields.split()
        spent[name] = spent.get(name, 0) + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent


def parts(before, after, seconds):
    """Of a core, by thread, those above a thousandth."""
    used = {name: (cpu - before.get(name, 0)) / seconds for name, cpu in after.items()}
    return {name: round(part, 4) for name, part in sorted(used.items(), key=lambda item: -item[1]) if part > 0.001}


def submit_all(uri, jobs):
    from wire import RESPONSE, Client
    import base64
    client, users = Client(uri), submitters()
    spec = {"version": 1, "resources": [{"type": "slot", "count": 1, "label": "task", "with": [{"type": "core", "count": 1}]}],
            "tasks": [{"command": ["x"], "slot": "task", "count": {"per_slot": 1}}],
            "attributes": {"system": {"duration": 600, "exec": {"test": {"run_duration": "1s"}}}}}
    body = base64.b64encode(json.dumps(spec).encode()).decode()
    sent = answered = 0
    while answered < jobs:
        while sent < jobs and sent - answered < IN_FLIGHT:
            uid = users[sent * 7 % SUBMITTERS][1]
            client.cred = {"userid": uid, "rolemask": 3}
            header = base64.b64encode(b"version\0i1\0userid\0i%d\0mechanism\0snone\0" % uid).decode()
            client.start("job-ingest.submit", {"J": f"{header}.{body}.none", "urgency": 16, "flags": 0})
            sent += 1
        message = client.receive()
        if message.kind == RESPONSE:
            if message.aux1:
                sys.exit(f"a job was refused: {message.text}")
            answered += 1


class Viewers:
    """Read the stream as browsers do, compressed; what is counted is what comes over the socket."""

    def __init__(self, url, count):
        parts_of = urllib.parse.urlsplit(url)
        self.links = []
        for _ in range(count):
            link = socket.create_connection((parts_of.hostname, parts_of.port))
            link.sendall(f"GET /api/events HTTP/1.1\r\nHost: {parts_of.netloc}\r\nAuthorization: Bearer {parts_of.fragment}\r\n"
                         "Accept-Encoding: gzip\r\nAccept: text/event-stream\r\n\r\n".encode())
            self.links.append(link)

    def bytes_in(self, seconds):
        end, total = time.monotonic() + seconds, 0
        while (left := end - time.monotonic()) > 0:
            for link in select.select(self.links, [], [], left)[0]:
                piece = link.recv(1 << 16)
                if not piece:
                    sys.exit("the server hung up on a viewer")
                total += len(piece)
        return total


def window(pids, seconds, run):
    before, begin = {name: threads(pid) for name, pid in pids.items()}, time.monotonic()
    result = run(seconds)
    took = time.monotonic() - begin
    return result, {name: parts(before[name], threads(pid), took) for name, pid in pids.items()}


def first_events(url):
    """Milliseconds from the request to the tree, and to each picture, as they come. Forecasts come last."""
    from serve_client import events
    came, begin = {}, time.monotonic()
    for name, data in events(url):
        for part in data if name == "pictures" else [name]:
            came.setdefault(part, round((time.monotonic() - begin) * 1e3))
        if {"tree", "queue", "instances"} <= set(came):
            return came
    sys.exit("the stream has ended")


def first_document(stream):
    text = ""
    for line in stream:
        text += line
        if line.startswith("}"):
            return json.loads(text)
    sys.exit("weir serve ended")


def look(url):
    from browser import Browser
    with Browser() as browser:
        page = browser.page(url)
        drawn = page.until(READY)
        paint = page.until("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        return {"first_contentful_paint_ms": round(paint), "tree_queue_and_instances_ms": round(drawn)}


def main():
    build = os.path.abspath(sys.argv[1])
    jobs, viewers, seconds = (int(sys.argv[n]) if len(sys.argv) > n else known for n, known in ((2, 100000), (3, 200), (4, 60)))
    weir = os.path.join(build, "bin/weir")
    with tempfile.TemporaryDirectory(prefix="weir-page-") as folder:
        os.chmod(folder, 0o700)
        write_site(folder)
        run = os.path.join(folder, "run")
        start = subprocess.Popen([weir, "start", "--cores", "64", "--tree", os.path.join(folder, "shares.toml"), "--config",
                                  os.path.join(folder, "weir.toml"), "--rundir", run, "--statedir", os.path.join(folder, "state")],
                                 stdout=subprocess.PIPE, text=True)
        serve = None
        try:
            if not start.stdout.readline():
                sys.exit("weir start failed")
            uri = "local://" + os.path.join(run, "local-0")
            submit_all(uri, jobs)
            with open(os.path.join(run, "broker.pid"), encoding="utf-8") as text:
                pids = {"broker": int(text.read())}
            print(json.dumps({"without viewers": window(pids, seconds, time.sleep)[1]}), flush=True)
            serve = subprocess.Popen([weir, "serve", "--uri", uri, "--port", "0", "--json"], stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, text=True)
            url = first_document(serve.stdout)["url"]
            pids["serve"] = serve.pid
            print(json.dumps({"ms to the first events, nobody looked before": first_events(url)}), flush=True)
            print(json.dumps({"a browser then": look(url)}), flush=True)
            print(json.dumps({"a browser again": look(url)}), flush=True)
            crowd = Viewers(url, viewers)
            first, cost = window(pids, seconds, crowd.bytes_in)
            print(json.dumps({f"{viewers} viewers, the first {seconds} s": {"bytes_a_second_a_viewer": round(first / viewers / seconds),
                                                                           **cost}}), flush=True)
            then, cost = window(pids, seconds, crowd.bytes_in)
            print(json.dumps({f"{viewers} viewers, then": {"bytes_a_second_a_viewer": round(then / viewers / seconds), **cost}}), flush=True)
        finally:
            for process in (serve, start):
                if process:
                    process.send_signal(signal.SIGINT)
                    process.wait()


if __name__ == "__main__":
    main()
