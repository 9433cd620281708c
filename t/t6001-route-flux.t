#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='job-route in a stock Flux: a parent, children that serve its queues, and what becomes of jobs in between

The DSOs are the ones that the embedded broker loads. Skipped where there is no flux (PATH or WEIR_FLUX).'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"

FLUX=$(find_flux)
LIB=${WEIR_BUILD_DIR:-$SHARNESS_TEST_DIRECTORY/../build/dev}/lib/flux
if test -z "$FLUX"; then
	skip_all='no stock Flux here that can load this build: put flux into PATH or set WEIR_FLUX'
	test_done
fi
test -f "$LIB/modules/job-route.so" || { skip_all="job-route.so is not built in $LIB/modules"; test_done; }
test "$(nproc)" -ge 2 || { skip_all='two children want two cores'; test_done; }
LIB=$(cd "$LIB" && pwd)
# One instance for the whole script: run it again inside.
if test -z "$WEIR_T6001_INSIDE"; then
	export WEIR_T6001_INSIDE=1 FLUX_URI_RESOLVE_LOCAL=t
	export PATH="$(dirname "$FLUX"):$PATH"
	cat >config.toml <<-EOF &&
	[queues.batch]
	[queues.debug]
	[queues.own]
	[weir.route]
	queues = ["batch", "debug"]
	[[job-manager.plugins]]
	load = "$LIB/job-manager/plugins/job-route-tap.so"
	EOF
	config=$(pwd)/config.toml && cd "$SHARNESS_TEST_DIRECTORY" &&
	exec env -u FLUX_URI "$FLUX" start --test-size=1 -c "$config" \
		sh "$SHARNESS_TEST_DIRECTORY/$(basename "$SHARNESS_TEST_FILE")" ${verbose:+-v} ${immediate:+-i} ${debug:+-d}
fi

WIRE=$SHARNESS_TEST_DIRECTORY/tools/call.py
rpc() {
	flux python -c '
import flux, json, sys
try:
    print(json.dumps(flux.Flux().rpc(sys.argv[1], json.loads(sys.argv[2])).get(), sort_keys=True))
except OSError as e:
    print(f"error {e.errno}: {e.strerror}"); sys.exit(1)
' "$1" "$2"
}
tree() { rpc job-route.tree '{}'; }
dec() { flux job id --to=dec "$1"; }
# event ID NAME: waits for it and prints its context; after `clean` job-list, which hears of it later, has the result
event() {
	flux job wait-event -t 60 -f json "$1" "$2" &&
	{ test "$2" != clean || python3 "$WIRE" until job-list.list-id "{\"id\":$(dec "$1"),\"attrs\":[\"state\"]}" ".job.state == 64" >/dev/null; }
}
# attached ID: waits until the child instance ID is attached
attached() {
	event "$1" start >/dev/null &&
	python3 "$WIRE" until job-route.tree '{}' \
		".children[] | select(.jobid == $(dec "$1") and .state == \"attached\")" >/dev/null
}
# start_child QUEUE: a child instance on one core that serves QUEUE; prints its id
start_child() {
	flux batch --queue="$1" -n1 --setattr=system.weir.serves="[\"$1\"]" --output=none --error=none "$(pwd)/child.sh"
}
# in_child ID COMMAND...: runs a command in the child instance
in_child() {
	child=$1 && shift && flux proxy "$child" "$@"
}
child_of() {
	flux jobs -no '{annotations.weir.child}' "$1"
}
# state_in CHILD PARENT_ID STATE: waits until the child's copy is in that state
result() {
	flux jobs -ano '{result}/{returncode}' "$1"
}
cat >child.sh <<EOF
#!/bin/sh
flux jobtap load $LIB/job-manager/plugins/job-route-tap.so
flux module load $LIB/modules/job-route.so
trap 'flux module remove job-route' EXIT
trap 'exit 0' TERM
sleep inf & wait \$!
EOF
chmod +x child.sh

test_expect_success 'the plugin knows its queues and the module loads' '
	flux queue start --all --quiet &&
	flux jobtap query job-route-tap.so | grep "\"queues\":\[\"batch\",\"debug\"\]" &&
	flux module load "$LIB/modules/job-route.so" &&
	flux module stats job-route | grep "\"children\": 0"
'
test_expect_success 'a routed job waits for a child and never reaches the own scheduler' '
	early=$(flux submit --queue=batch -n1 true) && event $early priority &&
	flux run --queue=own -n1 true &&
	test "$(flux jobs -no {state} $early)" = SCHED &&
	flux job eventlog $early | grep "set-flags.*alloc-bypass" &&
	tree | grep "\"waiting\": 1"
'
test_expect_success 'children attach; the waiting job runs in the one that serves its queue' '
	batch=$(start_child batch) && debug=$(start_child debug) && attached $batch && attached $debug &&
	event $early clean && test "$(result $early)" = COMPLETED/0 &&
	test "$(child_of $early)" = "$(dec $batch)"
'
test_expect_success 'its eventlog: who had it, then the states of the child' '
	flux job eventlog $early | awk "{print \$2}" | tr "\n" " " >names &&
	grep "weir.route urgency priority alloc prolog-start start finish release prolog-finish free clean" names
'
test_expect_success 'each queue goes to its own child' '
	one=$(flux submit --queue=batch -n1 true) && two=$(flux submit --queue=debug -n1 true) &&
	event $one clean && event $two clean &&
	test "$(child_of $one)" = "$(dec $batch)" && test "$(child_of $two)" = "$(dec $debug)"
'
test_expect_success 'the environment and the working directory come along' '
	id=$(COLOUR=green flux submit --queue=batch -n1 sh -c "echo \$COLOUR \$PWD >here.out") &&
	event $id clean && test "$(cat here.out)" = "green $(pwd)"
'
test_expect_success 'exit status and signal are the parent job'\''s' '
	fails=$(flux submit --queue=batch -n1 sh -c "exit 3") && event $fails clean &&
	test "$(result $fails)" = FAILED/3 &&
	dies=$(flux submit --queue=batch -n1 sh -c "kill -9 \$\$") && event $dies finish | grep "\"status\":[0-9]*" &&
	event $dies clean && test "$(result $dies)" = FAILED/137
'
test_expect_success 'R names the parent'\''s cores, inside the allocation of the child' '
	flux job info $batch R >host.R && flux job info $one R >job.R &&
	grep -o "\"children\": {\"core\": \"[0-9]*\"}" host.R >host.cores &&
	grep -o "\"children\": {\"core\": \"[0-9]*\"}" job.R >job.cores && test_cmp host.cores job.cores &&
	flux job info $debug R >host.R && flux job info $two R >job.R &&
	grep -o "\"children\": {\"core\": \"[0-9]*\"}" host.R >host.cores &&
	grep -o "\"children\": {\"core\": \"[0-9]*\"}" job.R >job.cores && test_cmp host.cores job.cores
'
test_expect_success 'cancelling a running job reaches the child' '
	running=$(flux submit --queue=batch -n1 sleep inf) && event $running start &&
	flux cancel $running && event $running clean && flux jobs -ano "{result}" $running | grep CANCELED &&
	FLUX_URI=$(flux uri --local $batch) python3 "$WIRE" until job-list.job-stats "{}" ".job_states.run == 0 and .job_states.sched == 0"
'
test_expect_success 'a job that waits in the child can be cancelled' '
	running=$(flux submit --queue=batch -n1 sleep inf) && event $running start &&
	waiting=$(flux submit --queue=batch -n1 true) && event $waiting weir.route &&
	flux cancel $waiting && event $waiting clean && flux jobs -ano "{result}" $waiting | grep CANCELED
'
test_expect_success 'urgency goes down: a later job overtakes, a held one does not start' '
	first=$(flux submit --queue=batch -n1 true) && second=$(flux submit --queue=batch -n1 true) &&
	held=$(flux submit --queue=batch -n1 true) &&
	event $first weir.route && event $second weir.route && event $held weir.route &&
	flux job urgency $held hold && flux job urgency $second 30 &&
	FLUX_URI=$(flux uri --local $batch) python3 "$WIRE" until job-list.list "{\"max_entries\":0,\"attrs\":[\"urgency\"]}" ".jobs | any(.urgency == 30)" &&
	flux cancel $running && event $first clean && event $second clean &&
	a=$(event $second alloc | jq .timestamp) && b=$(event $first alloc | jq .timestamp) && jq -en "$a < $b" &&
	test "$(flux jobs -no {state} $held)" = SCHED &&
	flux job urgency $held 16 && event $held clean && test "$(result $held)" = COMPLETED/0
'
test_expect_success 'a time limit ends the parent job as it ends the child'\''s' '
	late=$(flux submit --queue=debug -n1 -t 0.2s sleep inf) && event $late clean &&
	flux jobs -ano "{result}" $late | grep TIMEOUT
'
test_expect_success 'what the child cannot run fails with the child'\''s reason' '
	big=$(flux submit --queue=debug -n2 true) && event $big clean &&
	event $big exception | grep "unsatisfiable"
'
test_expect_success 'a dependency is waited for in the parent and is no matter of the child' '
	before=$(flux submit --queue=own -n1 --urgency=hold true) &&
	after=$(flux submit --queue=debug -n1 --dependency=afterany:$before true) &&
	flux cancel $before && event $after clean && test "$(result $after)" = COMPLETED/0
'
test_expect_success 'locate says where a job is' '
	running=$(flux submit --queue=debug -n1 sleep inf) && event $running start &&
	rpc job-route.locate "{\"id\":$(dec $running)}" >where &&
	jq -e ".queue == \"debug\" and .child == $(dec $debug) and .allocated" where &&
	in_child $debug flux job wait-event -t 60 "$(jq .id where)" start &&
	test_must_fail rpc job-route.locate "{\"id\":1}" >unknown && grep "not an active routed job" unknown
'
test_expect_success 'the parent'\''s module is reloaded while a job runs: its end still arrives' '
	waiting=$(flux submit --queue=debug -n1 sh -c "echo x >>once.out") && event $waiting weir.route &&
	flux module reload "$LIB/modules/job-route.so" && flux cancel $running && event $running clean &&
	event $waiting clean && test "$(result $waiting)" = COMPLETED/0 && test "$(wc -l <once.out)" = 1
'
test_expect_success 'the child'\''s module is reloaded with jobs in every state: each runs once' '
	running=$(flux submit --queue=debug -n1 sh -c "echo run >>twice.out; while test ! -e let-go; do sleep 0.05; done") &&
	waiting=$(flux submit --queue=debug --cc=1-5 -n1 sh -c "echo wait >>twice.out") && event $running start &&
	for id in $waiting; do event $id weir.route || return 1; done &&
	in_child $debug flux module reload "$LIB/modules/job-route.so" && touch let-go &&
	for id in $running $waiting; do event $id clean && test "$(result $id)" = COMPLETED/0 || return 1; done &&
	test "$(grep -c run twice.out)" = 1 && test "$(grep -c wait twice.out)" = 5
'
listeners() {
	rpc job-manager.stats-get "{}" | jq .journal.listeners
}
test_expect_success 'while the plugin is not loaded the module does not leave streams of events behind' '
	running=$(flux submit --queue=batch -n1 sleep inf) && event $running start && before=$(listeners) &&
	flux jobtap remove job-route-tap.so && flux cancel $running &&
	python3 "$WIRE" until job-route.stats-get "{}" ".journal.restarts == 3" && test "$(listeners)" -le "$before" &&
	flux jobtap load "$LIB/job-manager/plugins/job-route-tap.so" queues="[\"batch\",\"debug\"]" && event $running clean && test "$(listeners)" = "$before"
'
test_expect_success 'a child is killed: what ran is lost, what waited goes to the next child and runs once' '
	running=$(flux submit --queue=batch -n1 sh -c "echo \$\$ >pid; exec sleep 1000") && event $running start &&
	waiting=$(flux submit --queue=batch --cc=1-3 -n1 sh -c "echo x >>moved.out") &&
	for id in $waiting; do event $id weir.route || return 1; done &&
	flux job kill -s KILL $batch && event $running clean &&
	event $running exception | grep "child-lost" &&
	for id in $waiting; do test "$(flux jobs -no {state} $id)" = SCHED || return 1; done &&
	next=$(start_child batch) && attached $next &&
	for id in $waiting; do
		event $id clean && test "$(result $id)" = COMPLETED/0 && test "$(child_of $id)" = "$(dec $next)" || return 1
	done &&
	test "$(wc -l <moved.out)" = 3
'
test_expect_success 'a child ends in order: what waited in it goes to the next one' '
	running=$(flux submit --queue=batch -n1 sleep inf) && event $running start &&
	waiting=$(flux submit --queue=batch -n1 true) && event $waiting weir.route &&
	flux cancel $next && event $next clean && event $running clean &&
	test "$(flux jobs -no {state} $waiting)" = SCHED &&
	last=$(start_child batch) && event $waiting clean && test "$(result $waiting)" = COMPLETED/0
'
test_expect_success 'who is not a running job cannot attach' '
	cat >attach.py <<-EOF &&
	import flux, sys
	from flux.constants import FLUX_RPC_STREAMING
	try:
	    flux.Flux().rpc("job-route.attach", {"jobid": int(sys.argv[1]), "session": "x", "serves": ["batch"], "known": []},
	                    flags=FLUX_RPC_STREAMING).get()
	except OSError as e:
	    print(e.strerror); sys.exit(1)
	EOF
	test_must_fail flux python attach.py 12345 >refused && grep "job 12345 does not run here" refused &&
	test_must_fail rpc job-route.attach "{}" >refused && grep "streaming" refused
'
test_expect_success 'a cancelled child goes, the module unloads, own queues work as before' '
	flux cancel $last $debug && event $last clean && event $debug clean &&
	test -f pid && { kill -9 "$(cat pid)" 2>/dev/null || :; } &&
	flux module remove job-route && flux run --queue=own -n1 true
'
test_done
