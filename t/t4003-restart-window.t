#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a restart of a stock Flux: no job gets a default priority before the module has the table back'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

FLUX=$(find_flux) || {
	skip_all='no stock Flux here that can load this build: put flux into PATH or set WEIR_FLUX'
	test_done
}
PATH=$(dirname "$FLUX"):$PATH
export PATH
mkdir -p conf state
cp "$SHARNESS_TEST_SRCDIR"/priority-conf/*.toml conf/
cat >>conf/weir.toml <<EOF
[job-manager]
plugins = [{ load = "$PRIORITY_TAP", conf = { unavail-timeout = "30s" } }]
EOF

# life SCRIPT: one life of the instance, with its state kept in ./state.
life() {
	flux start --test-size=1 "--config-path=$PWD/conf/weir.toml" "--setattr=statedir=$PWD/state" bash -e "$1"
}
cat >functions.sh <<EOF
SHARNESS_TEST_SRCDIR=$SHARNESS_TEST_SRCDIR
. "$SHARNESS_TEST_SRCDIR/sharness.d/40-flux.sh"
EOF

cat >first.sh <<'EOF'
. ./functions.sh
flux module load "$PRIORITY_SO"
flux submit -n2 --urgency=31 sleep inf >blocker
flux job wait-event -q -t 30 "$(cat blocker)" alloc
for bank in bio physics/lattice bio; do
	flux submit -n1 --setattr=system.bank=$bank sleep 100
done >ids
for id in $(cat ids); do flux job wait-event -q -t 30 "$id" priority; done
sync_priorities
rpc job-priority.usage >usage.first
rpc job-priority.tree-get | jq .revision >revision.first
flux module remove job-priority
flux queue stop
EOF
cat >second.sh <<'EOF'
. ./functions.sh
flux jobtap query job-priority-tap.so >tap.before
for id in $(cat ids); do state_of "$id"; done >states.before
flux queue start
# Had any default leaked, these would start now; the module comes only here.
flux module load "$PRIORITY_SO"
for id in $(cat ids); do flux job wait-event -q -t 60 "$id" alloc; flux cancel "$id"; done
rpc job-priority.usage >usage.second
rpc job-priority.tree-get | jq .revision >revision.second
for id in $(cat ids); do flux job eventlog -f json "$id"; done >eventlogs
flux module remove job-priority
EOF
cat >third.sh <<'EOF'
. ./functions.sh
id=$(flux submit -n1 true)
flux job wait-event -q -t 60 "$id" clean
flux job eventlog -f json "$id" | jq -r 'select(.name == "priority") | .context.priority' >fallback
EOF

test_expect_success 'first life: jobs wait with computed priorities' '
	life ./first.sh &&
	test "$(wc -l <ids)" = 3
'
test_expect_success 'second life: before the module is there, the jobs stay in PRIORITY' '
	life ./second.sh &&
	jq -e ".mode == \"starting\" and .waiting == 3" tap.before &&
	test "$(sort -u states.before)" = PRIORITY
'
test_expect_success 'after flux-restart every priority event carries a computed value, never 16' '
	grep -c flux-restart eventlogs &&
	jq -r "select(.name == \"priority\") | .context.priority" eventlogs >values &&
	test_must_fail grep -x -e 16 -e 0 values &&
	test "$(sort -n values | head -n 1)" -gt 16
'
test_expect_success 'usage and tree are there again: at least what was charged, the same revision' '
	test_cmp revision.first revision.second &&
	test "$(jq .total.charged_core_us usage.second)" -ge "$(jq .total.charged_core_us usage.first)"
'
test_expect_success 'without a module jobs are not stuck: after the timeout they get a fallback and run' '
	sed -i "s/30s/1s/" conf/weir.toml &&
	life ./third.sh &&
	test "$(cat fallback)" = 16
'
test_done
