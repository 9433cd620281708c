#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='push = "head" in a stock Flux: the first jobs have values above all others, in the job-manager or in the scheduler'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

CONFIG=$SHARNESS_TEST_SRCDIR/priority-conf
run_under_flux "$CONFIG/weir.toml"

SCHED=$WEIR_BUILD_DIR/lib/flux/modules/sched-weir-easy.so
HEAD=2147483648

# The bank with so many shares is behind as soon as it alone has usage, and before when the other one has some as well.
sed 's/^"bio" .*/"bio" = 100000/' "$CONFIG/shares.toml" >shares.toml

# pending URGENCY...: waiting one-core jobs of $bank; their ids when they have priorities.
bank=bio
pending() {
	for urgency in "$@"; do
		id=$(flux submit -n1 --setattr=system.bank=$bank --urgency="$urgency" sleep inf) &&
		flux job wait-event -q -t 30 "$id" priority &&
		echo "$id" || return 1
	done
}

# first_of LEAST: the ids of the first three jobs whose values are at least LEAST, first first.
first_of() {
	rpc job-manager.list '{"max_entries": 100}' |
		jq -r ".jobs | map(select(.priority >= $1 and .priority < 4294967295)) | sort_by(-.priority, .id) | .[:3] | .[].id"
}

# in_head: those with values of the head. A job that left the head may keep its value.
in_head() {
	first_of $HEAD
}

dec() {
	for id in "$@"; do
		flux job id --to=dec "$id"
	done
}

test_expect_success 'the module loads with a head of three' '
	flux jobtap load "$PRIORITY_TAP" &&
	flux module load "$PRIORITY_SO" push=head head-depth=3 &&
	rpc job-priority.tree-set "$(jq -Rs "{toml: .}" <shares.toml)" &&
	flux submit -n$(nproc) --setattr=system.bank=bio --urgency=31 sleep inf >blocker &&
	flux job wait-event -q -t 30 "$(cat blocker)" alloc
'
test_expect_success 'where the numbers of the jobs sort them, none needs a value of the head' '
	sync_priorities && # the bank has usage
	pending 10 12 14 16 8 6 >ids &&
	sync_priorities &&
	{ dec $(sed -n 4p ids) && dec $(sed -n 3p ids) && dec $(sed -n 2p ids); } >expected &&
	first_of 2 >got &&
	test_cmp expected got &&
	test -z "$(in_head)" &&
	for id in $(cat ids); do
		flux job eventlog "$id" | grep -c " priority " || return 1
	done | sort -u >count &&
	test "$(cat count)" = 1
'
test_expect_success 'nor those of a bank that is before them' '
	(bank=physics/lattice && pending 7) >other &&
	sync_priorities &&
	test "$(first_of 2 | sed -n 1p)" = "$(dec $(cat other))" &&
	test -z "$(in_head)"
'
test_expect_success 'when their bank is before that one, the first three have values above all numbers, in their order' '
	mv blocker first_blocker &&
	flux submit -n$(nproc) --setattr=system.bank=physics/lattice --urgency=31 sleep inf >blocker &&
	flux cancel "$(cat first_blocker)" &&
	flux job wait-event -q -t 30 "$(cat blocker)" alloc &&
	flux job wait-event -q -t 30 "$(cat first_blocker)" clean &&
	sync_priorities &&
	in_head >got &&
	test_cmp expected got &&
	rpc job-manager.list "{\"max_entries\": 100}" >all &&
	jq -e ".jobs[] | select(.id == $(dec $(sed -n 6p ids))) | .priority < $HEAD" all
'
test_expect_success 'explain says the priority, and what the job-manager has' '
	rpc job-priority.explain "{\"id\":$(dec $(sed -n 4p ids))}" >explained &&
	jq -e ".push == \"head\" and .pushed >= $HEAD and .priority < $HEAD" explained &&
	jq -e ".words | join(\" \") | test(\"a place among the first jobs\")" explained &&
	rpc job-priority.explain "{\"id\":$(dec $(sed -n 6p ids))}" >explained &&
	jq -e ".pushed < $HEAD" explained
'
test_expect_success 'a held job leaves the head, the next one enters; released, it has its place again' '
	flux job urgency "$(sed -n 4p ids)" hold &&
	sync_priorities &&
	{ dec $(sed -n 3p ids) && dec $(sed -n 2p ids) && dec $(sed -n 1p ids); } >after &&
	in_head >got &&
	test_cmp after got &&
	flux job urgency "$(sed -n 4p ids)" 16 &&
	sync_priorities &&
	in_head >got &&
	test_cmp expected got
'
test_expect_success 'a new job costs one value where it does not come into the head' '
	before=$(stat_of pushed) &&
	pending 2 3 4 >more &&
	sync_priorities &&
	test $(($(stat_of pushed) - before)) = 3
'
test_expect_success 'the plugin gives a new job of a known kind its number by itself, and nothing is sent twice' '
	given() { flux jobtap query job-priority-tap.so | jq .gave_first; } &&
	before=$(given) &&
	flux submit -n1 --setattr=system.bank=bio --urgency=2 sleep inf >known &&
	flux job wait-event -q -t 30 "$(cat known)" priority &&
	test $(($(given) - before)) = 1 &&
	sync_priorities &&
	flux job eventlog "$(cat known)" | grep -c " priority " >count &&
	test "$(cat count)" = 1 &&
	rpc job-priority.explain "{\"id\":$(dec $(cat known))}" >explained &&
	test "$(priority_of "$(cat known)")" = "$(priority_of "$(sed -n 1p more)")" &&
	flux cancel "$(cat known)"
'
test_expect_success 'one of the schedulers of Weir takes the order itself: the job-manager has priorities alone' '
	flux module remove sched-simple &&
	flux module load "$SCHED" &&
	sync_priorities &&
	sync_priorities &&
	test -z "$(in_head)" &&
	test "$(stat_of ordered)" -ge 3
'
test_expect_success 'flux jobs, the job-manager and weir prio show the same priorities, once they followed' '
	sync_priorities &&
	rpc job-priority.list "{}" | jq -r ".jobs[] | \"\(.id) \(.priority)\"" | sort >weir &&
	rpc job-manager.list "{\"max_entries\": 100}" | jq -r ".jobs[] | select(.state == 8) | \"\(.id) \(.priority)\"" | sort >manager &&
	test_cmp weir manager &&
	flux jobs -n --filter=pending -o "{id.dec} {priority}" | sort >flux &&
	test_cmp weir flux &&
	test "$(wc -l <flux)" -ge 6
'
test_expect_success 'the jobs start in their order' '
	flux cancel "$(cat blocker)" &&
	first=$(sed -n 4p ids) &&
	flux job wait-event -q -t 30 "$first" alloc &&
	for n in 3 2 1 5 6; do
		flux cancel "$first" &&
		first=$(sed -n ${n}p ids) &&
		flux job wait-event -q -t 30 "$first" alloc || return 1
	done
'
test_expect_success 'when sched-simple is back the job-manager has the order again' '
	flux cancel --all &&
	flux queue drain &&
	flux module remove sched-weir-easy &&
	flux module load sched-simple &&
	flux submit -n$(nproc) --setattr=system.bank=bio --urgency=31 sleep inf >blocker &&
	flux job wait-event -q -t 30 "$(cat blocker)" alloc &&
	pending 10 12 14 16 >ids &&
	sync_priorities &&
	sync_priorities &&
	{ dec $(sed -n 4p ids) && dec $(sed -n 3p ids) && dec $(sed -n 2p ids); } >expected &&
	first_of 2 >got &&
	test_cmp expected got &&
	flux cancel --all &&
	flux queue drain &&
	flux module remove job-priority
'
test_done
