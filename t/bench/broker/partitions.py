#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""partitions.py BUILD JOBS [CHILDREN]: jobs through one of CHILDREN (50) partitions of an embedded instance, JOBS at a time.

The other partitions run a job of a second each all the time, so that each reports usage every second. First the jobs are submitted
to the partition itself, then to the parent, which routes them. Prints jobs a second by the client's clock, and CPU seconds and
memory of the parent, of the partition and of the others (the sum of their CPU, the mean of their memory), the messages a job
through the routers of the parent and of the partition, which do not depend on the machine, and the usage records of the partition that
the parent did not have when the last job ended. The client is job_rate_bench."""
import base64
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading

CORES = 64


def site(children):
    text = "[weir]\nupdate-interval = \"1s\"\n"
    for child in range(children):
        text += f'[[partition]]\nname = "p{child}"\ncores = {CORES if child == 0 else 1}\nscheduler = "fcfs"\n'
    return text


def process(pid):
    """CPU seconds and MiB."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return ((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"),
            int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 2**20)


class Site:
    def __init__(self, build, folder, children):
        self.bin, self.run, self.children = os.path.join(build, "bin"), os.path.join(folder, "run"), children
        with open(os.path.join(folder, "site.toml"), "w", encoding="utf-8") as out:
            out.write(site(children))
        self.start = subprocess.Popen(
            [os.path.join(self.bin, "weir"), "start", "--config", os.path.join(folder, "site.toml"), "--cores",
             str(CORES + children - 1), "--rundir", self.run, "--statedir", os.path.join(folder, "state")],
            stdout=subprocess.PIPE, text=True)
        if not self.start.stdout.readline():
            sys.exit("weir start failed")
        self.parent = self.pid(self.run)
        self.partition = self.pid(os.path.join(self.run, "p0"))
        self.others = [self.pid(os.path.join(self.run, f"p{child}")) for child in range(1, children)]

    @staticmethod
    def pid(rundir):
        with open(os.path.join(rundir, "broker.pid"), encoding="utf-8") as text:
            return int(text.read())

    def uri(self, name=""):
        return "local://" + os.path.join(self.run, name, "local-0")

    def figures(self):
        others = [process(pid) for pid in self.others] or [(0, 0)]
        return [process(self.parent), process(self.partition),
                (sum(cpu for cpu, _ in others), sum(mib for _, mib in others) / len(others))]

    def messages(self):
        """Through the routers of the parent and of the partition so far."""
        from wire import Client
        stats = [json.loads(Client(uri).rpc("broker.stats-get", {})) for uri in (self.uri(), self.uri("p0"))]
        return [one["requests"] + one["responses"] + one["events"] for one in stats]

    def unreported(self):
        """Usage records of the partition that the parent has not acknowledged."""
        from wire import Client
        return json.loads(Client(self.uri("p0")).rpc("job-priority.stats-get", {}))["uplink"]["unacknowledged"]

    def end(self):
        self.start.send_signal(signal.SIGINT)
        self.start.communicate()


class Others:
    """A job of a second after the other in each of the other partitions, submitted to them."""

    def __init__(self, a_site):
        self.is_over = threading.Event()
        self.site = a_site
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        from wire import Client
        clients = [Client(self.site.uri(f"p{child}")) for child in range(1, self.site.children)]
        spec = {"resources": [{"type": "slot", "count": 1, "label": "t", "with": [{"type": "core", "count": 1}]}],
                "tasks": [{"command": ["x"], "slot": "t", "count": {"per_slot": 1}}], "version": 1,
                "attributes": {"system": {"duration": 60, "exec": {"test": {"run_duration": "1s"}}}}}
        header = b"version\0i1\0userid\0i%d\0mechanism\0snone\0" % os.getuid()
        signed = base64.b64encode(header).decode() + "." + base64.b64encode(json.dumps(spec).encode()).decode() + ".none"
        while not self.is_over.wait(1):
            for client in clients:
                client.rpc("job-ingest.submit", {"J": signed, "urgency": 16, "flags": 0})

    def end(self):
        self.is_over.set()
        self.thread.join()


def measure(a_site, build, what, jobs, seen):
    before, sent_before = a_site.figures(), a_site.messages()
    uri, queue = (a_site.uri("p0"), []) if what == "direct" else (a_site.uri(), ["p0"])
    client = subprocess.run([os.path.join(build, "t/bench/broker/job_rate_bench"), str(jobs), "1000"] + queue,
                            env=dict(os.environ, FLUX_URI=uri), capture_output=True, text=True, check=False)
    if client.returncode != 0:
        sys.exit(client.stderr + client.stdout)
    unreported = a_site.unreported()
    words = client.stdout.split()
    rate = words[words.index("jobs_per_s") + 1]
    after, sent = a_site.figures(), a_site.messages()
    spent = [f"{name} {(new[0] - old[0]) / jobs * 1e6:.0f} us/job {new[1]:.0f} MiB"
             for name, old, new in zip(("parent", "partition", "others"), before, after)]
    sent = " and ".join(f"{(new - old) / jobs:.1f}" for old, new in zip(sent_before, sent))
    print(f"{what:7} after {seen:8} jobs: {rate} jobs/s  " + "  ".join(spent) + f"  messages/job {sent}  records not reported {unreported}",
          flush=True)


def main():
    build, jobs = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    children = int(sys.argv[3]) if len(sys.argv) > 3 else 50
    slice_of = max(1000, jobs // 10)
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
    with tempfile.TemporaryDirectory(prefix="weir-parts-") as folder:
        os.chmod(folder, 0o700)
        a_site = Site(build, folder, children)
        others = Others(a_site)
        try:
            for what in ("direct", "routed"):
                for seen in range(0, jobs, slice_of):
                    measure(a_site, build, what, slice_of, seen)
        finally:
            others.end()
            a_site.end()


if __name__ == "__main__":
    main()
