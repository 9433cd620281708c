#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the output of a job outlives its partition, a change of it, and with a statedir the whole instance'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

NOBODY=65534
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
cat >site.toml <<EOF
[weir.users]
nobody = $NOBODY
[[partition]]
name = "debug"
cores = 1
[[partition]]
name = "batch"
cores = 3
EOF
begin() {
	start_weir --cores 8 --config site.toml --statedir "$(pwd)/state"
}
is_removed() {
	wait_until job-route.partitions "{}" "[.partitions[].name] | index(\"$1\") | not" >/dev/null
}
# spoken WORDS [OPTION...]: a job that writes these words to both streams, and has ended; its id
spoken() {
	words=$1 && shift &&
		said=$(weir submit --json "$@" sh -c "echo $words; echo $words of stderr >&2" | jq .id) && wait_event $said clean >/dev/null && echo $said
}
# ask_as USER ID: what that guest is answered about the output of the job
ask_as() {
	python3 "$WIRE" --userid $1 --rolemask 2 rpc job-route.ask "{\"id\":$2,\"topic\":\"job-exec.output\"}"
}

test_expect_success 'a job runs in a partition; its output is read by its id at the parent' '
	begin && first=$(spoken hello) && weir output $first >out && printf "hello\nhello of stderr\n" >want && test_cmp want out
'
test_expect_success 'NUL characters and what is behind them, also where each part of an answer begins with one' '
	python3 -c "open(\"nuls\", \"wb\").write(b\"\\0abcdefghijklmn\\n\" * 50000)" && test $(wc -c <nuls) = 800000 &&
	weir submit --wait cat "$(pwd)/nuls" >out && cmp nuls out
'
test_expect_success 'after a restart of the whole instance' '
	stop_weir && begin && weir output $first | test_cmp want -
'
test_expect_success 'after the partition was killed and started again: it is another job at the parent' '
	kill -9 $(cat run/batch/broker.pid) && log_has "partition batch serves its queue again" && weir output $first | test_cmp want -
'
test_expect_success 'after a resize, while a job still runs in the older instance and when that one is gone' '
	own=$(spoken private --user nobody) && gated r1 && wait_event $r1 start &&
	weir partition resize batch --cores 2 && partition batch "select(.state == \"up\" and (.instances | length == 2))" && weir output $first | test_cmp want - &&
	weir output $r1 --json | jq -e "(.complete | not)" && open_gate r1 && ended_well $r1 && is_alone batch && weir output $first | test_cmp want -
'
test_expect_success FLUX 'a file that the user named is found, too' '
	named=$("$WEIR_FLUX" submit --queue=batch --output="$(pwd)/mine" echo in a file) && timeout 60 "$WEIR_FLUX" job wait-event $named clean &&
	weir partition restart batch && is_alone batch && weir output $named | grep "in a file" && weir output $named --json | jq -e ".path == \"$(pwd)/mine\""
'
test_expect_success FLUX 'flux job attach shows it' '
	timeout 20 "$WEIR_FLUX" job attach $(weir jobs -a --json | jq -r ".jobs[] | select(.id == $first) | .job") >out 2>err && cat out err && grep "^hello$" out && grep "hello of stderr" err
'
test_expect_success 'after the partition was removed' '
	weir partition remove batch && is_removed batch && weir output $first | test_cmp want - && { test -z "$named" || weir output $named | grep "in a file"; }
'
test_expect_success 'its user reads it, another guest does not' '
	ask_as $NOBODY $own | jq -e ".answer.data == \"private\n\"" && ask_as $NOBODY $first | tee out && grep "^error 1: .*belongs to another user" out &&
	ask_as 65533 $own | grep "^error 1: " && test "$(stat -c %a state/output)" = 700
'
test_expect_success 'after a further restart of the whole instance, and after a kill of it' '
	stop_weir && begin && weir output $first | test_cmp want - && kill -9 $(cat run/broker.pid) && { wait $WEIR_PID; all_gone; } &&
	begin && weir output $first | test_cmp want - && ask_as $NOBODY $own | jq -e ".answer.data == \"private\n\""
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
cat >deep.toml <<EOF
[[partition]]
name = "batch"
cores = 4
[[partition.partition]]
name = "left"
queues = ["batch"]
cores = 2
EOF
test_expect_success 'without a statedir and two levels below: the middle one is replaced' '
	start_weir --cores 8 --config deep.toml && deep=$(spoken deep) && weir output $deep | grep "^deep$" && weir partition resize batch --cores 3 &&
	is_alone batch && weir output $deep | grep "^deep$" && weir output $deep | grep "deep of stderr" && stop_weir && ! test -e run
'
test_done
