#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='usage as a site counts it: at dispatch, by QoS and queue, in windows, by LSF; on every broker here'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
require_some_broker

cat >functions.sh <<'EOF'
usage_of() {
	rpc job-priority.usage | jq "[.nodes[] | select(.path == \"$1\")][0].$2"
}
hold() {
	id=$(flux submit "$@" sleep inf) && flux job wait-event -q -t 60 "$id" alloc && sync_priorities >/dev/null && echo "$id"
}
cancel_job() {
	flux cancel "$1" && flux job wait-event -q -t 60 "$1" clean && sync_priorities >/dev/null
}
# What an alloc and a free say of core-seconds, from the eventlog.
ran() {
	flux job eventlog -f json "$1" | jq -s "[.[] | select(.name == \"alloc\" or .name == \"free\") | .timestamp] | .[1] - .[0]"
}
near() {
	awk "BEGIN { d = ($1) - ($2); exit !(d < 0.01 && d > -0.01) }"
}
EOF

cat >first.sh <<'EOF'
. ./functions.sh
# charged at dispatch: an hour of one core, at once
a=$(hold -n1 -t 1h --setattr=system.bank=bio)
test "$(usage_of bio usage_core_s)" = 3600
rpc job-priority.weights | jq -e '.charging == "at-dispatch" and .decay == "none" and .billed'
# work that may be preempted costs nothing, and is counted nevertheless
b=$(hold -n1 -t 1h --setattr=system.bank=physics/lattice --setattr=system.qos=scavenger)
test "$(usage_of physics usage_core_s)" = 0
test "$(usage_of physics running_cores)" = 1
cancel_job "$a"
cancel_job "$b"
near "$(usage_of bio usage_core_s)" "$(ran "$a")"
ran "$b" >free_of_charge
near "$(usage_of physics charged_core_us)/1e6" "$(cat free_of_charge)"
test "$(usage_of physics usage_core_s)" = 0
# one runs over the restart
hold -n1 -t 2h --setattr=system.bank=physics/lattice --setattr=system.qos=dear >running
test "$(usage_of physics usage_core_s)" = 14400
test "$(usage_of bio charged_core_us)" -gt 0
usage_of bio usage_core_s >bio
EOF

cat >second.sh <<'EOF'
. ./functions.sh
sync_priorities
near "$(usage_of bio usage_core_s)" "$(cat bio)"
id=$(cat running)
# Where jobs do not outlive their broker, the restart ended it: then what it ran counts.
if test "$(state_of "$id")" = RUN; then
	test "$(usage_of physics usage_core_s)" = 14400
	cancel_job "$id"
fi
near "$(usage_of physics usage_core_s)" "2 * $(usage_of physics charged_core_us) / 1e6 - 2 * $(cat free_of_charge)"
# other rules, while the module runs: what was used is worth what it was
before=$(usage_of bio usage_core_s)
sed -e 's/^decay.*/decay = "window"/' -e 's/^charging.*//' instance-conf/instance.toml >windowed.toml
flux config load windowed.toml
sync_priorities
rpc job-priority.weights | jq -e '.decay == "window" and .charging == "as-it-runs"'
near "$(usage_of bio usage_core_s)" "$before"
a=$(hold -n1 --setattr=system.bank=bio)
cancel_job "$a"
near "$(usage_of bio usage_core_s)" "$before + $(ran "$a")"
sed -e 's/^algorithm.*/algorithm = "dynamic-user"/' instance-conf/instance.toml >lsf.toml
flux config load lsf.toml
sync_priorities
a=$(hold -n1 -t 1h --setattr=system.bank=bio)
rpc job-priority.weights | jq -e '.algorithm == "dynamic-user"'
cancel_job "$a"
echo 'billing-weights = "cpu"' >bad.toml
{ sed -n '/^\[weir\]/p' instance-conf/instance.toml && cat bad.toml; } >worse.toml
if flux config load worse.toml 2>refused; then exit 1; fi
rpc job-priority.weights | jq -e '.algorithm == "dynamic-user"'
EOF

for broker in $BROKERS; do
	test_expect_success "$broker: at dispatch, by QoS" '
		EXTRA="decay = \"none\"\ncharging = \"at-dispatch\"\nalgorithm = \"fair-tree\"\nqos = { scavenger = { usage-factor = 0 }, dear = { usage-factor = 2 } }" &&
		export EXTRA && in_instance '"$broker"' "$PWD/state-'"$broker"'" ./first.sh
	'
	test_expect_success "$broker: a restart goes on, and other rules take over what was used" '
		in_instance '"$broker"' "$PWD/state-'"$broker"'" ./second.sh
	'
done
test_done
