#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a partition that is stopped (SIGSTOP): it counts as lost, nobody waits for it, and it comes back'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

printf "[weir]\nhalf-life = \"2d\"\n[weir.route]\nlost-after = \"8s\"\n" >weir.toml
uri=local://$WEIR_RUNDIR/local-0

# The process of a partition's broker.
broker_of() {
	cat "run/$1/broker.pid"
}
# holder_of ID: the job of the parent that is the partition which has it; 0: nobody
holder_of() {
	call job-route.locate "{\"id\":$1}" | jq .child
}
# submit_to QUEUE WORDS...: the job's id in digits
submit_to() {
	queue=$1 && shift && weir submit --json --queue "$queue" "$@" | jq .id
}

test_expect_success 'one job runs in the partition batch, another waits there, debug has a job' '
	start_weir --cores 8 --config weir.toml --statedir "$(pwd)/state" && FLUX_URI=$uri && export FLUX_URI &&
	mkfifo runs &&
	runs=$(submit_to batch -c6 sh -c "echo up >\"$(pwd)/runs\"; exec sleep 600") && read -r line <runs &&
	waits=$(submit_to batch -n6 sh -c "echo ran >>\"$(pwd)/witness\"") &&
	other=$(submit_to debug sh -c "echo up >\"$(pwd)/runs\"; exec sleep 600") && read -r line <runs &&
	wait_event $waits weir.route && batch=$(holder_of $runs) && test "$batch" -gt 0 && test "$(holder_of $waits)" = "$batch"
'
test_expect_success 'stopped: weir reload answers all the same, and says who did not' '
	kill -STOP $(broker_of batch) && sed -i "s/2d/3d/" weir.toml && timeout 40 weir reload >out 2>err &&
	grep "batch was not asked; it keeps its configuration until .*does not answer" err &&
	grep "half-life: \"2d\" -> \"3d\"" out && grep "Reloaded by top and debug\|Reloaded by debug and top" out
'
test_expect_success 'it counts as lost: the log, weir tree and weir reload say so' '
	log_has "child $batch has sent nothing although its link is up: it counts as lost" &&
	timeout 40 weir tree >out && grep "batch .*lost since" out &&
	timeout 40 weir reload 2>err && grep "batch was not asked; it keeps its configuration until .*no link" err
'
test_expect_success 'what waited there waits at the parent, what runs stays' '
	test "$(holder_of $waits)" = 0 && test "$(holder_of $runs)" = "$batch"
'
test_expect_success 'the other partition runs a job' '
	weir submit --queue debug --wait true >out 2>&1 || { cat out; false; }
'
test_expect_success 'a job of the other partition can be cancelled' '
	weir cancel $other >out 2>&1 || { cat out; false; }
'
test_expect_success 'it goes on: it is attached again, its job ran on, the other runs there, once' '
	kill -CONT $(broker_of batch) && log_has "child $batch attached" 2 && ! test -e witness &&
	weir cancel $runs && wait_event $waits clean &&
	test "$(grep -c "^ran$" witness)" = 6 && wait_event $runs clean
'
test_expect_success 'weir tree and weir reload reach everybody again' '
	weir tree >out && test_expect_code 1 grep lost out &&
	weir reload >out 2>err && grep "Reloaded by top, \(batch and debug\|debug and batch\)" out && test_must_be_empty err
'
# The top reads a pipe: what happens before the pipe has an end, happens after weir reload has seen who is there.
test_expect_success 'one that ends while weir reload asks the others: they have the change, and so has its next instance' '
	sed "s/3d/4d/" weir.toml >next && rm weir.toml && mkfifo weir.toml && { timeout 40 weir reload >out 2>err & } && pid=$! &&
	exec 7>weir.toml && mv next weir.toml && old=$(broker_of batch) && kill -9 $old && wait_gone $old && cat weir.toml >&7 && exec 7>&- &&
	wait $pid && cat out err && grep "half-life: \"3d\" -> \"4d\"" out && grep "Reloaded by top and debug" out &&
	grep "batch ended meanwhile.*its next instance starts with the new configuration" err && test_expect_code 1 grep "Nothing" err &&
	log_has "partition batch serves its queue again" && call config.get | jq -e ".weir.\"half-life\" == \"4d\"" &&
	FLUX_URI=local://$WEIR_RUNDIR/batch/local-0 call config.get | jq -e ".weir.\"half-life\" == \"4d\""
'
# It reads a pipe again, for longer than weir reload waits.
test_expect_success 'a top that does not answer: nobody says that nothing was changed, and it has the change when it goes on' '
	sed "s/4d/5d/" weir.toml >next && rm weir.toml && mkfifo weir.toml && { timeout 60 weir reload >out 2>err & } && pid=$! &&
	exec 7>weir.toml && mv next weir.toml && test_expect_code 1 wait $pid && cat err && grep "did not answer config.reload in time" err &&
	grep "^It reads the files when it continues. The partitions were not asked" err && test_expect_code 1 grep "Nothing" err &&
	cat weir.toml >&7 && exec 7>&- && wait_until config.get "{}" ".weir.\"half-life\" == \"5d\""
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
# One that hangs is waited for 5 s: one after the other, four would take 20 s. Prometheus waits 10 s for all metrics.
test_expect_success 'four that are stopped at once cost one wait together' '
	rm -rf run state && for p in a b c d; do printf "[[partition]]\nname = \"$p\"\ncores = 1\n" || return 1; done >four.toml &&
	start_weir --cores 4 --config four.toml && kill -STOP $(for p in a b c d; do broker_of $p; done) &&
	timeout 15 weir metrics >out && test $(grep -c "^weir_partition_up{partition=\"[abcd]\"} 0" out) = 4 &&
	test_expect_code 1 grep "^weir_partition_[jc].*{" out &&
	timeout 15 weir tree >out && test $(grep -c "does not answer" out) = 4
'
test_expect_success 'four that ask the page for metrics meanwhile cost one wait together, too' '
	start_serve page --port 0 && for i in 1 2 3 4; do
		timeout 15 python3 "$SERVE_CLIENT" "$(serve_url page)" get /metrics >got.$i & eval "asks$i=$!"
	done && wait $asks1 && wait $asks2 && wait $asks3 && wait $asks4 &&
	for i in 1 2 3 4; do grep "^weir_partition_up{partition=\"d\"} 0" got.$i || return 1; done && stop_serve page
'
test_expect_success 'they go on, and are asked again' '
	kill -CONT $(for p in a b c d; do broker_of $p; done) && weir tree >out && test_expect_code 1 grep "does not answer" out &&
	stop_weir && test -z "$(leftovers)"
'
test_done
