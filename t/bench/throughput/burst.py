#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""burst.py FLUX BUILD JOBS SIDE... [--same] [--options WEIR_KEY=VALUE...]: a burst of JOBS jobs through a stock Flux, once a side.
Prints jobs/s, CPU seconds of the whole broker (with the processes of its modules), pushed priorities and starts out of order.

A SIDE is SCHEDULER, SCHEDULER+priority or SCHEDULER+given, where SCHEDULER is sched-simple or one of Weir's. "given" is without
Weir's plugin: each job has, from its submission on, its place in the order in which the side before it started the same jobs. So it
shows what that order costs Flux itself. The jobs belong to three banks of equal shares, ask for 1 to 4 of 32 cores and have
urgencies 6 to 16; their execution is mocked and lasts 1 ms. --same: all jobs are alike and of one bank, as those of flux-core's own
src/test/throughput.py.

The order is checked from the jobs' eventlogs, without asking job-priority: usage is added up from alloc to free. A start is out of
order when a job waited for more than GRACE seconds that needs no more cores and
- is of the same bank and has a higher urgency, size and age term (the default weights), or an equal one and was submitted before; or
- is of a bank that had less usage during all of the last SETTLED seconds, in which the factors are evaluated at least once, and its
  other terms do not outweigh a rank.
The first kind is counted as "in a bank", the second as "between banks"."""
import argparse
import bisect
import heapq
import json
import os
import subprocess
import sys
import tempfile
import time

BANKS = ["north", "south", "west"]
CORES = 32
GRACE = 0.25
SETTLED = 1.5
IN_FLIGHT_MAX = 500
URGENCY_WEIGHT = 1000 / 29
SIZE_WEIGHT = 500 / CORES
RANK_WEIGHT = 10000 / len(BANKS)


# ---- outside of the instance ----

def configuration(folder, build, side, options):
    """The folder of the configuration of an instance; the share tree lies beside it."""
    config = os.path.join(folder, "config")
    os.mkdir(config)
    shares = os.path.join(folder, "shares.toml")
    with open(shares, "w", encoding="utf-8") as text:
        for bank in BANKS:
            text.write(f'"{bank}" = 1\n"{bank}/@*" = 1\n')
    with open(os.path.join(config, "burst.toml"), "w", encoding="utf-8") as text:
        text.write(f'[weir]\nshare-tree = "{shares}"\n')
        for option in options:
            text.write(option.replace("=", " = ", 1) + "\n")
        text.write(f'[resource]\nnoverify = true\n[[resource.config]]\nhosts = "{os.uname().nodename}"\ncores = "0-{CORES - 1}"\n')
        if "+priority" in side:
            plugin = os.path.join(build, "lib/flux/job-manager/plugins/job-priority-tap.so")
        elif "+given" in side:
            plugin = os.path.join(build, "t/bench/throughput/given-order.so")
        else:
            return config
        text.write(f'[job-manager]\nplugins = [{{ load = "{plugin}" }}]\n')
    return config


def run_side(arguments, side, order_file):
    with tempfile.TemporaryDirectory(prefix="weir-burst-") as folder:
        config = configuration(folder, arguments.build, side, arguments.options)
        command = [arguments.flux, "start", "--test-size=1", "--setattr=broker.module-nopanic=1", f"--config-path={config}",
                   f"--setattr=rundir={folder}", f"--setattr=statedir={folder}", arguments.flux, "python", os.path.abspath(__file__),
                   "--inside", order_file, arguments.flux, arguments.build, str(arguments.jobs), side]
        if arguments.same:
            command.append("--same")
        return subprocess.run(command, check=False).returncode


# ---- inside ----

def process_seconds(root):
    """CPU seconds of a process and of all below it, but for this one, by program."""
    parents, seconds, names = {}, {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                name, rest = stat.read().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        fields = rest.split()
        parents[int(pid)] = int(fields[1])
        names[int(pid)] = name
        seconds[int(pid)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    family = {root}
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in family and pid != os.getpid()} - family
        family |= more
        grown = bool(more)
    return sum(seconds.get(pid, 0) for pid in family)


def thread_seconds(pid):
    found = {}
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/stat", encoding="utf-8", errors="replace") as stat:
            name, rest = stat.read().split("(", 1)[1].rsplit(")", 1)
        fields = rest.split()
        found[name] = found.get(name, 0) + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return found


class Submission:
    """Submits jobs, a bounded number of requests at a time."""

    def __init__(self, handle, total, is_same, places):
        self.handle, self.total, self.is_same, self.places = handle, total, is_same, places
        self.sent = self.answered = self.failed = 0
        self.state = 12345

    def random(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % limit

    def send(self):
        bank, cores, urgency = (BANKS[0], 1, 16) if self.is_same else (BANKS[self.random(3)], 1 + self.random(4), 6 + self.random(11))
        jobspec = {
            "resources": [{"type": "slot", "count": 1, "label": "task", "with": [{"type": "core", "count": cores}]}],
            "tasks": [{"command": ["true"], "slot": "task", "count": {"per_slot": 1}}],
            "attributes": {"system": {"duration": 60, "bank": bank, "cwd": "/", "environment": {},
                                      "exec": {"test": {"run_duration": "0.001s"}}},
                           "user": {"number": self.sent}},
            "version": 1}
        if self.places:
            jobspec["attributes"]["user"]["place"] = self.places[self.sent]
        self.sent += 1
        from flux import job
        job.submit_async(self.handle, json.dumps(jobspec), urgency=urgency).then(self.done)

    def done(self, future):
        try:
            future.get_id()
        except OSError as error:
            if not self.failed:
                print(f"submit: {error}", file=sys.stderr)
            self.failed += 1
        self.answered += 1
        if self.sent < self.total:
            self.send()
        elif self.answered == self.total:
            self.handle.reactor_stop()

    def run(self):
        for _ in range(min(IN_FLIGHT_MAX, self.total)):
            self.send()
        self.handle.reactor_run()


def load_side(handle, build, side):
    scheduler = side.split("+")[0]
    if scheduler != "sched-simple":
        subprocess.run(["flux", "module", "unload", "sched-simple"], check=True)
        subprocess.run(["flux", "module", "load", f"{build}/lib/flux/modules/{scheduler}.so"], check=True)
    if "+priority" in side:
        subprocess.run(["flux", "module", "load", f"{build}/lib/flux/modules/job-priority.so"], check=True)
        handle.rpc("job-priority.sync").get()


def inside(arguments):
    import flux
    handle = flux.Flux()
    load_side(handle, arguments.build, arguments.side[0])
    broker = int(handle.attr_get("broker.pid"))
    threads = thread_seconds(broker)
    cpu, begin = process_seconds(broker), time.time()
    submission = Submission(handle, arguments.jobs, arguments.same, places_of_last(arguments) if "+given" in arguments.side[0] else [])
    submission.run()
    submitted = time.time() - begin
    waiting = None
    while True:
        stats = handle.rpc("job-list.job-stats", {}).get()
        states = stats["job_states"]
        waiting = waiting if waiting is not None else states["depend"] + states["priority"] + states["sched"]
        if states["inactive"] + stats.get("inactive_purged", 0) + submission.failed >= arguments.jobs:
            break
        time.sleep(0.2)
    total, cpu = time.time() - begin, process_seconds(broker) - cpu
    after = thread_seconds(broker)
    pushes = handle.rpc("job-priority.stats-get").get() if "+priority" in arguments.side[0] else {}
    logs = eventlogs(handle)
    first = min(log["submit"]["timestamp"] for log in logs.values())
    last = max(log["clean"]["timestamp"] for log in logs.values())
    events = sum(log["priorities"] for log in logs.values())
    write_places(arguments, logs)
    in_bank, between, longest = out_of_order(logs)
    print(f"{arguments.side[0]:28} jobs {arguments.jobs}  waiting when all were submitted {waiting}  submitted in {submitted:.1f} s  "
          f"{arguments.jobs / (last - first):.1f} jobs/s  CPU {cpu:.1f} s ({cpu / arguments.jobs * 1e3:.2f} ms a job)  "
          f"priority events a job {events / arguments.jobs:.2f}  pushed {pushes.get('pushed', 0)}  passes {pushes.get('passes', 0)}  "
          f"ordered {pushes.get('ordered', 0)}  out of order: in a bank {in_bank} (the passed one had waited for at most {longest:.2f} s), between banks {between}")
    print("    CPU s by thread: " + "  ".join(
        f"{name} {after[name] - threads.get(name, 0):.1f}" for name in sorted(after, key=lambda n: threads.get(n, 0) - after[n])
        if after[name] - threads.get(name, 0) >= 0.05), flush=True)
    subprocess.run(["flux", "module", "remove", "-f", "job-priority"], check=False, stderr=subprocess.DEVNULL)


def places_of_last(arguments):
    """The place of each job, by its number, in the order of the starts of the side before."""
    with open(arguments.inside, encoding="utf-8") as text:
        return json.load(text)


def write_places(arguments, logs):
    numbers = [log["jobspec"]["attributes"]["user"]["number"] for log in sorted(logs.values(), key=lambda log: log["alloc"]["timestamp"])]
    places = [0] * len(numbers)
    for place, number in enumerate(numbers):
        places[number] = place
    with open(arguments.inside, "w", encoding="utf-8") as text:
        json.dump(places, text)


def eventlogs(handle):
    """What each job's eventlog has, from the job-manager's journal: {id: {event: entry, "priorities": count, "jobspec": ...}}."""
    from flux.constants import FLUX_RPC_STREAMING
    logs = {}
    stream = handle.rpc("job-manager.events-journal", {"full": True}, flags=FLUX_RPC_STREAMING)
    while True:
        answer = stream.get()
        if answer["id"] == -1 or not answer["events"]:
            return logs
        log = logs.setdefault(answer["id"], {"priorities": 0})
        if "jobspec" in answer:
            log["jobspec"] = answer["jobspec"]
        for event in answer["events"]:
            log["priorities"] += event["name"] == "priority"
            log.setdefault(event["name"], event)
        stream.reset()


class Usage:
    """Core-seconds of a bank up to any time in the past."""

    def __init__(self, changes):
        self.times, self.sums, self.rates = [0.0], [0.0], [0]
        for at, cores in sorted(changes):
            self.sums.append(self.sums[-1] + self.rates[-1] * (at - self.times[-1]))
            self.times.append(at)
            self.rates.append(self.rates[-1] + cores)

    def at(self, when):
        index = bisect.bisect_right(self.times, when) - 1
        return self.sums[index] + self.rates[index] * (when - self.times[index])


def out_of_order(logs):
    """How many starts passed a job of the same bank, and of another one, and how long the former had waited at most. See the top of
    this file."""
    facts, changes = {}, {bank: [] for bank in BANKS}
    for number, log in logs.items():
        bank = log["jobspec"]["attributes"]["system"]["bank"]
        cores = log["jobspec"]["resources"][0]["with"][0]["count"]
        urgency = log["submit"]["context"]["urgency"]
        if "alloc" in log:
            facts[number] = (bank, cores, urgency * URGENCY_WEIGHT + cores * SIZE_WEIGHT)
            changes[bank] += [(log["alloc"]["timestamp"], cores), (log["free"]["timestamp"], -cores)]
    usage = {bank: Usage(changes[bank]) for bank in BANKS}
    arrivals = sorted((log["priority"]["timestamp"] + GRACE, number) for number, log in logs.items() if number in facts)
    starts = sorted((logs[number]["alloc"]["timestamp"], number) for number in facts)
    waiting = {(bank, cores): [] for bank in BANKS for cores in range(1, 5)}
    started, arrived, in_bank, between, longest = set(), 0, 0, 0, 0.0
    for at, number in starts:
        while arrived < len(arrivals) and arrivals[arrived][0] <= at:
            new = arrivals[arrived][1]
            bank, cores, term = facts[new]
            heapq.heappush(waiting[bank, cores], (-round(term, 6), new))
            arrived += 1
        started.add(number)
        bank, cores, term = facts[number]
        passed = {}
        for (other, need), queue in waiting.items():
            while queue and queue[0][1] in started:
                heapq.heappop(queue)
            if queue and need <= cores:
                passed[other] = min(passed.get(other, queue[0]), queue[0])
        if bank in passed and passed[bank] < (-round(term, 6), number):
            in_bank += 1
            longest = max(longest, at - logs[passed[bank][1]]["priority"]["timestamp"])
        before = [at - SETTLED * part / 15 for part in range(16)]
        between += any(-first[0] + RANK_WEIGHT > term and all(usage[other].at(t) < usage[bank].at(t) for t in before)
                       for other, first in passed.items() if other != bank)
    return in_bank, between, longest


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--inside", metavar="ORDER_FILE")
    parser.add_argument("--same", action="store_true")
    parser.add_argument("flux")
    parser.add_argument("build")
    parser.add_argument("jobs", type=int)
    parser.add_argument("side", nargs="+")
    parser.add_argument("--options", nargs="*", default=[])
    arguments = parser.parse_args()
    if arguments.inside:
        return inside(arguments)
    arguments.build = os.path.abspath(arguments.build)
    with tempfile.TemporaryDirectory(prefix="weir-burst-") as folder:
        return max(run_side(arguments, side, os.path.join(folder, "order")) for side in arguments.side)


if __name__ == "__main__":
    sys.exit(main())
