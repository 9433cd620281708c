#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='state: kill -9 in a loop, a corrupt file, a bad share tree, a second module: nothing lost, nothing twice'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
require_some_broker

STATE_FILE=job-priority.sqlite

# The module runs as a process of its own and is killed when a job reaches an event that differs from round to round;
# jobs go on meanwhile. At the end the total must be that of the eventlogs.
cat >kills.sh <<'EOF'
flux module remove job-priority
round=0
for event in depend alloc start finish free clean alloc clean depend free; do
	round=$((round + 1))
	until flux module load --exec "$PRIORITY_SO" 2>exists; do grep -qi exist exists; done
	for bank in bio physics/lattice bio; do
		flux submit -n1 --setattr=system.bank=$bank --setattr=system.exec.test.run_duration=0.1s true
	done >ids.$round
	# An even round is killed behind a full pass, an odd one in the middle of whatever it does.
	test $((round % 2)) = 1 || sync_priorities
	flux job wait-event -q -t 60 "$(tail -n 1 ids.$round)" $event
	kill -9 $(module_pid)
done
for id in $(cat ids.*); do flux job wait-event -q -t 60 "$id" clean; done
until flux module load "$PRIORITY_SO" 2>exists; do grep -qi exist exists; done
sync_priorities
rpc job-priority.usage >usage
rpc job-priority.history | jq ".revisions | length" >revisions
flux python "$PRIORITY_CONF/charged.py" >expected
EOF
cat >look.sh <<'EOF'
rpc job-priority.tree-get >tree
rpc job-priority.usage >usage
rpc job-priority.history >history
flux dmesg >log
EOF

if echo "$BROKERS" | grep -q -w flux; then
	test_expect_success 'flux: the module is killed ten times while jobs come and go' '
		in_instance flux "$PWD/state" ./kills.sh
	'
	test_expect_success 'flux: nothing is lost and nothing counted twice: the total is that of the eventlogs' '
		jq -e ".total > 0" expected && jq .total expected >want &&
		jq .total.charged_core_us usage >got && test_cmp want got &&
		test "$(cat revisions)" = 1
	'
fi

# The same with the whole broker: its job journal and our state file are two files, and neither may run ahead.
if echo "$BROKERS" | grep -q -w weir; then
	test_expect_success 'weir: the broker is killed eight times while jobs come and go' '
		echo true >nothing.sh && in_instance weir "$PWD/state-kill" ./nothing.sh &&
		round=0 &&
		for event in depend alloc start finish free clean alloc free; do
			round=$((round + 1)) && boot_weir "$PWD/state-kill" &&
			for bank in bio physics/lattice bio; do
				flux submit -n1 --setattr=system.bank=$bank --setattr=system.exec.test.run_duration=0.2s true || return 1
			done >weir-ids.$round &&
			flux job wait-event -q -t 60 "$(tail -n 1 weir-ids.$round)" $event &&
			kill -9 $weir_pid && forget_weir || return 1
		done
	'
	test_expect_success 'weir: nothing is lost and nothing counted twice: the total is that of the eventlogs' '
		cat >after.sh <<-"EOF" &&
		for id in $(cat weir-ids.*); do flux job wait-event -q -t 60 "$id" clean; done
		sync_priorities
		rpc job-priority.usage >usage
		flux python "$PRIORITY_CONF/charged.py" >expected
		EOF
		in_instance weir "$PWD/state-kill" ./after.sh &&
		jq -e ".total > 0" expected && jq .total expected >want &&
		jq .total.charged_core_us usage >got && test_cmp want got
	'
fi

for broker in $BROKERS; do
	dir=state-$broker
	test_expect_success "$broker: a first life leaves a state file" '
		in_instance '"$broker"' "$PWD/'$dir'" ./look.sh && test -f '$dir'/$STATE_FILE
	'
	test_expect_success "$broker: a corrupt state file is moved aside, said loudly, and nothing is deleted" '
		echo "not a database, but a letter of some length to whoever reads it" >'$dir'/$STATE_FILE &&
		cp '$dir'/$STATE_FILE damaged && rm -f '$dir'/$STATE_FILE-* &&
		in_instance '"$broker"' "$PWD/'$dir'" ./look.sh &&
		test_cmp damaged '$dir'/$STATE_FILE.corrupt-1 &&
		grep "$STATE_FILE.*damaged.*corrupt-1" log &&
		jq -e ".revision == 1" tree
	'
	test_expect_success "$broker: a bad share tree never stops the broker: the last good revision stays, and the mistakes are told" '
		printf "\"physics\" = -2\n\"bio/lab\" = 1\n" >bad.toml &&
		SHARES=$PWD/bad.toml in_instance '"$broker"' "$PWD/'$dir'" ./look.sh &&
		jq -e ".revision == 1 and (.problem | test(\"bad.toml:1:1\"))" tree &&
		grep "bad.toml:2:1.*unknown parent" log &&
		grep "stays at revision 1" log
	'
	test_expect_success "$broker: a bad share tree without a state: the instance runs without a tree, and says so" '
		SHARES=$PWD/bad.toml in_instance '"$broker"' "$PWD/other-'$dir'" ./look.sh &&
		jq -e ".revision == 0 and .nodes == []" tree &&
		grep "no usable share tree" log
	'
	test_expect_success "$broker: a changed share-tree file becomes the next revision" '
		sed "s/\"bio\" = 1/\"bio\" = 3/" <"$PRIORITY_CONF/shares.toml" >next.toml &&
		SHARES=$PWD/next.toml in_instance '"$broker"' "$PWD/'$dir'" ./look.sh &&
		jq -e ".revision == 2 and .author == \"file\" and (.problem | not)" tree &&
		jq -e ".revisions | length == 2" history
	'
done
test_done
