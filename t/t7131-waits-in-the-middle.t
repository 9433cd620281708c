#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a job that waits in a partition of which no inner partition has it: the first instance says why'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir
use_guest

cat >site.toml <<EOF
[access]
allow-guest-user = true
[weir.users]
nobody = $NOBODY
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
EOF
top=local://$WEIR_RUNDIR/local-0
middle=local://$WEIR_RUNDIR/batch/local-0
at() {
	place=$1
	shift
	weir --uri "$place" "$@"
}
id_of() {
	at "$top" submit --json -q batch "$@" | jq .id
}
# id_in_middle ID: its id there, once the middle instance has the job
id_in_middle() {
	FLUX_URI=$top wait_until job-route.ids "{\"ids\":[$1]}" ".jobs[0].below > 0" >one && jq ".jobs[0].below" one
}
# same_reason ID ID_IN_MIDDLE FILTER: both instances give this reason, and the first one names the partition
same_reason() {
	at "$top" why $1 --json >top.json && cat top.json && jq -e "$3" top.json && jq -e ".partition == \"batch\"" top.json &&
		at "$middle" why $2 --json >middle.json && cat middle.json && test "$(jq .text top.json)" = "$(jq .text middle.json)"
}

test_expect_success 'both inner partitions are drained, and two jobs wait before them' '
	start_weir --cores 2 --config site.toml &&
	at "$middle" partition drain left && at "$middle" partition drain right &&
	own=$(id_of -n1 -t 5m true) && hers=$(id_of --user nobody -n1 -t 5m true) &&
	own_below=$(id_in_middle $own) && hers_below=$(id_in_middle $hers)
'
# Mutant: an instance answers no question about a job that waits in it for a partition.
test_expect_success 'why: the first instance gives the reason of the second one' '
	same_reason $own $own_below ".reason == \"partition-away\" and (.text | contains(\"left is drained, right is drained\"))" &&
	at "$top" why $hers >out && cat out && grep "left is drained" out && grep "It is in the partition batch" out
'
test_expect_success GUEST 'why: to a guest, about his own job and about another one' '
	as_guest weir --uri "$top" why $hers >out && grep "left is drained" out &&
	as_guest weir --uri "$top" why $own >out && grep "left is drained" out
'
test_expect_success 'prio explain says so, here and there' '
	at "$top" prio explain $own >out && cat out && grep "left is drained" out &&
	at "$middle" prio explain $own_below >out && cat out && grep "left is drained" out
'
test_expect_success 'output: the job has none yet' '
	test_must_fail at "$top" output $own 2>err && cat err && grep "has not started" err
'
test_expect_success 'more jobs than the inner partitions are given wait in the second instance for room' '
	at "$middle" partition resume left && at "$middle" partition resume right &&
	FLUX_URI=$top timeout 60 python3 "$WIRE" wait-event $own clean && FLUX_URI=$top timeout 60 python3 "$WIRE" wait-event $hers clean &&
	for i in $(seq 26); do last=$(id_of -n1 -t 1h sleep 600) || return 1; done &&
	FLUX_URI=$middle wait_until job-route.tree "{}" ".waiting > 0 and ([.children[].jobs.pending] | all(. > 0))" >/dev/null &&
	waits=$(at "$middle" prio list -c 0 --json | jq "[.jobs[] | select(.child == null)][0].id") &&
	above=$(FLUX_URI=$middle call job-route.ids "{\"ids\":[$waits]}" | jq .jobs[0].above) &&
	same_reason $above $waits ".reason == \"partition-room\""
'
# Mutant: an estimate is marked as a bound only at the instance that has both partitions.
test_expect_success 'an estimate that another inner partition may undercut is marked in the first instance too' '
	deep=$(at "$middle" prio list -c 0 --json | jq "[.jobs[] | select(.may_start_in)][0].id") &&
	above=$(FLUX_URI=$middle call job-route.ids "{\"ids\":[$deep]}" | jq .jobs[0].above) &&
	at "$top" prio list -c 0 --json >top.json && jq -e ".jobs[] | select(.id == $above) | .may_start_in | length == 1" top.json &&
	at "$top" prio list -c 0 >out && cat out && grep "in .* \*" out &&
	at "$top" why $above >out && cat out && grep "it may start earlier in \(left\|right\)" out
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
