#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='one id over three levels: each instance knows a job by the id that any other one on its way gave it'

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
name = "low"
queues = ["batch"]
cores = 2
EOF
top=local://$WEIR_RUNDIR/local-0
middle=local://$WEIR_RUNDIR/batch/local-0
low=local://$WEIR_RUNDIR/batch/low/local-0
at() {
	place=$1
	shift
	weir --uri "$place" "$@"
}
id_of() {
	at "$top" submit --json -q batch "$@" | jq .id
}
# id_in PLACE ID: the id of the job in the partition of that instance, once the partition has it
id_in() {
	FLUX_URI=$1 wait_until job-route.ids "{\"ids\":[$2]}" ".jobs[0].below > 0" >one && jq ".jobs[0].below" one
}

test_expect_success 'a partition in a partition runs one job, and two others wait there' '
	start_weir --cores 4 --config site.toml &&
	runs=$(id_of --user nobody -c2 -t 10m sh -c "echo \$FLUX_JOB_ID; exec sleep 600") &&
	FLUX_URI=$top timeout 60 python3 "$WIRE" wait-event $runs start &&
	waits=$(id_of --user nobody -n2 -t 5m true) && own=$(id_of -n2 -t 6m true) &&
	runs_low=$(id_in "$middle" $(id_in "$top" $runs)) && waits_low=$(id_in "$middle" $(id_in "$top" $waits)) &&
	own_low=$(id_in "$middle" $(id_in "$top" $own)) && test $runs != $runs_low
'
# Mutant: an instance asks no partition about an id that it does not know.
test_expect_success 'the first instance takes the id that the third one gave: output, why, explain' '
	in_job=$(at "$top" output $runs) && at "$top" output $in_job | grep "$in_job" &&
	at "$top" why $waits_low >out && cat out && grep "estimated start" out &&
	at "$top" prio explain $waits_low >out && grep "priority" out &&
	at "$top" why $waits_low --json | jq -e ".id == $waits"
'
test_expect_success 'the third instance takes the id that the first one gave' '
	at "$low" why $waits >out && cat out && grep "estimated start" out && at "$low" output $runs | grep "$in_job" &&
	at "$low" prio explain $waits >out && grep "priority" out
'
test_expect_success GUEST 'a guest reads by such an id what he may read, and nothing more' '
	as_guest weir --uri "$top" output $in_job >out && grep "$in_job" out && as_guest weir --uri "$top" why $own_low &&
	test_must_fail as_guest weir --uri "$top" cancel $own_low 2>err && cat err &&
	test_must_fail as_guest weir --uri "$top" output $own_low 2>err && cat err && grep "weir: ƒ[^ ]*: it belongs to another user" err
'
test_expect_success 'nice and cancel, from below and from above' '
	at "$low" nice $waits 3 && at "$top" jobs --json | jq -e ".jobs[] | select(.id == $waits) | .urgency == 13" &&
	at "$top" cancel $waits_low && FLUX_URI=$top timeout 60 python3 "$WIRE" wait-event $waits clean &&
	at "$low" cancel $own && FLUX_URI=$top timeout 60 python3 "$WIRE" wait-event $own clean
'
test_expect_success 'the output of an ended job, by the id that it had in the third instance' '
	at "$top" cancel $in_job && FLUX_URI=$top timeout 60 python3 "$WIRE" wait-event $runs clean && at "$top" output $in_job | grep "$in_job"
'
test_expect_success 'a file for the output that is named by the job has the id that people know' '
	named=$(at "$top" submit -q batch --setattr=shell.options.output.stdout.path="$PWD/out-{{id}}" echo found | sed "s/^ƒ/f/") &&
	FLUX_URI=$top timeout 60 python3 "$WIRE" wait-event $(at "$top" jobs -a --json | jq ".jobs | max_by(.t_submit).id") clean &&
	ls out-* && grep found "out-$named"
'
test_expect_success 'an id that nobody gave is refused everywhere' '
	for place in "$top" "$middle" "$low"; do
		for command in why cancel; do
			test_expect_code 5 weir --uri "$place" $command 12345 2>err && cat err && grep "no job\|no active job" err || return 1
		done
	done
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
