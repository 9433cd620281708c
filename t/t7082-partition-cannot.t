#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a job that one partition of its queue cannot run goes to the next; it ends when all have said so'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[resource]
noverify = true
[[resource.config]]
hosts = "fat"
cores = "0-7"
[[resource.config]]
hosts = "thin[0-1]"
cores = "0-3"
[[partition]]
name = "fat"
queues = ["batch"]
nodes = 1
cores-per-node = 8
hosts = "fat"
[[partition]]
name = "thin"
queues = ["batch"]
nodes = 2
cores-per-node = 4
hosts = "thin[0-1]"
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# Argument HOST: a job for that host, of one core, which ends when it is cancelled
cat >to.py <<EOF
import os, sys
sys.path.insert(0, os.path.join(os.environ["SHARNESS_TEST_SRCDIR"], "tools"))
import jobctl
spec = jobctl.jobspec(*jobctl.submit_words(["-q", "batch", "-r", "3600", "-t", "7200"]))
spec["attributes"]["system"]["constraints"] = {"hostlist": [sys.argv[1]]}
print(jobctl.Client(os.environ["FLUX_URI"], os.getuid(), 3).submit(spec))
EOF
export SHARNESS_TEST_SRCDIR
# to NAME HOST: $NAME is the id of such a job
to() {
	id=$(python3 to.py $2) && eval "$1=$id"
}
runs_in() {
	wait_event $1 start && test $(child_of $1) = $(job_of $2)
}
# cannot ID PLACE: the job waits, and the partition at that place of the file has said that it cannot run it
cannot() {
	wait_until job-route.locate "{\"id\":$1}" ".child == 0 and (.partitions[$2].away | strings | startswith(\"cannot run it: \"))" >/dev/null
}

test_expect_success 'jobs of two nodes, and of tasks that only a large node has room for, run where that is' '
	start_weir --config site.toml --statedir "$(pwd)/state" && are_up fat thin &&
	for i in 1 2; do wide=$(weir submit --json -q batch -N2 -n2 true | jq .id) && ended_well $wide || return 1; done &&
	for i in 1 2; do large=$(weir submit --json -q batch -c6 true | jq .id) && ended_well $large || return 1; done
'
test_expect_success 'jobs for a host run in the partition that has it, whichever is asked first' '
	to a fat && to b thin1 && to c thin0 && to d fat &&
	runs_in $a fat && runs_in $b thin && runs_in $c thin && runs_in $d fat
'
test_expect_success 'what no partition can run ends, with the words of each' '
	to e thin7 && wait_event $e exception | tee exception | jq -e ".type == \"alloc\" and .severity == 0" &&
	jq -r .note exception | grep "in the partition fat: .*; in the partition thin: " && wait_event $e clean
'
test_expect_success 'one that is drained may yet run it: the job waits, and weir why says what is known' '
	weir partition drain thin && to f thin1 && cannot $f 0 && weir why $f | tee why &&
	grep "waits for a partition of its queue that can run it: fat cannot run it: .*, thin is drained" why
'
test_expect_success 'it is asked again by a module that was loaded anew, waits again, and runs when the partition is back' '
	load_route_again && are_up fat && cannot $f 0 && weir partition resume thin && runs_in $f thin
'
test_expect_success 'a restart of the instance changes nothing' '
	weir partition drain fat && to g fat && cannot $g 1 &&
	stop_weir && start_weir --config site.toml --statedir "$(pwd)/state" && are_up thin && cannot $g 1 &&
	weir partition resume fat && runs_in $g fat
'
test_done
