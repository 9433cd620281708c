#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='changes of a share tree with @* lines: what is shown of members is what is in force'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >shares.toml <<EOF
"physics"        = 60
"physics/@alice" = 2
"physics/@bob"   = 1
"physics/@*"     = 1
"chem"           = 40
"chem/@*"        = 1
EOF
printf "[weir.users]\nalice = 5001\nbob = 5002\ncarol = 5003\ndave = 5004\nerin = 5005\n" >weir.toml

# entitled NODE: as `share show` has it
entitled() {
	weir share show --json >show.json && field show.json "[format(100 * n[\"entitled\"], \".1f\") for n in d[\"nodes\"] if n[\"path\"] == \"$1\"]"
}

test_expect_success 'an instance where users of a line and members by @* have each run a job' '
	start_weir --tree shares.toml --config weir.toml &&
	for user in alice bob dave; do weir submit --user $user -A physics --simulate=1s --wait x || return 1; done &&
	weir submit --user carol -A chem --simulate=1s --wait x && test "$(entitled physics/@dave)" = "['"'15.0'"']"
'
test_expect_success 'who loses his line where @* admits him is shown with the shares that he has then, and nobody is asked' '
	weir share set bob 3 && test "$(entitled physics/@bob)" = "['"'30.0'"']" &&
	weir share remove physics/@bob >out </dev/null && cat out && grep "physics/@bob  *3 .* 1  *30.0 % .* 15.0 %" out &&
	test "$(entitled physics/@bob)" = "['"'15.0'"']" &&
	weir share undo >out </dev/null && grep "physics/@bob  *1 .* 3  *15.0 % .* 30.0 %" out
'
test_expect_success 'the difference of two revisions has the entitlements that the change itself told' '
	weir share diff 1 2 >out && cat out && grep "physics/@bob  *1 .* 3  *15.0 % .* 30.0 %" out &&
	weir share diff 2 3 >out && grep "physics/@bob  *3 .* 1  *30.0 % .* 15.0 %" out
'
test_expect_success 'an account that moves takes its members along, there and back, and nobody is asked' '
	(echo "\"sci\" = 1"; weir share export | sed 1d | sed "s#^\"#\"sci/#") >moved.toml &&
	weir share apply moved.toml >out </dev/null && cat out && ! grep "^-" out && grep "^> .*sci/physics " out &&
	test "$(entitled sci/physics/@dave)" = "['"'10.0'"']" &&
	weir share undo >out </dev/null && ! grep "@" out && test "$(entitled physics/@dave)" = "['"'10.0'"']"
'
test_expect_success 'members that an @* line brings back are counted in what is shown' '
	weir share add chem/@erin 3 && weir share remove --yes chem/@* >out && grep "^- .*chem/@carol" out &&
	weir share add chem/@* >out && cat out && grep "^+ .*chem/@carol  *0.0 % .* 10.0 %" out && test "$(entitled chem/@carol)" = "['"'10.0'"']"
'
test_expect_success 'whose usage or jobs are let go is still asked about, and an account whose users move is not' '
	test_expect_code 1 weir share remove chem/@* 2>err </dev/null && grep "  chem/@carol: " err &&
	weir share export | sed 1d | sed "s#^\"physics#\"phys#; /@\*/d" >renamed.toml &&
	test_expect_code 1 weir share apply renamed.toml 2>err </dev/null && cat err && grep "2 nodes are removed" err &&
	grep "  physics/@dave: " err && grep "  chem/@carol: " err
'
test_done
