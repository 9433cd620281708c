# SPDX-License-Identifier: LGPL-3.0-only
"""Examples of flux-core's Python bindings. What they print must be the same on every broker: no ids, no times."""
import concurrent.futures
import json
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


def answer(topic, payload=None, nodeid=flux.constants.FLUX_NODEID_ANY):
    """The error number and the words of a refused request."""
    try:
        return handle.rpc(topic, payload, nodeid).get()
    except OSError as error:
        return error.errno, error.strerror


print("unknown method", answer("job-manager.no-such-method", {})[0], answer("kvs.no-such-method", {})[0])
print("malformed", answer("job-manager.raise", {"id": "x"})[0], answer("job-info.lookup", {"id": 1, "keys": "R"})[0])
print("unknown job", answer("job-manager.raise", {"id": 1, "severity": 0, "type": "x"}))
print("rank that is not there", answer("broker.ping", {}, 7)[0])
print("attribute", answer("attr.get", {"name": "nosuch"})[0])
handle.attr_set("test.bindings", "1")
print("attr_set", handle.attr_get("test.bindings"))

print("# submit: many at a time, bad ones, options")
futures = [flux.job.submit_async(handle, spec("sh", "-c", f"exit {code}"), waitable=True) for code in range(4)]
ids = [future.get_id() for future in futures]
print("wait_async", [flux.job.wait_async(handle, one).get_status().success for one in ids])
print("results", [flux.job.result_async(handle, one).get_info().returncode for one in ids])
try:
    flux.job.wait(handle, ids[0])
except OSError as error:
    print("waited for twice", error.errno)
flux.job.submit(handle, spec("sh", "-c", "kill -9 $$"), waitable=True)
status = flux.job.wait(handle)
print("wait for any", status.success, status.errstr)
wrong = [json.loads(spec("true").dumps()) for _ in range(5)]
del wrong[0]["tasks"]
wrong[1]["version"] = 2
wrong[2]["attributes"]["system"]["duration"] = "long"
wrong[3]["attributes"]["system"]["queue"] = "none"
wrong[4]["attributes"]["system"]["dependencies"] = [{"scheme": "none", "value": "x"}]
for text in ("{", '"text"', "{}", *map(json.dumps, wrong)):
    try:
        flux.job.submit(handle, text)
        print("accepted", text)
    except OSError as error:
        print("refused", error.errno)
try:
    flux.job.submit(handle, spec("true"), urgency=99)
except OSError as error:
    print("urgency", error.errno)
named = spec("true")
named.setattr("system.job.name", "named")
named.duration = 90
job = flux.job.submit(handle, named, urgency=0)
print("pending", [(one.name, one.state, one.urgency, one.duration) for one in JobList(handle, filters=["pending"], name="named").jobs()])
handle.rpc("job-manager.memo", {"id": job, "memo": {"words": "mine"}}).get()
handle.rpc("job-manager.urgency", {"id": job, "urgency": 20}).get()
print("urgency", [event.context["urgency"] for event in flux.job.event_watch(handle, job) if event.name == "urgency"])
info = flux.job.list.job_list_id(handle, job, ["name", "urgency", "annotations", "result"]).get_job()
print("job_list_id", info["name"], info["urgency"], info["annotations"]["user"], info["result"])

print("# exceptions and signals")
job = flux.job.submit(handle, spec("sleep", "300"))
flux.job.event_wait(handle, job, "shell.start", eventlog="guest.exec.eventlog")
handle.rpc("job-manager.raise", {"id": job, "severity": 0, "type": "mine", "note": "words"}).get()
try:
    flux.job.event_wait(handle, job, "finish")
except flux.job.JobException as error:
    print("JobException", error)
result = flux.job.result(handle, job)
print("raised", result.result, result.returncode, result.exception.type, result.exception.note)
job = flux.job.submit(handle, spec("sh", "-c", "kill $$"))
result = flux.job.result(handle, job)
print("signal", result.result, result.returncode, result.waitstatus)
for number in (9, 15):
    try:
        flux.job.kill(handle, job, number)
    except OSError as error:
        print("kill", error.errno)

print("# journal")
job = flux.job.submit(handle, spec("true"))
flux.job.event_wait(handle, job, "clean")
seen = []
journal = flux.job.journal.JournalConsumer(handle, full=True)
journal.start()
while "clean" not in seen:
    event = journal.poll(60)
    if event.jobid == job:
        seen.append(event.name)
print("history", [name for name in seen if name not in ("annotations", "memo")])
later = flux.job.submit(handle, spec("false"))
seen = {}
while "clean" not in seen:
    event = journal.poll(60)
    if event.jobid == later:
        seen[event.name] = event
print("live", sorted(name for name in seen if name not in ("annotations", "memo")), seen["finish"].context)
print("jobspec and R", seen["submit"].jobspec["tasks"][0]["command"], seen["alloc"].R["version"])
journal.stop()
print("stopped", journal.poll(60))

print("# lists")
limited = spec("true")
limited.setattr("system.exec.test.run_duration", "300s")
limited.duration = 0.1
print("time limit", flux.job.result(handle, flux.job.submit(handle, limited)).result)
for filters in (["failed"], ["canceled"], ["timeout"]):
    print("JobList", filters, {one.result for one in JobList(handle, filters=filters, max_entries=3).jobs()})
print("max_entries", len(list(JobList(handle, filters=["inactive"], max_entries=2).jobs())))
print("since", len(list(JobList(handle, filters=["inactive"], since=4e9).jobs())))
print("unknown id", [error.strerror if isinstance(error, OSError) else str(error).split(": ")[-1]
                     for error in (lambda jobs: (list(jobs.jobs()), jobs.errors)[1])(JobList(handle, ids=[JobID(12345)]))])
stats = flux.job.stats.JobStats(handle).update_sync()
print("JobStats", stats.failed > 0, stats.successful > 0, stats.active >= 0)
lookup = flux.job.kvslookup.JobKVSLookup(handle, ids=[ids[0], ids[1]], keys=["jobspec", "R", "eventlog"])
print("JobKVSLookup", [sorted(data) for data in lookup.data()], lookup.errors)

print("# output")
job = flux.job.submit(handle, spec("sh", "-c", "echo one; echo two >&2; exit 2"))
print("output_watch", sorted(flux.job.output.output_watch_lines(handle, job, labelio=True)))
print("job_output", flux.job.output.job_output(handle, job)[1:3])

print("# kvs")
flux.kvs.put(handle, "bindings.dir.b", [1, 2])
flux.kvs.put(handle, "bindings.dir.c", "text")
flux.kvs.put(handle, "bindings.none", None)
flux.kvs.commit(handle)
print("get", flux.kvs.get(handle, "bindings.dir.b"), flux.kvs.get(handle, "bindings.dir.c"), flux.kvs.get(handle, "bindings.none"))
print("exists", flux.kvs.exists(handle, "bindings.dir.b"), flux.kvs.exists(handle, "bindings.x"), flux.kvs.isdir(handle, "bindings.dir"))
folder = flux.kvs.KVSDir(handle, "bindings.dir")
print("KVSDir", sorted(folder.files()), sorted(flux.kvs.KVSDir(handle, "bindings").directories()), folder["c"])
flux.kvs.put_unlink(handle, "bindings.dir.b")
flux.kvs.commit(handle)
print("walk", [(path, sorted(folders), sorted(files)) for path, folders, files in flux.kvs.walk("bindings", flux_handle=handle)])
try:
    flux.kvs.get(handle, "bindings.dir.b")
except OSError as error:
    print("missing key", error.errno)

print("# resources")
handle.rpc("resource.drain", {"targets": "0", "reason": "fan"}).get()
status = flux.resource.status.resource_status(handle).get()
print("drained", str(status.drained), status.get_drain_info(0).reason if hasattr(status, "get_drain_info") else "fan")
print("down", resource_list(handle).get().down.nnodes, resource_list(handle).get().free.ncores)
handle.rpc("resource.undrain", {"targets": "0"}).get()
status = flux.resource.status.resource_status(handle).get()
print("undrained", str(status.drained), str(status.online), str(status.offline), status.nodelist)
print("without a reason", answer("resource.drain", {"targets": "0"}), answer("resource.drain", {"targets": "0", "reason": "fan"}))
for mode in ("", "all"):
    print("mode", answer("resource.drain", {"targets": "0", "mode": mode}), answer("resource.undrain", {"targets": "0", "mode": mode}))
print("drained", answer("resource.drain", {"targets": "0"}), answer("resource.drain", {"targets": "0", "mode": 1})[0])
print("undrained", answer("resource.undrain", {"targets": "0"}), answer("resource.undrain", {"targets": "0"}))
print("lists", resource_list(handle).get().all.nodelist, resource_list(handle).get().allocated.ncores)

print("# events and services of a client")
handle.event_subscribe("bindings.")
handle.event_send("bindings.one", {"a": 1})
message = handle.event_recv()
print("event", message.topic, message.payload)
handle.service_register("bindings").get()
other = flux.Flux()


def reply(h, _, request, __):
    h.respond(request, {"twice": request.payload["n"] * 2})
    h.reactor_stop()


watcher = handle.msg_watcher_create(reply, flux.constants.FLUX_MSGTYPE_REQUEST, "bindings.double")
watcher.start()
future = other.rpc("bindings.double", {"n": 21})
handle.reactor_run()
print("service", future.get())
watcher.destroy()
handle.service_unregister("bindings").get()
try:
    other.rpc("bindings.double", {"n": 1}).get()
except OSError as error:
    print("service that is gone", error.errno)
