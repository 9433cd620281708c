# SPDX-License-Identifier: LGPL-3.0-only
"""Reads a broker's jobs.journal as it lies on disk, by its own means. Times are whole microseconds."""
import json
import os
from dataclasses import dataclass, field


def microseconds(timestamp):
    return round(timestamp * 1_000_000)


def idset(text):
    ids = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        ids |= set(range(int(first), int(last or first) + 1))
    return ids


def cores_of(document):
    """{(rank, core)} of an R."""
    cores = set()
    for entry in document["execution"]["R_lite"]:
        for rank in idset(entry["rank"]):
            cores |= {(rank, core) for core in idset(entry["children"]["core"])}
    return cores


@dataclass
class Job:
    id: int
    jobspec: dict
    events: list = field(default_factory=list)
    cores: set = field(default_factory=set)

    def system(self):
        return self.jobspec["attributes"].get("system", {})

    def token(self):
        return self.system().get("job", {}).get("name", "")

    def upstream(self):
        return self.system().get("weir", {}).get("jobid", 0)

    def named(self, name):
        return [event for event in self.events if event["name"] == name]

    def time(self, name):
        """Of the first event of that name, None without one."""
        found = self.named(name)
        return microseconds(found[0]["timestamp"]) if found else None

    def held(self):
        """Microseconds that it had its cores while its broker ran; None while it has them, or if it never did."""
        if self.time("alloc") is None or self.time("free") is None:
            return None
        down = sum(microseconds(event["context"]["seconds"]) for event in self.named("weir.down"))
        return self.time("free") - self.time("alloc") - down

    def is_active(self):
        return not self.named("clean")

    def status(self):
        found = self.named("finish")
        return found[0]["context"]["status"] if found else None

    def fatal(self):
        return next((e for e in self.named("exception") if e["context"]["severity"] == 0), None)


def read(statedir):
    """{id: Job} of the journal in that folder. A flush without its last line counts as never written."""
    jobs = {}
    with open(os.path.join(statedir, "jobs.journal"), encoding="utf-8") as file:
        entries = [json.loads(line) for line in file if line.endswith("\n")]
    if entries and entries[0].get("weir-jobs", 0) >= 3:
        while entries and not entries[-1].get("end"):
            entries.pop()
    for entry in entries[1:]:
        if "event" in entry:
            if entry["event"]["name"] == "submit":
                jobs[entry["id"]] = Job(entry["id"], entry["jobspec"])
            job = jobs[entry["id"]]
            job.events.append(entry["event"])
            if "R" in entry:
                job.cores = cores_of(entry["R"])
    return jobs
