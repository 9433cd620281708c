#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='of equal priorities a partition starts the job first that its user submitted first, whichever came to it first'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[resource]
noverify = true
[[resource.config]]
hosts = "node[0-1]"
cores = "0-1"
[weir]
policy = "fcfs"
[[partition]]
name = "one"
queues = ["batch"]
nodes = 1
cores-per-node = 2
[[partition]]
name = "two"
queues = ["batch"]
nodes = 1
cores-per-node = 2
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# waits NAME PARTITION: a job of both cores of a partition, which waits in that one
waits() {
	gated $1 -q batch -n1 -c2 -t 1h && eval "id=\$$1" && is_ahead_in $id $2
}
is_ahead_in() {
	wait_until job-route.locate "{\"id\":$1}" ".child == $(job_of $2)" >/dev/null
}

test_expect_success 'two jobs run, and two wait, one in each partition' '
	start_weir --config site.toml --statedir "$(pwd)/state" && are_up one two &&
	for name in a b; do gated $name -q batch -n1 -c2 -t 1h && eval "id=\$$name" && wait_event $id start || return 1; done &&
	waits c one && waits d two
'
test_expect_success 'the older one comes to the other partition behind the younger' '
	weir partition drain one && is_ahead_in $c two
'
test_expect_success 'it starts first there' '
	end a && end b && (open_gate c & open_gate d & wait) && ended_well $c && ended_well $d &&
	printf "%s\\n" a b c d >expected && test_cmp expected ran
'
test_done
