#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='limits over partitions: a job for a drained partition or a stopped queue takes no place from others'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir.users]
alice = 5001
[[partition]]
name = "batch"
cores = 2

[[partition]]
name = "debug"
cores = 2
EOF
cat >shares.toml <<EOF
"physics" = { shares = 1, running_jobs_max = 1 }
"physics/@alice" = 1
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
begin() {
	start_weir --cores 5 --config site.toml --tree shares.toml --statedir "$(pwd)/state" && are_up debug
}
hers() {
	weir submit --json --user alice "$@" --simulate=1h x | jq .id
}
# is_held_back ID: a limit holds it back
is_held_back() {
	wait_until job-priority.explain "{\"id\":$1}" ".limit | startswith(\"physics runs at most 1 job\")" >/dev/null
}
has_started() {
	call job-manager.getattr "{\"id\":$1,\"attrs\":[\"eventlog\"]}" | jq -e "[.eventlog[].name] | index(\"alloc\")" >/dev/null
}
set_started() {
	call job-manager.queue-start "{\"name\":\"$1\",\"start\":$2,\"reason\":\"maintenance\",\"all\":false}"
}

test_expect_success 'a job for a drained partition holds back none of another' '
	begin && are_up batch && weir partition drain batch &&
	waits=$(hers -q batch) && wait_event $waits priority && first=$(hers -q debug) && wait_event $first start &&
	weir why $waits | tee why && grep "batch is drained" why
'
test_expect_success 'so it is when both modules are loaded again' '
	call module.remove "{\"name\":\"job-priority\"}" && load_route_again && are_up debug &&
	call module.load "{\"path\":\"job-priority\",\"args\":[]}" && second=$(hers -q debug) && wait_event $second priority && is_held_back $second &&
	weir cancel $first && wait_event $second start && test_must_fail has_started $waits
'
test_expect_success 'so it is after the end of the whole instance by kill -9' '
	kill -9 $(cat run/broker.pid) && { wait $WEIR_PID; all_gone; } && begin &&
	third=$(hers -q debug) && wait_event $third start && test_must_fail has_started $waits
'
test_expect_success 'resumed: the job waits for its turn, and runs' '
	weir partition resume batch && is_held_back $waits && weir cancel $third && wait_event $waits start
'
test_expect_success 'what runs stays when its partition is drained or its queue stopped, and keeps its place' '
	weir partition drain batch && set_started batch false && later=$(hers -q debug) && wait_event $later priority && is_held_back $later &&
	weir cancel $waits && wait_event $later start
'
test_expect_success 'a job of a stopped queue holds back none of another, and runs when the queue is started' '
	weir partition resume batch && waits=$(hers -q batch) && wait_event $waits priority && weir cancel $later &&
	first=$(hers -q debug) && wait_event $first start && test_must_fail has_started $waits &&
	weir cancel $first && wait_event $first clean && set_started batch true && wait_event $waits start
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
