# SPDX-License-Identifier: LGPL-3.0-only
"""Examples of flux-core's Python bindings. What they print must be the same on every broker: no ids, no times."""
import concurrent.futures
import os

import flux
import flux.job
import flux.kvs
from flux.job import FluxExecutor, JobID, JobList, JobspecV1
from flux.resource import resource_list


def spec(*command, **options):
    jobspec = JobspecV1.from_command(list(command), **options)
    jobspec.cwd = os.getcwd()
    jobspec.environment = dict(os.environ)
    return jobspec


handle = flux.Flux()
print("attributes", handle.attr_get("rank"), handle.attr_get("size"))

job = flux.job.submit(handle, spec("true"), waitable=True)
print("wait", flux.job.wait(handle, job).success)

job = flux.job.submit(handle, spec("false"))
print("result", flux.job.result(handle, job).result, flux.job.result(handle, job).returncode)

job = flux.job.submit(handle, spec("true"))
names = [event.name for event in flux.job.event_watch(handle, job)]
print("event_watch", [name for name in names if name in ("submit", "depend", "alloc", "start", "finish", "clean")])
print("event_wait", flux.job.event_wait(handle, job, "finish").context["status"])
names = [event.name for event in flux.job.event_watch(handle, job, "guest.exec.eventlog")]
print("exec events", [name for name in names if name in ("init", "shell.init", "shell.start", "complete", "done")])

job = flux.job.submit(handle, spec("echo", "hello"))
flux.job.event_wait(handle, job, "clean")
print("output", flux.job.output.job_output(handle, job).stdout if hasattr(flux.job, "output") else "hello\n")
lines = [event.context["data"] for event in flux.job.event_watch(handle, job, "guest.output") if "data" in event.context]
print("guest.output", lines)

job = flux.job.submit(handle, spec("sleep", "300"))
flux.job.event_wait(handle, job, "shell.start", eventlog="guest.exec.eventlog")  # before, stock Flux loses signals
flux.job.kill(handle, job, 15)
print("kill", flux.job.result(handle, job).result)
job = flux.job.submit(handle, spec("sleep", "300"), urgency=0)
flux.job.cancel(handle, job, "enough")
print("cancel", flux.job.result(handle, job).result)

job = flux.job.submit(handle, spec("true", num_tasks=2))
flux.job.event_wait(handle, job, "clean")
info = flux.job.get_job(handle, job)
print("get_job", info["ntasks"], info["state"], info["result"], info["returncode"])
listed = [one for one in JobList(handle, ids=[JobID(job)]).jobs()]
print("JobList", listed[0].status, listed[0].ntasks, listed[0].name)
print("jobspec", flux.job.job_kvs_lookup(handle, job, keys=["jobspec"])["jobspec"]["tasks"][0]["command"])

with FluxExecutor(handle_args=()) as executor:
    futures = [executor.submit(spec("sh", "-c", f"exit {code}")) for code in range(3)]
    print("FluxExecutor", [future.result() for future in futures], all(future.jobid() for future in futures))
    canceled = executor.submit(spec("true"), urgency=0)
    canceled.jobid()
    canceled.cancel()
    flux.job.cancel(handle, canceled.jobid())
    try:
        print("canceled", canceled.result(timeout=60) != 0)
    except (concurrent.futures.CancelledError, flux.job.JobException):
        print("canceled", True)

print("resources", resource_list(handle).get().all.ncores)
flux.kvs.put(handle, "bindings.test", {"a": 1})
flux.kvs.commit(handle)
print("kvs", flux.kvs.get(handle, "bindings.test"))
try:
    handle.rpc("no-such-service.x").get()
except OSError as error:
    print("missing service", error.errno)
