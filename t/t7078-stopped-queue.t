#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a stopped queue: its jobs wait in the parent, also after a restart, and go down when it is started'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[[partition]]
name = "batch"
cores = 2

[[partition]]
name = "debug"
cores = 1
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
begin() {
	start_weir --cores 4 --config site.toml --statedir "$(pwd)/state" && are_up batch debug
}
# set_started QUEUE true|false [REASON]
set_started() {
	call job-manager.queue-start "{\"name\":\"$1\",\"start\":$2,\"reason\":\"$3\",\"all\":false}"
}
# waits_here ID: nobody has it, and it never had cores.
waits_here() {
	wait_until job-route.locate "{\"id\":$1}" ".child == 0" >/dev/null &&
		call job-manager.getattr "{\"id\":$1,\"attrs\":[\"eventlog\"]}" | jq -e "[.eventlog[].name] | index(\"alloc\") | not" >/dev/null
}
# memo ID FILTER: waits until what `flux jobs` shows of the job as {user} fulfills the jq filter.
memo() {
	wait_until job-list.list-id "{\"id\":$1,\"attrs\":[\"annotations\"]}" ".job.annotations.user | $2" >/dev/null
}

test_expect_success 'flux jobs says in which partition a job runs or waits' '
	begin && gated runs -q batch -c2 && wait_event $runs start && gated waits -q batch -c2 && wait_event $waits weir.route &&
	memo $runs ".partition == \"batch\"" && memo $waits ".partition == \"batch\" and .why == null"
'
test_expect_success 'stopped: what waits in the partition comes back, what runs goes on; weir why says so' '
	set_started batch false maintenance && waits_here $waits && test "$(child_of $runs)" = "$(job_of batch)" &&
	weir why $waits >out && cat out && grep "waits until its queue \"batch\" is started; it was stopped: maintenance" out &&
	memo $waits ".partition == null and .why == \"queue batch starts no jobs\"" && memo $runs ".partition == \"batch\" and .why == null"
'
test_expect_success 'a job submitted now is not handed down, with all cores free; another queue goes on' '
	gated later -q batch && end runs && weir submit -q debug --wait true && waits_here $waits && waits_here $later &&
	test_expect_code 1 grep "waits\|later" ran
'
test_expect_success 'the module is loaded again: the queue is stopped' '
	load_route_again && are_up batch debug && weir submit -q debug --wait true && waits_here $waits && waits_here $later
'
test_expect_success 'so it is after the end of the whole instance by kill -9' '
	kill -9 $(cat run/broker.pid) && { wait $WEIR_PID; all_gone; } &&
	begin && weir submit -q debug --wait true && waits_here $waits && waits_here $later
'
test_expect_success 'started: they run' '
	set_started batch true && wait_event $waits start && memo $waits ".partition == \"batch\" and .why == null" && end waits && end later && test "$(tail -n 2 ran | sort | tr "\n" " ")" = "later waits "
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
