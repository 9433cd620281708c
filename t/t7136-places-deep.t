#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir prio list at the parent says in which partition of a partition a job has its place'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<\EOF
[[partition]]
name = "batch"
cores = 2
[[partition.partition]]
name = "left"
queues = ["batch"]
cores = 1
[[partition.partition]]
name = "right"
queues = ["batch"]
cores = 1
[[partition]]
name = "debug"
cores = 1
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# waits QUEUE: a job that does, once the scheduler of the partition that has it has it; its id
waits() {
	id=$(weir submit --json -q $1 -t 5m sleep inf | jq .id) &&
		wait_until job-route.ask "{\"id\":$id,\"topic\":\"sched.why\",\"payload\":{}}" ".answer.place > 0" >/dev/null && echo $id
}

test_expect_success 'a partition with two partitions, and one without; all are full' '
	start_weir --cores 3 --config site.toml && are_up batch debug &&
	for queue in batch batch debug; do wait_event $(weir submit --json -q $queue -t 5m sleep inf | jq .id) start || return 1; done
'
test_expect_success 'the first of left and the first of right are told apart' '
	one=$(waits batch) && two=$(waits batch) && three=$(waits debug) && weir prio list >out && cat out &&
	grep "batch/left #1 " out && grep "batch/right #1 " out && grep " debug #1 " out && weir prio list --json >list.json &&
	jq -e "[.jobs[] | select(.id == $one or .id == $two) | \"\(.partition)/\(.inside) \(.place)\"] | sort == [\"batch/left 1\", \"batch/right 1\"]" list.json &&
	jq -e ".jobs[] | select(.id == $three) | .place == 1 and (has(\"inside\") | not)" list.json &&
	weir prio list --partition batch --json | jq -e "[.jobs[].id] | sort == ([$one, $two] | sort)"
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
