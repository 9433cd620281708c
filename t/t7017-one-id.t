#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='one id, one answer: a job is asked about by its id at any instance of the tree, also by a guest, and
the instance that has the job answers'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir
use_guest

cat >common.toml <<EOF
[weir-broker]
modules = ["kvs", "resource", "job-manager", "job-exec", "sched-weir-easy", "job-priority", "job-route"]
[job-manager]
plugins = [{load = "job-priority-tap.so"}, {load = "job-route-tap.so"}]
[weir.users]
nobody = $NOBODY
EOF
{ cat common.toml && cat <<EOF; } >top.toml
[[resource.config]]
hosts = "node0"
cores = "0-3"
[access]
allow-guest-user = true
[queues.batch]
[queues.empty]
[queues.instances]
[weir.route]
queues = ["batch", "empty"]
EOF
{ cat common.toml && cat <<EOF; } >child.toml
[weir.route]
serves = ["batch"]
EOF

at() {
	place=$1
	shift
	weir --uri "$(pwd)/$place" "$@"
}
rpc_at() {
	place=$1
	shift
	FLUX_URI=local://$(pwd)/$place/local-0 python3 "$WIRE" rpc "$@"
}
# id_of WORDS...: submits to the top; the job's id in digits
id_of() {
	at top submit --json "$@" | jq .id
}
event() {
	FLUX_URI=local://$(pwd)/top/local-0 timeout 60 python3 "$WIRE" wait-event "$@"
}
# start_child NAME: a partition of one core that serves batch; its id in digits
start_child() {
	id_of -q instances sh -c "exec weir-broker -c '$PWD/child.toml' --rundir '$PWD/$1'"
}
# place_of ID: which partition has it
place_of() {
	rpc_at top job-route.locate "{\"id\":$1}" | jq .child
}
# local_of ID: its id in the partition, once that has it: the parent may move a job that waits
local_of() {
	FLUX_URI=local://$(pwd)/top/local-0 wait_until job-route.locate "{\"id\":$1}" ".id != null and .id > 0" >/dev/null &&
		rpc_at top job-route.locate "{\"id\":$1}" | jq .id
}
name_of() {
	weir jobs --uri "$(pwd)/top" -a --json | jq -r ".jobs[] | select(.id == $1) | .job"
}

test_expect_success 'two partitions serve one queue; each runs a job and has another that waits' '
	mkdir top state && mkfifo ready &&
	{ weir-broker -c top.toml --rundir "$PWD/top" -S "statedir=$PWD/state" --ready-fd 9 9>ready >top.log 2>&1 & } && broker=$! &&
	{ read -r uri <ready || { cat top.log; false; }; } && FLUX_URI=$uri && export FLUX_URI &&
	one=$(start_child one) && log_has "child $one attached" && two=$(start_child two) && log_has "child $two attached" &&
	runs1=$(id_of -q batch -t 10m --user nobody sh -c "echo \$FLUX_JOB_ID of nobody; exec sleep 600") && event $runs1 start &&
	runs2=$(id_of -q batch -t 20m sh -c "echo \$FLUX_JOB_ID of root; exec sleep 600") && event $runs2 start &&
	waits1=$(id_of -q batch -t 5m --user nobody true) && event $waits1 weir.route &&
	waits2=$(id_of -q batch -t 5m true) && event $waits2 weir.route &&
	test "$(place_of $runs1)" != "$(place_of $runs2)" && test "$(place_of $waits1)" != "$(place_of $waits2)"
'
# there ID FIELD: the answer of weir why at the top
there() {
	at top why "$1" --json | jq -r ".$2"
}
test_expect_success 'weir why names the partition that has the job, its id there, its place and its start' '
	for id in $waits1 $waits2; do
		test "$(there $id child)" = "$(place_of $id)" &&
		test "$(there $id child_id)" = "$(local_of $id)" &&
		test "$(there $id reason)" = resources &&
		test "$(there $id place)" = 1 && there $id t_estimate | grep "^[0-9]" || return 1
	done
'
test_expect_success 'in words: no socket of a partition is named' '
	at top why $waits1 >out && cat out && grep "estimated start" out && grep "in a partition that serves batch" out &&
	test_must_fail grep "local://\|on its way" out
'
test_expect_success 'a queue that no partition serves: weir why says so' '
	stays=$(id_of -q empty true) && event $stays priority &&
	at top why $stays >out && cat out && grep "no partition serves the queue \"empty\"" out && at top cancel $stays
'
test_expect_success GUEST 'a guest gets the same answers' '
	as_guest weir --uri "$PWD/top" why $waits1 >out && cat out && grep "estimated start" out &&
	as_guest weir --uri "$PWD/top" why $waits2 >out && grep "estimated start" out
'
test_expect_success GUEST 'a guest reads the output of his own job, and of no other' '
	as_guest weir --uri "$PWD/top" output $runs1 >out && grep "of nobody" out &&
	test_must_fail as_guest weir --uri "$PWD/top" output $runs2 >out 2>err && cat err &&
	grep "weir: ƒ[^ ]*: it belongs to another user" err && test_must_be_empty out
'
test_expect_success 'the id at the parent is understood by the partition' '
	for place in one two; do
		at $place why $waits1 >$place.out 2>&1
		at $place why $waits2 >>$place.out 2>&1
		test "$(grep -c "estimated start" $place.out)" = 1 || return 1
	done &&
	child=$(test "$(place_of $runs1)" = $one && echo one || echo two) &&
	at $child output $runs1 | grep "of nobody"
'
test_expect_success 'weir prio explain at the partition shows the terms of the parent, which decides' '
	at $child prio explain $waits1 >out && cat out && grep "^fairshare" out && grep "^wait " out &&
	grep "waits in the partition as .*; the parent instance decides its priority" out && test_must_fail grep -i expedited out &&
	at $child prio explain $waits1 --json | jq -e ".id == $waits1 and .here == $(local_of $waits1)"
'
test_expect_success 'FLUX_JOB_ID of a job is an id for weir at the parent: why, output, explain' '
	in_job=$(at top output $runs1 | cut -d" " -f1) && test -n "$in_job" &&
	at top output $in_job | grep "of nobody" && rpc_at top job-route.locate "{\"id\":$waits1}" &&
	there=$(local_of $waits1) && at top why $there >out && cat out && grep "estimated start" out && at top prio explain $there
'
test_expect_success 'weir jobs shows the other id' '
	at top jobs --json >jobs.json &&
	test "$(jq ".jobs[] | select(.id == $runs1) | .child_id" jobs.json)" = "$(local_of $runs1)" &&
	at top jobs >out && cat out && grep "batch, there" out &&
	at $child jobs --json | jq -e "[.jobs[].parent_id] | index($runs1)" && at $child jobs
'
test_expect_success 'weir prio list: the partition, the place there and the start' '
	at top prio list --json >list.json && cat list.json &&
	jq -e ".jobs[] | select(.id == $waits1) | .child == $(place_of $waits1) and .place == 1 and .t_estimate > 0" list.json &&
	at top prio list >out && cat out && grep "partition" out && grep "starts" out
'
test_expect_success 'weir prio list filters by partition, queue and user' '
	at top prio list --partition $(place_of $waits1) --json | jq -e "[.jobs[].id] == [$waits1]" &&
	at top prio list --partition batch --json | jq -e ".jobs | length == 2" &&
	at top prio list --queue empty --json | jq -e ".jobs | length == 0" &&
	at top prio list --queue batch --user nobody --json | jq -e "[.jobs[].id] == [$waits1]"
'
test_expect_success 'weir nice, prio when and cancel take the id of the partition' '
	at top nice $(local_of $waits1) 5 && at top jobs --json | jq -e ".jobs[] | select(.id == $waits1) | .urgency == 11" &&
	at top prio when $waits2 $(local_of $waits1) &&
	at top cancel $(local_of $waits1) && event $waits1 clean
'
test_expect_success 'the id at the parent is taken by weir nice and cancel at the partition' '
	other=$(test "$child" = one && echo two || echo one) &&
	at $other nice $waits2 3 && at $other cancel $waits2 && event $waits2 clean
'
test_expect_success 'a partition that does not answer: weir why says what is known, in bounded time' '
	last=$(id_of -q batch -t 5m true) && event $last weir.route &&
	stopped=$(test "$(place_of $last)" = $one && echo one || echo two) &&
	pid=$(rpc_at $stopped attr.get "{\"name\":\"broker.pid\"}" | jq -r .value) && kill -STOP $pid &&
	timeout 20 weir --uri "$PWD/top" why $last >out; code=$?; kill -CONT $pid; cat out && test $code = 0 &&
	grep "did not answer" out && at top why $last | grep "estimated start" && at top cancel $last
'
test_expect_success 'no guest asks what is not a question, or of no job' '
	test_must_fail python3 "$WIRE" --userid $NOBODY --rolemask 2 rpc job-route.ask "{\"id\":$runs1,\"topic\":\"job-manager.raise\"}" >out &&
	grep "error 22: .*no question" out &&
	test_must_fail python3 "$WIRE" --userid $NOBODY --rolemask 2 rpc job-route.ask "{\"id\":1,\"topic\":\"sched.why\"}" >out && grep "^error 2:" out &&
	test_must_fail python3 "$WIRE" --userid $NOBODY --rolemask 2 rpc job-route.ask "{\"id\":$runs2,\"topic\":\"job-exec.output\"}" >out &&
	grep "^error 1:" out &&
	test_must_fail python3 "$WIRE" --userid $NOBODY --rolemask 2 rpc job-route.answer "{\"jobid\":$one,\"session\":\"x\",\"number\":1,\"body\":{}}" >out &&
	grep "nothing is asked of an instance of yours" out
'
test_expect_success 'it ends' '
	at top cancel $runs1 && at top cancel $runs2 && event $runs1 clean && event $runs2 clean &&
	kill $broker && wait $broker; test -z "$(leftovers)"
'
test_done
