#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a stock Flux: a waiting job whose time limit changes goes down anew with the new one'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

follow_in_flux partitions.md
test "$(nproc)" -ge 2 || { skip_all='two partitions want two cores'; test_done; }

# What is recalled from one partition goes to the other at once.
test_expect_success 'a copy of the prefix with Weir, and two partitions of one queue' '
	copy_prefix && block "file: conf.d/partitions.toml" | sed "/^name = \"debug\"/a queues = [\"batch\"]" >copy/etc/flux/system/conf.d/partitions.toml
'
# The job-manager tells an update before it stores it: without regard to that, most copies have the former limit.
cat >update.py <<\EOF
import re
import flux, flux.job
from flux.job import JobspecV1

h = flux.Flux()

def submit(limit):
    spec = JobspecV1.from_command(["sleep", "inf"], num_tasks=1, cores_per_task=1)
    spec.duration = limit
    spec.setattr("system.queue", "batch")
    return flux.job.submit(h, spec)

def copy_of(job, former=0):
    """The job's copy in the partition, once there is another one than the former."""
    where = {"id": 0}
    while where["id"] in (0, former):
        where = h.rpc("job-route.locate", {"id": int(job)}).get()
    return where

def limit_of(copy):
    partition = flux.Flux(re.sub("^ssh://[^/]*", "local://", copy["uri"]))
    found = None  # as long as the copy is told of and not stored
    while found is None:
        found = flux.job.job_kvs_lookup(partition, copy["id"], keys=["jobspec"])
    return found["jobspec"]["attributes"]["system"]["duration"]

runs = [submit(3600), submit(3600)]
for job in runs:
    flux.job.event_wait(h, job, "start")
limits = []
for i in range(12):
    waits = submit(100)
    former = copy_of(waits)
    h.rpc("job-manager.update", {"id": int(waits), "updates": {"attributes.system.duration": 500}}).get()
    limits.append(int(limit_of(copy_of(waits, former["id"]))))
    flux.job.cancel(h, waits)
    flux.job.event_wait(h, waits, "clean", raiseJobException=False)
for job in runs:
    flux.job.cancel(h, job)
    flux.job.event_wait(h, job, "clean", raiseJobException=False)
print("limits", *limits)
EOF
cat >update.sh <<\EOF
flux queue start --all --quiet
flux python update.py
EOF
test_expect_success 'twelve jobs that wait in a partition: the new copy of each has the new limit' '
	inside update.sh >out 2>&1; code=$?; cat out && test $code = 0 && grep "^limits\( 500\)\{12\}$" out
'
test_done
