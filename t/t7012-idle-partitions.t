#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='idle partitions: what nobody uses of them is nobody'\''s use, and who started them pays for jobs of his own alone'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

me=$(id -un)
# of PATH KEY: of a node in j
of() {
	field j "[n[\"$2\"] for n in d[\"nodes\"] if n[\"path\"] == \"$1\"][0]"
}

test_expect_success 'a newcomer has no share tree: the first own job shows its fair share' '
	start_weir --cores 8 && weir submit -n2 --simulate=1s --wait x &&
	weir share show >out && cat out && grep "@$me  *1 .* 100\.0 % .* 1\.00× " out && ! grep instances out &&
	weir share explain everybody/@$me >out && grep "rank 1 of 1" out
'
test_expect_success 'idle time has a line of its own, in the tree and in the usage' '
	weir share show | grep "^idle in partitions: .* core-h, .*; \(1 core\|[0-9]* cores\) now" &&
	weir usage | grep "^(idle in partitions)  *[0-9.]* .* 6$\|^(idle in partitions)  *[0-9.]* .* 8$" &&
	weir share show --json >j && test "$(of everybody used)" = 1.0
'
test_expect_success 'what is charged is what was allocated: users, strangers and idle time' '
	weir usage --json >j && field j "d" >all && cat all &&
	test "$(field j "d[\"total\"][\"charged_core_us\"] - d[\"idle\"][\"charged_core_us\"] - d[\"unassociated\"][\"charged_core_us\"]")" = "$(of everybody charged_core_us)" &&
	test "$(of everybody charged_core_us)" -ge 2000000 && test "$(field j "d[\"idle\"][\"charged_core_us\"] > 6000000")" = True &&
	test "$(field j "d[\"total\"][\"running_cores\"]")" = 8 && stop_weir
'

cat >shares.toml <<EOF
"physics"        = 1
"physics/@alice" = 1
"chem"           = 1
"chem/@carol"    = 1
EOF
printf "[weir]\nenforce = false\n[weir.users]\nalice = 5001\ncarol = 5003\ndave = 5004\n" >weir.toml
# are_charged FIELD...: when the parent knows the ends of jobs of all these (of the answer of job-priority.usage): a partition reports after
# `submit --wait` has returned.
are_charged() {
	for part; do
		FLUX_URI=local://$WEIR_RUNDIR/local-0 wait_until job-priority.usage "{}" "$part | .running_cores == 0 and .charged_core_us > 900000" ||
			return 1
	done
}
of_physics=".nodes[] | select(.path == \"physics\")" of_chem=".nodes[] | select(.path == \"chem\")"
# ratio_is PATH OTHER: what `share show` says is the part of both that PATH used, over the half that it is entitled to.
ratio_is() {
	used=$(of "$1" charged_core_us) && other=$(of "$2" charged_core_us) && said=$(grep "^$1 " out | grep -o "[0-9.]*×" | tr -d "×") &&
	test "$(field j "abs($said - 2 * $used / ($used + $other)) < 0.02 and $used > 900000")" = True
}
test_expect_success 'on partitions that mostly idle two accounts of one share stand at what they used, without idle time' '
	mkdir state && start_weir --tree shares.toml --config weir.toml --cores 8 --statedir "$(pwd)/state" &&
	weir submit --user alice --simulate=1s --wait x && weir submit --user carol --simulate=1s --wait x &&
	are_charged "$of_physics" "$of_chem" && weir share show >out && cat out && weir usage --json >j && ratio_is physics chem && ratio_is chem physics
'
test_expect_success 'what jobs without an association used has a line, so that the parts add up' '
	! grep "no association" out && weir submit --user dave --simulate=1s --wait x && are_charged .unassociated && weir share show >out && cat out &&
	weir usage --json >j && rest=$(field j "100 * d[\"unassociated\"][\"charged_core_us\"] / (d[\"total\"][\"charged_core_us\"] - d[\"idle\"][\"charged_core_us\"])") &&
	said=$(sed -n "s/^jobs of no association: .* core-h, \([0-9.]*\) % of what jobs used.*/\1/p" out) && test "$(field j "abs($said - $rest) < 1")" = True
'
test_expect_success 'idle time outlives a restart and goes on' '
	weir usage --json >j && field j "d[\"idle\"][\"charged_core_us\"]" >before && stop_weir &&
	start_weir --tree shares.toml --config weir.toml --cores 8 --statedir "$(pwd)/state" && weir submit --user alice --simulate=1s --wait x &&
	weir usage --json >j && test "$(field j "d[\"idle\"][\"charged_core_us\"]")" -gt "$(cat before)" &&
	test "$(of chem charged_core_us)" -lt 2000000
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
