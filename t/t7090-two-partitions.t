#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='two partitions: what is said of the jobs of one does not concern those of the other'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir.qos.high]
priority = 10
[weir.qos.low]
priority = 1

[[partition]]
name = "batch"
cores = 4

[[partition]]
name = "debug"
cores = 4
scheduler = "fcfs"
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# fills QUEUE: a job has all its cores
fills() {
	wait_event $(weir submit --json -q $1 -n4 --simulate=1h fill | jq .id) start
}

test_expect_success 'of the jobs in the way of one, those of another partition are no part' '
	start_weir --cores 8 --config site.toml --statedir "$(pwd)/state" && are_up batch debug &&
	fills batch && fills debug &&
	weir submit -q debug -n1 --qos high --simulate=1h d1 >d1 &&
	for k in 1 2 3 4 5; do weir submit -q batch -n1 --qos low --simulate=1h b >b$k || return 1; done &&
	weir submit -q debug -n1 --simulate=1h d2 >d2 && wait_until job-priority.list "{}" ".of == 7" >/dev/null &&
	weir prio explain $(cat d2) >out && cat out && grep "place 2 of 2" out && grep "^$(cat d1) .*debug" out && ! grep " batch " out &&
	weir prio explain $(cat b3) >out && cat out && grep "place 3 of 5" out && ! grep " debug " out &&
	weir prio when $(cat d2) $(cat b1) >out && cat out && grep "in the queues .*debug.*: neither delays the other\." out &&
	weir prio when $(cat d2) $(cat d1) >out && cat out && ! grep "neither" out
'
test_expect_success 'copies that a partition had to give back are no jobs that ended there' '
	(echo "\"everybody\" = 1"; echo "\"everybody/@*\" = 1") >open.toml && weir share apply --yes open.toml &&
	weir share set everybody cores_max=2 && uri=$(call job-route.partitions | jq -r ".partitions[] | select(.name == \"batch\") | .instances[0].uri") &&
	FLUX_URI=$uri wait_until job-list.job-stats "{}" ".canceled == 5" >/dev/null && weir share set everybody cores_max= &&
	weir tree >out && cat out && test "$(awk "/batch/ { print \$7 }" out)" = 0 && weir top --once >out && cat out && grep "batch.* 0 done" out &&
	weir tree --json >j && test "$(field j "d[\"children\"][0][\"jobs\"][\"canceled\"]")" = 5
'
test_expect_success 'cancel names what it canceled, if it fails on another job' '
	weir submit -q debug -n1 --simulate=1h d3 >d3 && test_expect_code 5 weir cancel $(cat d3) f1 2>err && cat err &&
	grep "no active job" err && grep "Canceled $(cat d3)\." err && weir cancel $(cat b5) 2>err && test_must_be_empty err
'
test_expect_success 'a queue is removed over a restart: the jobs that it had are listed, by its name' '
	sed "/name = \"debug\"/,\$d" site.toml | sed "\$d" >less.toml && cat less.toml && stop_weir &&
	start_weir --cores 8 --config less.toml --statedir "$(pwd)/state" && are_up batch &&
	call job-manager.queue-list "{}" >queues && cat queues && ! grep debug queues &&
	weir jobs -q debug >out && cat out && grep "^$(cat d1) " out && grep "^$(cat d2) " out && weir prio list -q debug &&
	weir cancel $(cat d1) $(cat d2) && weir cancel --all && wait_until job-list.job-stats "{}" ".job_states.sched == 0" >/dev/null &&
	for list in jobs "prio list"; do test_expect_code 5 weir $list -q debug 2>err && cat err && grep "no queue \"debug\"; there are: batch" err || return 1; done
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
