#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='under each decay the views say what is kept, and when usage is forgotten'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >shares.toml <<EOF
"chem"        = 1
"chem/@carol" = {shares = 1, usage_max = "1s"}
EOF
users='[weir.users]\ncarol = 5003\ndave = 5004\n'
printf '[weir]\nenforce = false\ndecay = "window"\n'"$users"'[[partition]]\nname = "a"\ncores = 2\n' >windows.toml
printf '[weir]\ndecay = "none"\nusage-reset = "now"\n'"$users" >reset.toml
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI

test_expect_success 'windows: what nobody and what idle partitions use is kept, and the sum has it' '
	start_weir --tree shares.toml --config windows.toml --cores 4 --statedir "$(pwd)/state-windows" && are_up a &&
	weir submit --user dave -q a --simulate=1s --wait x &&
	wait_until job-priority.usage "{}" ".unassociated.charged_core_us > 0 and .unassociated.running_cores == 0 and .idle.usage_core_s > 0" >usage &&
	jq -e "def same(a; b): (a - b) * (a - b) < 1e-6; same(.unassociated.usage_core_s; .unassociated.charged_core_us / 1e6) and
		same(.idle.usage_core_s; .idle.charged_core_us / 1e6) and same(.total.usage_core_s; .total.charged_core_us / 1e6)" usage &&
	weir prio weights >out && cat out && grep "window 7 x 1d, updated" out && stop_weir
'
test_expect_success 'no decay, with resets: the reset is told and logged, and a limit names it' '
	start_weir --tree shares.toml --config reset.toml --cores 2 --statedir "$(pwd)/state-reset" &&
	weir usage >out && cat out && grep "usage does not decay, and is reset at each start; charged is the total" out &&
	weir prio weights >out && cat out && grep "no decay, reset at each start, updated every" out &&
	weir submit --user carol --simulate=2s --wait x && weir submit --json --user carol --simulate=1s x >j && id=$(jq .id j) &&
	wait_until job-priority.explain "{\"id\":$id}" ".limit != \"\"" >/dev/null &&
	weir why $id >out && cat out && grep "chem/@carol has used its 1s; jobs start again when usage is reset at each start" out &&
	weir cancel $id && stop_weir && start_weir --tree shares.toml --cores 2 --config reset.toml --statedir "$(pwd)/state-reset" &&
	weir log >out && grep "usage was reset, by usage-reset = .now.; the totals charged stay" out &&
	weir usage --json >usage && jq -e ".nodes[] | select(.path == \"chem/@carol\") | .usage_core_s == 0 and .charged_core_us > 0" usage
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
