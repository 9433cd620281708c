#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='changes of the share tree: nothing goes by a slip, nobody overwrites another, and there is a way back'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >shares.toml <<EOF
# campus
"physics"                = 60    # as agreed
"physics/lattice"        = 1
"physics/lattice/@alice" = 1
"physics/@bob"           = 1
"chem"                   = 40
"chem/@carol"            = 1
"chem/@alice"            = 1
"bio"                    = 5
"bio/@dave"              = 1
"instances"              = 0
"instances/@$(id -un)"   = 1
EOF
printf "[weir.users]\nalice = 5001\nbob = 5002\ncarol = 5003\ndave = 5004\n" >weir.toml
revision() {
	weir share show --json >show.json && field show.json 'd["revision"]'
}
# nodes of the tree in force, those of the instance's owner left out
nodes() {
	weir share show --json >show.json && field show.json 'len([n for n in d["nodes"] if "instances" not in n["path"]])'
}

test_expect_success 'an instance: alice has used something, bob has a job that runs, carol one that waits' '
	start_weir --tree shares.toml --config weir.toml --statedir "$(pwd)/state" &&
	weir submit --user alice -A lattice --simulate=1s --wait x &&
	weir submit --user bob -n 6 --simulate=1h x >bobs &&
	FLUX_URI=local://$WEIR_RUNDIR/local-0 wait_until job-priority.usage "{}" "[.nodes[].running_cores] | add >= 6" >/dev/null &&
	weir submit --user carol -n 6 --simulate=1h y >carols &&
	FLUX_URI=local://$WEIR_RUNDIR/local-0 wait_until job-priority.stats-get "{}" ".pending == 1" >/dev/null &&
	test $(nodes) -eq 9
'

# ---- what wipes a tree by a slip ----
test_expect_success 'a folder, a file that is not there: exit code 5, the tree stays' '
	test_expect_code 5 weir share apply /dev/zero 2>err && grep "cannot read /dev/zero: it has more than 256 MiB" err &&
	test_expect_code 5 weir share apply / 2>err && grep "cannot read /: Is a directory" err &&
	test_expect_code 5 weir share apply nowhere.toml 2>err && test $(nodes) -eq 9
'
test_expect_success 'an empty input, or one of comments alone: exit code 7, the tree stays' '
	false | test_expect_code 7 weir share apply - 2>err && grep "no node in standard input" err && grep -e --allow-empty err &&
	echo "# nothing" >none.toml && test_expect_code 7 weir share apply none.toml 2>err && grep none.toml err &&
	test $(nodes) -eq 9 && test $(revision) -eq 1
'
test_expect_success 'nodes with usage or jobs go with --yes alone; the question names them' '
	grep -v "alice\|bob\|carol\|bio" shares.toml >less.toml &&
	test_expect_code 1 weir share apply less.toml 2>err </dev/null && cat err &&
	grep "physics/lattice/@alice: 0.0[0-9]* core-hours charged" err && grep "physics/@bob: .*6 cores in use" err &&
	grep "chem/@carol: .*1 jobs waiting" err && grep "A waiting job is held back if no other line pays for it" err && test_expect_code 1 grep "bio\|chem/@alice" err && grep -e --yes err &&
	test $(nodes) -eq 9 && weir share apply --dry-run less.toml && test $(nodes) -eq 9
'
test_expect_success 'on a terminal they are asked about: no is no, yes is yes' '
	cat >ask.py <<-\EOF &&
		import os, pty, subprocess, sys
		ours, theirs = pty.openpty()
		child = subprocess.Popen(sys.argv[2:], stdin=theirs, stderr=theirs, stdout=subprocess.DEVNULL)
		os.close(theirs)
		said = b""
		while b"[y/N]" not in said:
		    said += os.read(ours, 4096)
		os.write(ours, sys.argv[1].encode() + b"\n")
		code = child.wait()
		print(said.decode())
		sys.exit(code)
	EOF
	test_expect_code 1 python3 ask.py n weir share apply less.toml >out && grep "physics/@bob" out && test $(nodes) -eq 9 &&
	python3 ask.py y weir share apply less.toml && test $(nodes) -eq 3 &&
	weir share undo && test $(nodes) -eq 9 && weir share apply --yes less.toml && test $(nodes) -eq 3 && weir share undo &&
	weir usage --json >j && test $(field j "[n[\"charged_core_us\"] > 0 for n in d[\"nodes\"] if n[\"path\"] == \"physics/@bob\"]") = "[True]"
'
test_expect_success 'share remove asks the same of one line; a line without usage or jobs goes without a question' '
	for node in physics/lattice/@alice physics/@bob chem/@carol; do
		test_expect_code 1 weir share remove $node 2>err </dev/null && cat err && grep "  $node: " err && grep -e --yes err || return 1
	done &&
	test $(nodes) -eq 9 && weir share remove --dry-run physics/@bob </dev/null && test $(nodes) -eq 9 &&
	test_expect_code 1 python3 ask.py n weir share remove physics/@bob >out && grep "physics/@bob: " out && test $(nodes) -eq 9 &&
	python3 ask.py y weir share remove chem/@carol && test $(nodes) -eq 8 && weir share undo && test $(nodes) -eq 9 &&
	weir share remove --yes physics/lattice/@alice && test $(nodes) -eq 8 && weir share undo && test $(nodes) -eq 9 &&
	weir share remove bio/@dave </dev/null && test $(nodes) -eq 8 && weir share undo && test $(nodes) -eq 9
'
test_expect_success 'nodes without usage or jobs go without a question; an empty tree is taken where it is meant' '
	grep -v bio shares.toml >fewer.toml && weir share apply fewer.toml </dev/null && test $(nodes) -eq 7 && weir share undo &&
	weir share apply --allow-empty --yes /dev/null && weir share show | grep "is empty" && weir share undo && test $(nodes) -eq 9 &&
	weir share undo --yes && weir share show | grep "is empty" && weir share undo && test $(nodes) -eq 9
'
test_expect_success 'shares that become those of the parent are told as such, and the account is entitled to what is below it' '
	weir share set -n chem shares=parent >out 2>&1 && cat out && grep "~ .*chem .*40 . parent " out && ! grep "none\|40 . 0" out &&
	weir share set chem shares=parent && weir share set -n chem 40 >out 2>&1 && cat out && grep "parent . 40 " out && ! grep none out &&
	weir share show --json >j && test $(field j "round(sum(n[\"entitled\"] for n in d[\"nodes\"] if n[\"path\"] and \"/\" not in n[\"path\"]), 6)") = 1.0 &&
	weir share undo && test $(nodes) -eq 9
'

# ---- two admins ----
test_expect_success 'an export that another change came after is refused: exit code 6, and the change is shown' '
	weir share export >mine.toml && head -1 mine.toml | grep "^# Revision $(revision) of the share tree" &&
	weir share set -m "grant of May" chem 50 && before=$(revision) &&
	sed -i "s/= 60 /= 70 /" mine.toml && test_expect_code 6 weir share apply mine.toml 2>err && cat err &&
	grep "revision $before by $(id -un), .*: grant of May" err && grep "chem  *40 .* 50" err && grep "share export" err &&
	test_expect_code 6 weir share apply --dry-run mine.toml && test $(revision) -eq $before &&
	weir share export >mine.toml && grep "\"chem\".*50" mine.toml && sed -i "s/= 60 /= 70 /" mine.toml && weir share apply mine.toml &&
	weir share export | tail -n +2 >now && tail -n +2 mine.toml | test_cmp - now && grep "# as agreed" now
'
test_expect_success 'eight changes of different nodes at once all hold, each with its revision' '
	before=$(revision) && pids= &&
	for n in physics physics/lattice physics/lattice/@alice physics/@bob chem chem/@carol bio bio/@dave; do
		weir share set "$n" 17 >"set.$(echo $n | tr / _)" 2>&1 & pids="$pids $!"
	done &&
	for p in $pids; do wait $p || { cat set.*; return 1; }; done &&
	test $(revision) -eq $((before + 8)) && weir share export | grep -c "= 17" >count && test $(cat count) -eq 8
'
test_expect_success 'two changes of one node at once: each holds or is told of the other' '
	for round in 1 2 3 4 5 6; do
		before=$(revision) && weir share set chem 1$round >one 2>&1 & first=$!
		weir share set chem 2$round >two 2>&1; b=$?; wait $first; a=$?
		test $a -eq 0 || { test $a -eq 6 && grep "chem  *[0-9]* .* 2$round" one; } || { cat one; return 1; }
		test $b -eq 0 || { test $b -eq 6 && grep "chem  *[0-9]* .* 1$round" two; } || { cat two; return 1; }
		test $((a + b)) -lt 12 || return 1
	done
'
test_expect_success 'what changes nothing makes no revision' '
	before=$(revision) && weir share export | weir share apply - 2>err && grep "No change" err &&
	weir share set chem $(field show.json "[n[\"shares\"] for n in d[\"nodes\"] if n[\"path\"] == \"chem\"][0]") 2>err && grep "No change" err &&
	test $(revision) -eq $before
'

# ---- values and names ----
test_expect_success 'a reason of 500 bytes is kept; a longer one is refused, and the tree stays' '
	before=$(revision) && test_expect_code 1 weir share set bio 6 -m "$(printf %0501d 0)" 2>err &&
	grep "the reason has 501 bytes, and at most 500 are kept" err && test $(revision) -eq $before &&
	weir share set bio 6 -m "$(printf %0500d 0)" && test $(revision) -eq $((before + 1)) && weir share undo
'
test_expect_success 'a bad field or value: exit code 2; a node that is not there: exit code 5' '
	before=$(revision) &&
	for bad in 4x -1 cores_max=abc wall_time_max=36 target=lots colour=3 cores_max=[1,2,3] at.debug=-1; do
		test_expect_code 2 weir share set chem "$bad" 2>err || { echo "$bad"; cat err; return 1; }
	done &&
	test_expect_code 2 weir share add chem/@eve cores_max=abc && test_expect_code 5 weir share set chme 3 2>err && grep "\"chem\"" err &&
	test_expect_code 5 weir share add chme/@eve 3 && test_expect_code 1 weir share add chem/@carol 3 2>err && grep "share set chem/@carol" err &&
	test_expect_code 1 weir share remove chem && test $(revision) -eq $before
'
test_expect_success 'a user by name, an account by its last name; who stands on two lines is asked which' '
	weir share set bob 4 && weir share export | grep "\"physics/@bob\" *= 4" &&
	weir share set lattice 6 && weir share export | grep "\"physics/lattice\" *= 6" &&
	test_expect_code 2 weir share set alice 3 2>err && grep "physics/lattice/@alice and chem/@alice" err &&
	weir share set chem/@alice 3 && test_expect_code 5 weir share set dora 3
'

# ---- the way back ----
test_expect_success 'diff: the last change, from a revision on, between two; --json' '
	before=$(revision) && weir share set -m "for June" bio 8 && weir share diff >out && cat out &&
	grep "^revision $((before + 1)) by $(id -un), .*: for June" out && grep "bio .* 8" out && test $(grep -c "^revision" out) -eq 1 &&
	weir share diff 1 >out && grep "physics/@bob  *1 .* 4" out && weir share diff 1 2 --json >j && json_is j weir.share-diff/1 &&
	test $(field j "len([c for c in d[\"changes\"] if c[\"op\"] == \"remove\"])") -gt 4 &&
	test_expect_code 5 weir share diff 1 9999 2>err && grep "no revision 9999" err && test_expect_code 2 weir share diff one
'
test_expect_success 'undo: the text before, comments and all, as a new revision that says so' '
	before=$(revision) && weir share undo --dry-run >out && grep "bio  *8 .* 17" out && test $(revision) -eq $before &&
	weir share undo && test $(revision) -eq $((before + 1)) && weir share export | grep "\"bio\" *= 17" &&
	weir share history | tail -1 | grep "back to revision $((before - 1))" &&
	weir share undo -m "as it began" 1 --yes && weir share export | tail -n +2 | test_cmp shares.toml - &&
	weir share history | tail -1 | grep "as it began" && test_expect_code 5 weir share undo 9999
'
# what alice is charged in physics/lattice
charged_to_alice() {
	weir usage --json >j && field j "[n[\"charged_core_us\"] for n in d[\"nodes\"] if n[\"path\"] == \"physics/lattice/@alice\"]"
}
test_expect_success 'who loses his own line keeps his usage where @* admits him, also after a restart' '
	charged_to_alice >before && cat before && ! grep "\[\(0\|\)\]" before &&
	weir share add physics/lattice/@* 2 && weir share remove --yes physics/lattice/@alice && charged_to_alice | test_cmp before - &&
	weir share show --json >show.json && test "$(field show.json "[n[\"shares\"] for n in d[\"nodes\"] if n[\"path\"] == \"physics/lattice/@alice\"]")" = "[2]" &&
	weir export flux-accounting tables && grep alice tables/association_table.csv &&
	stop_weir && start_weir --tree shares.toml --config weir.toml --statedir "$(pwd)/state" && charged_to_alice | test_cmp before - &&
	weir share add physics/lattice/@alice 1 && charged_to_alice | test_cmp before -
'
test_expect_success 'the tree, its history and what lies between are there after a restart' '
	before=$(revision) && stop_weir && start_weir --tree shares.toml --config weir.toml --statedir "$(pwd)/state" &&
	test $(revision) -eq $before && weir share diff 1 2 --json >j && test $(field j "len(d[\"changes\"]) > 0") = True &&
	weir share undo --yes && test $(revision) -eq $((before + 1))
'
test_expect_success 'another order of lines is told where it changes a default account, and a tree in JSON keeps its order' '
	printf "{\"version\": 1, \"nodes\": {\"a\": 1, \"b\": 1, \"b/@zoe\": 1, \"a/@zoe\": 1}}" >two.json &&
	weir share apply --yes two.json && weir share export | tail -n +2 >two.toml && cat two.toml && sed -n 3p two.toml | grep "b/@zoe" &&
	sed "3{h;d};4G" two.toml >swapped.toml && weir share apply --dry-run swapped.toml >out && cat out &&
	grep "a/@zoe .*default none → first line" out && grep "b/@zoe .*default first line → none" out && weir share undo --yes
'
test_expect_success 'a share-tree file that is emptied takes nothing away at the next start' '
	before=$(revision) && had=$(nodes) && stop_weir && cp shares.toml kept.toml && : >shares.toml &&
	start_weir --tree shares.toml --config weir.toml --statedir "$(pwd)/state" && test $(revision) -eq $before && test $(nodes) -eq $had &&
	field show.json "d[\"problem\"]" | grep "no node in it" && stop_weir
'

test_done
