#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a child instance in a stock Flux: usage goes up exactly once, factors come down, a lost parent is survived'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

CONFIG=$SHARNESS_TEST_SRCDIR/priority-conf
run_under_flux "$CONFIG/weir.toml"

# The child has no share tree of its own: its configuration is empty but for the pass interval.
cat >functions.sh <<EOF
SHARNESS_TEST_SRCDIR=$SHARNESS_TEST_SRCDIR
. "$SHARNESS_TEST_SRCDIR/sharness.d/40-flux.sh"
wait_until() { python3 "$WIRE" until "\$@"; }
EOF
cat >child.sh <<'EOF'
. ./functions.sh
parent() { FLUX_URI=$(flux getattr parent-uri) rpc "$@"; }
set -e
flux jobtap load "$PRIORITY_TAP"
flux module load "$PRIORITY_SO" update-interval=1h
# run BANK: a job that is over when this returns
run() {
	flux submit -n1 --setattr=system.bank=$1 --setattr=system.exec.test.run_duration=0.1s true >>ids
	flux job wait-event -q -t 60 $(tail -n 1 ids) clean
}
run bio; run bio
rpc job-priority.stats-get | jq -r .uplink.state >uplink.state
# The parent's module goes away and comes back: what happens meanwhile is kept.
FLUX_URI=$(flux getattr parent-uri) flux module remove job-priority
run bio; run nowhere
FLUX_URI=$(flux getattr parent-uri) flux module load "$PRIORITY_SO"
FLUX_URI=$(flux getattr parent-uri) wait_until job-priority.stats-get '{}' '.attached == 1'
run bio
# Our own module restarts: records go on where they stopped.
flux module remove job-priority
flux module load "$PRIORITY_SO" update-interval=1h
wait_until job-priority.stats-get '{}' '.uplink.state == "attached" and .uplink.unacknowledged == 0'
rpc job-priority.stats-get | jq .uplink >uplink
rpc job-priority.weights >weights
flux python "$PRIORITY_CONF/charged.py" >expected
flux module remove job-priority
EOF

test_expect_success 'parent: module and plugin are there, the child runs as a job of physics/lattice' '
	PRIORITY_CONF=$CONFIG && export PRIORITY_CONF &&
	flux jobtap load "$PRIORITY_TAP" && flux module load "$PRIORITY_SO" &&
	flux submit -n2 --setattr=system.bank=physics/lattice --output=child.log flux start bash ./child.sh >child &&
	flux job wait-event -q -t 120 "$(cat child)" clean &&
	cat child.log &&
	flux job wait-event -q -m status=0 "$(cat child)" finish
'
test_expect_success 'child: it was attached, and used its parent'\''s factors' '
	test "$(cat uplink.state)" = attached &&
	jq -e ".factors and .unacknowledged == 0 and .last_seq >= 10" uplink &&
	jq -e .parent_factors weights
'
test_expect_success 'usage up: what the child'\''s jobs used is charged to their account, to the microsecond, once' '
	sync_priorities && rpc job-priority.usage >usage &&
	jq .bio expected >want &&
	jq ".nodes[] | select(.path == \"bio\") | .charged_core_us" usage >got &&
	jq -e ". > 0" want && test_cmp want got
'
test_expect_success 'usage up: an account that the parent does not know is charged outside the tree' '
	jq .nowhere expected >want && jq .unassociated.charged_core_us usage >got && test_cmp want got
'
test_expect_success 'conservation: everything charged is the child'\''s allocation times its time' '
	flux python "$CONFIG/charged.py" | jq .total >want &&
	jq .total.charged_core_us usage >got && test_cmp want got
'
test_expect_success 'permission: a job that does not run here cannot be reported for' '
	test_must_fail rpc job-priority.report "{\"jobid\":1,\"seq\":1,\"records\":[]}" >refused &&
	grep "not running here" refused
'
test_expect_success 'everything unloads' '
	flux module remove job-priority && flux jobtap remove job-priority-tap.so
'
test_done
