#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the factors of some sites in a stock Flux: what a script sets, associations, resources, nodes'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

CONFIG=$SHARNESS_TEST_SRCDIR/priority-conf
run_under_flux "$CONFIG/weir.toml"

weir() {
	"$WEIR_BUILD_DIR/bin/weir" "$@"
}
pending() {
	id=$(flux submit -n1 "$@" sleep 100) && flux job wait-event -q -t 30 "$id" depend && echo "$id"
}
STATE=$(mktemp -d)/state.sqlite # no space in it: it is a module argument
conf() {
	{ cat "$CONFIG/weir.toml" && cat; } >conf.toml && flux config load conf.toml
}

test_expect_success 'three jobs wait, with a state file and no other factor than the site'\''s' '
	flux jobtap load "$PRIORITY_TAP" &&
	flux module load "$PRIORITY_SO" state="$STATE" weights.fairshare=0 weights.wait=0 weights.size=0 weights.user=0 &&
	flux submit -n2 --urgency=31 sleep inf >blocker &&
	flux job wait-event -q -t 30 "$(cat blocker)" alloc &&
	pending --setattr=system.bank=bio >a && pending --setattr=system.bank=bio >b &&
	pending --setattr=system.bank=physics/lattice >c && sync_priorities &&
	test "$(priority_of "$(cat a)")" = 1
'
test_expect_success 'a value without weight is kept, and the command says that it counts nothing' '
	weir prio site "$(cat a)" 0.5 2>err && grep "weight 0" err && sync_priorities &&
	test "$(priority_of "$(cat a)")" = 1
'
test_expect_success 'with a weight it counts at once; a script sets many, and learns of those that do not wait' '
	printf "[weir.weights]\nsite = 1000\nassociation = 100\n" | conf && sync_priorities &&
	test "$(priority_of "$(cat a)")" = 500 &&
	gone=$(flux submit -n1 --urgency=hold true) && flux cancel "$gone" && flux job wait-event -q -t 30 "$gone" clean &&
	{ echo "{\"job\": \"$(cat b)\", \"value\": 0.9}" && echo && echo "{\"job\": $(flux job id --to=dec "$(cat c)"), \"value\": 3}" &&
	  echo "{\"job\": \"$gone\", \"value\": 1}"; } >values &&
	weir prio site --stdin --json <values >set &&
	jq -e ".set == 2 and (.unknown | length) == 1 and .weight == 1000" set && sync_priorities &&
	test "$(priority_of "$(cat b)")" = 900 &&
	test "$(priority_of "$(cat c)")" = 1000
'
test_expect_success 'a script with one bad line sets nothing' '
	{ echo "{\"job\": \"$(cat b)\", \"value\": 0.1}" && echo "{\"job\": \"$(cat c)\", \"value\": \"x\"}"; } >values &&
	test_must_fail weir prio site --stdin <values 2>err && grep "line 2:" err &&
	test_must_fail weir prio site "$(cat b)" much 2>err && grep "VALUE is a number" err &&
	test_must_fail rpc job-priority.site-set "{\"values\":[[1,2],[3]]}" >bad && grep "value 1 must be" bad &&
	sync_priorities && test "$(priority_of "$(cat b)")" = 900
'
test_expect_success 'explain and the columns show it' '
	weir prio explain "$(cat c)" --json | jq -e ".terms[] | select(.name == \"site\") | .raw == 3 and .factor == 1 and .contribution == 1000" &&
	weir prio explain "$(cat c)" | grep "site gives 1000: factor 1 of weight 1000 (3 value)" &&
	weir prio list --long | grep "+site"
'
test_expect_success 'not normalised, as in Slurm: the value counts as it is' '
	sed "s/^half-life.*/&\nraw-factors = [\"site\"]/" "$CONFIG/weir.toml" >raw.toml &&
	printf "[weir.weights]\nsite = 7\n" >>raw.toml && flux config load raw.toml && sync_priorities &&
	test "$(priority_of "$(cat c)")" = 21 &&
	printf "[weir.weights]\nsite = 1000\nassociation = 100\n" | conf && sync_priorities
'
test_expect_success 'values outlive the module; taken back they are gone' '
	flux module reload "$PRIORITY_SO" state="$STATE" weights.fairshare=0 weights.wait=0 weights.size=0 weights.user=0 &&
	sync_priorities &&
	test "$(priority_of "$(cat a)")" = 500 && test "$(priority_of "$(cat b)")" = 900 &&
	weir prio site "$(cat a)" none && sync_priorities &&
	test "$(priority_of "$(cat a)")" = 1 && test "$(priority_of "$(cat b)")" = 900
'
test_expect_success 'associations: the account'\''s priority is its members'\''' '
	printf "[weir.weights]\nassociation = 100\n[weir.associations.bio]\npriority = 3\n[weir.associations.physics]\npriority = 12\n" | conf &&
	sync_priorities &&
	test "$(priority_of "$(cat a)")" = 25 && test "$(priority_of "$(cat c)")" = 100
'
test_expect_success 'resources and nodes: amounts and the machine'\''s totals are known' '
	printf "[weir.resources]\ncores = 100\nmemory = { weight = 64, total = 8 }\n" | conf &&
	pending --setattr=system.weir.memory_per_slot=2GiB >d && sync_priorities &&
	cores=$(flux resource list -s all -no "{ncores}") &&
	expected=$(awk "BEGIN { printf \"%.0f\", 100 / $cores + 16 }") &&
	test "$(priority_of "$(cat d)")" = "$expected" &&
	weir prio explain "$(cat d)" | grep "memory .*16" &&
	rpc job-priority.weights | jq -e ".resources.memory.total == 8 and .resources.cores.total == $cores"
'
test_expect_success 'sent as an order: other numbers, the same order; explain has both' '
	for job in a b c d; do weir prio explain "$(cat $job)" --json | jq -r "\"\(.priority) $job\""; done | sort -rns >want &&
	sed "s/^push = .*/push = \"order\"/" "$CONFIG/weir.toml" >order.toml &&
	printf "[weir.resources]\ncores = 100\nmemory = { weight = 64, total = 8 }\n" >>order.toml &&
	flux config load order.toml && sync_priorities &&
	test "$(priority_of "$(cat d)")" -gt 1000000000 &&
	weir prio explain "$(cat d)" --json >explained &&
	jq -e ".push == \"order\" and .pushed > 1000000000 and .priority == $expected" explained &&
	weir prio explain "$(cat d)" | grep "a place in the order" &&
	for job in a b c d; do echo "$(priority_of "$(cat $job)") $job"; done | sort -rns | cut -d" " -f2 >got &&
	cut -d" " -f2 want >names && test_cmp names got &&
	sync_priorities | jq -e ".pushed == 0"
'
test_expect_success 'settings that can have no effect are told in the log' '
	printf "[weir.weights]\nassociation = 5\n[weir.resources]\nlicence = 3\n" | conf && sync_priorities &&
	flux dmesg | grep "no association has a priority" && flux dmesg | grep "resources.licence has no effect"
'
test_expect_success 'the module goes' '
	flux cancel --all && flux queue idle -t 60 && flux module remove job-priority &&
	rm -r "$(dirname "$STATE")"
'
test_done
