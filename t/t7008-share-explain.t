#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir share explain and compare: why a user stands where it does, on a live instance'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >shares.toml <<EOF
"physics"                = 60
"physics/lattice"        = 1
"physics/lattice/@alice" = 1
"physics/@bob"           = 1
"chem"                   = 40
"chem/@carol"            = 1
"chem/@*"                = 1
EOF
users() {
	printf "[weir]\nalgorithm = \"%s\"\n[weir.users]\nalice = 5001\nbob = 5002\ncarol = 5003\ndora = 5004\n" "$1"
}
# a job of alice's has run and ended
alice_has_used() {
	weir submit --user alice --simulate=1s --wait x
}

test_expect_success 'explain: a row a level, the rank, the reason' '
	users fair-tree >weir.toml && start_weir --tree shares.toml --config weir.toml && alice_has_used &&
	weir share explain physics/lattice/@alice >out && cat out &&
	grep "^physics/lattice/@alice: rank [0-9] of 3, factor 0\.[0-9]* by fair-tree" out &&
	grep "^physics  *60 of 100 " out && grep "^physics/lattice  *1 of 2 " out && grep "because \"physics" out
'
test_expect_success 'explain --json: every figure' '
	weir share explain --json alice >j && json_is j weir.share-explain/1 &&
	test "$(field j "[l[\"path\"] for l in d[\"levels\"]]")" = \
		"['"'physics', 'physics/lattice', 'physics/lattice/@alice'"']" &&
	test "$(field j "d[\"rank\"] - sum(l[\"ahead\"] for l in d[\"levels\"])")" -eq 1 &&
	test "$(field j "all(l[\"usage_core_s\"] > 0 for l in d[\"levels\"])")" = True
'
test_expect_success 'after: factor, rank and usage before and after a job; nothing is charged' '
	weir share after -n4 -t 2h bob >out && cat out && grep "^physics/@bob, before and after a job of 4 cores for 2h, by fair-tree" out &&
	grep "^rank  *2 of 3  *3 of 3\$" out && grep "^usage  *0.0 %  *[0-9.]* %\$" out &&
	weir share after -n4 -t 2h --json physics/@bob >j && json_is j weir.share-after/1 &&
	test "$(field j "d[\"cores\"], d[\"seconds\"], d[\"factor\"] > d[\"factor_after\"], d[\"used\"], d[\"rank_after\"]")" = "(4, 7200.0, True, 0.0, 3)" &&
	weir share explain --json bob >now && test "$(field now "d[\"factor\"]")" = "$(field j "d[\"factor\"]")" &&
	test_expect_code 2 weir share after -n4 bob 2>err && grep "time-limit=2h" err && test_expect_code 2 weir share after -n0 -t1h bob &&
	test_expect_code 5 weir share after -t1h bbob 2>err && grep "did you mean .bob" err
'
test_expect_success 'after: without a name it is the one who asks' '
	weir share after -t 1h --json >j && test "$(field j "d[\"path\"]")" = "chem/@$(id -un)"
'
test_expect_success 'compare: the level where their paths part, and who goes first' '
	weir share compare alice bob >out && cat out && grep "they part below \"physics\"" out &&
	grep "^physics/@bob .* yes\$" out && grep "\"physics/@bob\" goes first" out &&
	weir share compare --json alice carol >j && json_is j weir.share-compare/1 &&
	test "$(field j "d[\"first\"], d[\"common\"], d[\"level_b\"][\"path\"]")" = "('"'b', '', 'chem'"')"
'
test_expect_success 'an account: its levels, those below it, who of them is first' '
	weir share explain physics >out && cat out && grep "^physics: 2 of 3 associations are below it, first physics/@bob at rank [12]," out &&
	grep "^physics/lattice  *1 of 2 .* 3\$" out && grep "^physics/@bob: rank [12] of 3" out &&
	weir share explain --json lattice >j && json_is j weir.share-explain/1 &&
	test "$(field j "d[\"first\"][\"path\"], len(d[\"below\"])")" = "('"'physics/lattice/@alice'"', 1)"
'
test_expect_success 'the best of all has rank 1' '
	weir share explain carol >out && cat out && grep "rank 1 of 3.*no association is ahead of it" out
'
test_expect_success 'a user without a job stands where the first one would' '
	weir share explain chem/@dora >out && grep "no job yet" out && weir share show >out && ! grep dora out
'
test_expect_success 'a word that is neither a node nor a user is refused with the nearest name, though @* admits every user' '
	test_expect_code 5 weir share explain dorra 2>err && cat err && grep "neither in the share tree nor a known user" err && grep "did you mean .dora" err &&
	test_expect_code 5 weir share explain chem/@nobody-has-this-name 2>err && test_expect_code 5 weir share compare alice dorra 2>err
'
test_expect_success 'what is no association: its exit code, and where to look' '
	test_must_fail weir share compare physics alice 2>err && grep "physics/lattice/@alice" err &&
	test_expect_code 5 weir share explain physics/@alcie 2>err && grep "physics" err &&
	test_expect_code 5 weir share compare alice chme/@carol 2>err && grep "chem" err &&
	test_must_fail weir share explain "chem/@*" 2>err && cat err && grep "stands for all users who have no line.*such as chem/@alice" err &&
	test_expect_code 2 weir share compare alice 2>err
'
test_expect_success 'under other algorithms too' '
	stop_weir &&
	for a in classic weighted-tree targets demand-capped dynamic-user; do
		users $a >weir.toml && start_weir --tree shares.toml --config weir.toml && alice_has_used &&
		weir share explain alice >out && cat out && grep "by $a\$" out && grep "^physics/lattice/@alice " out &&
		weir share compare --json alice carol >j && field j "d[\"reason\"]" && stop_weir || return 1
	done
'

cat >queues.toml <<EOF
"queue:debug"            = 1
"queue:debug/@alice"     = 1
"physics"                = 1
"physics/@alice"         = 1
"physics/@bob"           = 1
EOF
test_expect_success 'a job pays below its own queue, in the child instance and here' '
	users fair-tree >weir.toml && start_weir --tree queues.toml --config weir.toml &&
	weir submit --user alice -q debug --simulate=1s --wait x && weir submit --user alice -q batch --simulate=2s --wait y &&
	weir usage --json >j && cat j &&
	field j "{n[\"path\"]: n[\"charged_core_us\"] // 1000000 for n in d[\"nodes\"]}" >charged && cat charged &&
	grep "'"'queue:debug/@alice': 1, "'" charged && grep "'"'physics/@alice': 2, "'" charged && stop_weir
'
test_expect_success 'prio when: the older job stops gaining, then the younger passes it; prio list --long: every term' '
	users fair-tree | sed "s/^algorithm/wait-after = \"0s\"\nwait-max = \"1h\"\nweights.wait = 100000000\nalgorithm/" >weir.toml &&
	start_weir --tree queues.toml --config weir.toml &&
	weir submit --user bob -n 6 --simulate=1h fill &&
	FLUX_URI=local://$WEIR_RUNDIR/local-0 wait_until job-list.list "{\"max_entries\": 0, \"attrs\": [\"name\"], \"constraint\": {\"states\": [\"run\"]}}" \
		".jobs | any(.name == \"fill\")" &&
	weir submit --user bob -n 6 --simulate=1h older >older && weir submit --user bob -n 6 --simulate=1h younger >younger && weir nice $(cat younger) -1 &&
	weir prio when $(cat older) $(cat younger) >out && cat out &&
	grep "^$(cat older) of bob is ahead of $(cat younger) of bob" out && grep "^$(cat younger) passes $(cat older) in \(1h\|59m\)" out &&
	weir prio when --json $(cat younger) $(cat older) >j && json_is j weir.prio-when/1 && test $(field j "len(d[\"crossings\"])") = 1 &&
	test_expect_code 5 weir prio when $(cat older) f1 2>err && grep "no job .1" err &&
	weir prio list --long >out && cat out && for c in wait fairshare qos queue size user association site resources; do
		head -1 out | grep "+$c" || return 1
	done && stop_weir
'

test_done
