#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='usage: what is charged equals cores times seconds of the eventlogs, to the digit, on every broker here'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
require_some_broker

cat >script.sh <<'EOF'
for n in 1 2 3 4 5 6; do
	flux submit -n1 --setattr=system.bank=bio --setattr=system.exec.test.run_duration=0.3s true
	flux submit -n2 --setattr=system.bank=physics/lattice --setattr=system.exec.test.run_duration=0.2s true
done >ids
for id in $(cat ids); do flux job wait-event -q -t 60 "$id" clean; done
sync_priorities
rpc job-priority.usage >usage
rpc job-priority.list >list
flux python "$PRIORITY_CONF/charged.py" >expected
EOF

for broker in $BROKERS; do
	test_expect_success "$broker: jobs of two accounts run" '
		rm -f usage expected && in_instance '"$broker"' "$PWD/state-'"$broker"'" ./script.sh
	'
	test_expect_success "$broker: charged totals equal the sum over the eventlogs, to the microsecond" '
		jq -e ".total > 0" expected &&
		jq .total expected >want && jq .total.charged_core_us usage >got && test_cmp want got
	'
	test_expect_success "$broker: each account has what its jobs used, and the tree loses nothing on the way up" '
		jq ".[\"physics/lattice\"]" expected >want &&
		jq ".nodes[] | select(.path == \"physics/lattice\") | .charged_core_us" usage >got && test_cmp want got &&
		jq ".nodes[] | select(.path == \"physics\") | .charged_core_us" usage >got && test_cmp want got &&
		jq -e ".total.running_cores == 0 and .unassociated.charged_core_us == 0" usage
	'
	test_expect_success "$broker: nothing waits any more" '
		jq -e ".jobs == [] and .of == 0" list
	'
	test_expect_success "$broker: a restart has the same totals" '
		cp usage usage.first &&
		echo "rpc job-priority.usage >usage" >again.sh &&
		in_instance '"$broker"' "$PWD/state-'"$broker"'" ./again.sh &&
		jq "[.nodes[] | {path, charged_core_us}]" usage.first >want &&
		jq "[.nodes[] | {path, charged_core_us}]" usage >got && test_cmp want got
	'
done
test_done
