# SPDX-License-Identifier: LGPL-3.0-only
"""annotation.py JOB KEY REGEX: returns when a pending job's annotation (user.why, sched.reason_pending) fits, and prints
it; an empty REGEX: when there is none. The job-manager's journal tells of changes; then job-list has it soon, too. Run with
`flux python`."""
import re
import sys

import flux
from flux.job import JobID

job_id, (part, name), regex = int(JobID(sys.argv[1])), sys.argv[2].split("."), sys.argv[3]
h = flux.Flux()


def value_of(job):
    return ((job.get("annotations") or {}).get(part) or {}).get(name) or ""


def fits(text):
    return bool(re.search(regex, text)) if regex else not text


def in_manager():
    jobs = h.rpc("job-manager.list", {"max_entries": 0}).get()["jobs"]
    return next((value_of(job) for job in jobs if job["id"] == job_id), "")


def in_list():
    return value_of(h.rpc("job-list.list-id", {"id": job_id, "attrs": ["annotations"]}).get()["job"])


stream = h.rpc(
    "job-manager.events-journal",
    {"full": False, "allow": {"memo": 1, "annotations": 1}},
    flags=flux.constants.FLUX_RPC_STREAMING,
)
stream.get()  # the state as it is
stream.reset()
while not fits(in_manager()):
    stream.get()
    stream.reset()
while not fits(in_list()):
    pass
print(in_list())
