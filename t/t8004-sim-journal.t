#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir sim on a job journal: its names of accounts and queues count, in a run and in a comparison'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

# journal FILE JOB...: a journal of jobs of one core, each ID:SUBMIT:RUN:USERID:ACCOUNT:QUEUE; an empty name is none
journal() {
	python3 - "$@" <<-\EOF
	import json, sys
	lines = [{"weir-jobs": 1, "max_jobid": 99, "next_seq": 99}]
	for word in sys.argv[2:]:
	    job, submit, run, user, bank, queue = word.split(":")
	    job, submit, run = int(job), int(submit), int(run)
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
# starts FILE: the starts of all jobs of the first policy in a comparison's JSON, as weir sim run --starts writes them
starts() {
	echo job,start && field "$1" "\"\n\".join(\"%d,%d\" % (j[\"job\"], j[\"start_s\"]) for j in sorted(d[\"policies\"][0][\"window\"][\"jobs\"], key=lambda j: j[\"job\"]))"
}

# ---- accounts ----

# One core. Alice's default account is physics. She submits three jobs for chemistry, then bob two for physics and she
# one for physics. Chemistry and physics have equal shares, so that they take turns.
cat >shares.toml <<EOF
"physics" = 1
"physics/@alice" = 1
"physics/@bob" = 1
"chemistry" = 1
"chemistry/@alice" = 1
EOF
cat >fair.toml <<EOF
[sim]
scheduler = "fcfs"
[weir]
update-interval = 0
share-tree = "shares.toml"
[weir.users]
alice = 5001
bob = 5002
[weir.weights]
wait = 0
fairshare = 100000
size = 0
EOF
test_expect_success 'a comparison charges each job to its own account, and starts it when a run does' '
	journal accounts.journal 1:0:100:5001:chemistry: 2:0:100:5001:chemistry: 3:0:100:5001:chemistry: \
		4:1:100:5002:physics: 5:1:100:5002:physics: 6:2:100:5001:physics: &&
	printf "job,start\n1,0\n2,200\n3,400\n4,100\n5,500\n6,300\n" >expected &&
	weir sim run -q -c 1 -p fair.toml --starts=got accounts.journal && test_cmp expected got &&
	weir sim compare -q -c 1 fair.toml --trace=accounts.journal -o fair.json && starts fair.json >got && test_cmp expected got &&
	test "$(field fair.json "[(a[\"account\"], a[\"jobs\"]) for a in d[\"policies\"][0][\"accounts\"] if \"/\" not in a[\"account\"]]")" = \
		"[('"'physics', 3), ('chemistry'"', 3)]"
'
test_expect_success 'who has no shares in the account of a job is counted by a comparison as by a run' '
	grep -v "chemistry/@alice" shares.toml >some && cp some shares.toml && weir sim run --json -c 1 -p fair.toml accounts.journal >run.json &&
	weir sim compare -q -c 1 fair.toml --trace=accounts.journal -o some.json &&
	test "$(field run.json "d[\"without_shares\"]")" = 3 && test "$(field some.json "d[\"policies\"][0][\"without_shares\"]")" = 3
'
test_done
