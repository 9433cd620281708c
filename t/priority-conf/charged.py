# SPDX-License-Identifier: LGPL-3.0-only
"""What job-priority should have charged, worked out another way: cores of R times (free - alloc) of every job's eventlog,
less the time when the broker was down and the job had no process yet (weir.down), in whole core-microseconds. Prints
{"total": N, "BANK": N, ...}. Run with `flux python`."""
import json
import math

import flux
from flux.job import JobID


def idset_size(text):
    return sum(int(b or a) - int(a) + 1 for a, _, b in (part.partition("-") for part in text.split(",")))


def cores_of(R):
    return sum(idset_size(r["rank"]) * idset_size(r["children"]["core"]) for r in R["execution"]["R_lite"])


def main():
    handle = flux.Flux()
    sums = {"total": 0}
    for job in flux.job.JobList(handle, max_entries=0, attrs=["bank"], filters=[], user=str(2**32 - 1)).jobs():
        keys = handle.rpc("job-info.lookup", {"id": int(JobID(job.id)), "keys": ["eventlog"], "flags": 0}).get()
        log, down = {}, 0
        for line in keys["eventlog"].splitlines():
            entry = json.loads(line)
            log[entry["name"]] = math.floor(entry["timestamp"] * 1e6 + 0.5)  # not round(): halves go up
            if entry["name"] == "weir.down":
                down += math.floor(entry["context"]["seconds"] * 1e6 + 0.5)
        if "alloc" not in log:
            continue
        R = json.loads(handle.rpc("job-info.lookup", {"id": int(JobID(job.id)), "keys": ["R"], "flags": 0}).get()["R"])
        charge = cores_of(R) * (log["free"] - log["alloc"] - down)
        sums["total"] += charge
        sums[job.bank] = sums.get(job.bank, 0) + charge
    print(json.dumps(sums, sort_keys=True))


main()
