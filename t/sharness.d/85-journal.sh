# SPDX-License-Identifier: LGPL-3.0-only
# Journals of jobs that no instance has run, for weir sim.

# journal FILE JOB...: a journal of jobs of one core, each ID:SUBMIT:RUN:USERID:ACCOUNT:QUEUE; an empty name is none.
# Times are in seconds.
journal() {
	python3 - "$@" <<-\EOF
	import json, sys
	lines = [{"weir-jobs": 1, "max_jobid": 99, "next_seq": 99}]
	for word in sys.argv[2:]:
	    job, submit, run, user, bank, queue = word.split(":")
	    job, submit, run = int(job), json.loads(submit), json.loads(run)
	    system = {"duration": run, **({"bank": bank} if bank else {}), **({"queue": queue} if queue else {})}
	    core = {"type": "slot", "label": "task", "count": 1, "with": [{"type": "core", "count": 1}]}
	    task = {"command": ["x"], "slot": "task", "count": {"per_slot": 1}}
	    r = {"version": 1, "execution": {"R_lite": [{"rank": "0", "children": {"core": "0"}}], "nodelist": ["n0"],
	         "starttime": 0, "expiration": 0}}
	    def event(at, name, **more):
	        context = {"context": {"userid": int(user)}} if name == "submit" else {}
	        lines.append({"id": job, "event": {"timestamp": at, "name": name, **context}, **more})
	    event(submit, "submit", seq=0, jobspec={"version": 1, "resources": [core], "tasks": [task], "attributes": {"system": system}})
	    event(submit, "depend")
	    event(1000 * job, "alloc", R=r)
	    for name in ("finish", "free", "clean"):
	        event(1000 * job + run, name)
	open(sys.argv[1], "w").write("".join(json.dumps(line) + "\n" for line in lines))
	EOF
}
