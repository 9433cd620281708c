#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='[access] private-mode in a stock Flux: job-priority tells guests their part, by the credentials that Flux stamps'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

CONFIG=$SHARNESS_TEST_SRCDIR/priority-conf
run_under_flux "$CONFIG/weir.toml"

# as_guest UID TOPIC [JSON]: what he is answered
as_guest() {
	user=$1 && shift && export FLUX_HANDLE_USERID=$user FLUX_HANDLE_ROLEMASK=0x2 && { rpc "$@"; status=$?; } &&
		unset FLUX_HANDLE_USERID FLUX_HANDLE_ROLEMASK && return $status
}
# access LINE...: the configuration with these lines in [access]
access() {
	{ cat "$CONFIG/weir.toml" && printf "[access]\nallow-guest-user = true\n" && printf "%s\n" "$@"; } | flux config load
}
paths() {
	jq -r ".nodes[].path" | LC_ALL=C sort | tr "\n" " "
}

test_expect_success 'without private mode a guest is told all' '
	access && flux jobtap load "$PRIORITY_TAP" && flux module load "$PRIORITY_SO" &&
	flux submit -n1 --setattr=system.bank=bio --urgency=0 sleep 100 >held && flux job wait-event -q -t 30 "$(cat held)" depend && sync_priorities &&
	as_guest 5001 job-priority.tree-get >tree && jq -e "[.nodes[].path] | length == 6 and contains([\"bio/@bob\", \"physics\"])" tree &&
	as_guest 5001 job-priority.list | jq -e ".jobs | length == 1"
'
test_expect_success 'private mode takes force with the configuration: his associations, what is above them, and sums' '
	access "private-mode = true" && as_guest 5001 job-priority.tree-get >tree && paths <tree &&
	test "$(paths <tree)" = "[others] physics physics/lattice physics/lattice/@alice " &&
	jq -e ".nodes[] | select(.kind == \"sum\") | .shares == 1 and .pending_jobs == 1 and .entitled == 1 / 3" tree &&
	test_expect_code 1 grep -e bob -e bio tree
'
test_expect_success 'jobs of others are counted and not told; metrics are of the level on top' '
	as_guest 5001 job-priority.list >list && jq -e "(.jobs | length == 0) and .of == 1" list &&
	test_must_fail as_guest 5001 job-priority.explain "{\"id\":$(flux job id --to=dec "$(cat held)")}" >his &&
	test_must_fail as_guest 5001 job-priority.explain "{\"id\":1}" >nobodys && test_cmp nobodys his &&
	as_guest 5001 job-priority.metrics "{\"depth\":1}" | jq -e "[.nodes[].path] == [\"physics\", \"bio\"]" &&
	test_must_fail as_guest 5001 job-priority.metrics "{\"depth\":2}"
'
test_expect_success 'the owner sees all, and what he asks in a guest'\''s name is the guest'\''s part' '
	rpc job-priority.tree-get | jq -e ".nodes | length == 6" && rpc job-priority.list | jq -e ".jobs | length == 1" &&
	as_guest 5002 job-priority.tree-get >tree && test "$(paths <tree)" = "[others] bio bio/@bob bio/[others] "
'
test_expect_success 'a value that is no boolean is refused, and private mode stays' '
	test_must_fail access "private-mode = 1" && as_guest 5001 job-priority.tree-get | jq -e ".nodes | length == 4" &&
	access && as_guest 5001 job-priority.tree-get | jq -e ".nodes | length == 6"
'
test_expect_success 'our scheduler and job-route follow the key too: a job of another user is as none; Flux answers for its own services' '
	flux module remove sched-simple && flux module load "$WEIR_BUILD_DIR/lib/flux/modules/sched-weir-easy.so" &&
	flux module load "$WEIR_BUILD_DIR/lib/flux/modules/job-route.so" &&
	runs=$(flux submit -n1 sleep inf) && flux job wait-event -q -t 30 "$runs" alloc && waits=$(flux job id --to=dec "$(flux submit -n$(nproc) sleep inf)") &&
	wait_until sched.why "{\"id\":$waits}" ".place == 1" && ask="{\"id\":$waits,\"topic\":\"sched.why\"}" &&
	as_guest 5001 sched.why "{\"id\":$waits}" && as_guest 5001 job-route.ask "$ask" | jq -e ".answer.place == 1" &&
	access "private-mode = true" && rpc sched.why "{\"id\":$waits}" | jq -e ".place == 1" &&
	test_must_fail as_guest 5001 sched.why "{\"id\":$waits}" >his && test_must_fail as_guest 5001 sched.why "{\"id\":1}" >nobodys && test_cmp nobodys his &&
	test_must_fail as_guest 5001 job-route.ask "$ask" >his && ! grep place his &&
	as_guest 5001 job-route.ids "{\"ids\":[$waits]}" | jq -e ".jobs == [{\"asked\": $waits, \"id\": $waits}]" &&
	test_must_fail as_guest 5001 job-list.job-stats && rpc job-list.job-stats &&
	test_must_fail access "private-mode = 1" && rpc sched.stats-get | jq -e .ready && flux cancel "$runs" "$waits" && flux job wait-event -q -t 60 "$runs" clean &&
	flux module remove job-route && flux module remove sched-weir-easy && flux module load sched-simple
'
test_expect_success 'module and plugin go' '
	flux cancel "$(cat held)" && flux module remove job-priority && flux jobtap remove job-priority-tap.so
'
test_done
