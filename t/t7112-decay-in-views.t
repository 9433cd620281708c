#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='under each decay the views tell what every payer used'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >shares.toml <<EOF
"chem"        = 1
"chem/@carol" = {shares = 1, usage_max = "1s"}
EOF
users='[weir.users]\ncarol = 5003\ndave = 5004\n'
printf '[weir]\nenforce = false\ndecay = "window"\n'"$users"'[[partition]]\nname = "a"\ncores = 2\n' >windows.toml
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI

test_expect_success 'windows: what nobody and what idle partitions use is kept, and the sum has it' '
	start_weir --tree shares.toml --config windows.toml --cores 4 --statedir "$(pwd)/state-windows" && are_up a &&
	weir submit --user dave -q a --simulate=1s --wait x &&
	wait_until job-priority.usage "{}" ".unassociated.charged_core_us > 0 and .unassociated.running_cores == 0 and .idle.usage_core_s > 0" >usage &&
	jq -e "def same(a; b): (a - b) * (a - b) < 1e-6; same(.unassociated.usage_core_s; .unassociated.charged_core_us / 1e6) and
		same(.idle.usage_core_s; .idle.charged_core_us / 1e6) and same(.total.usage_core_s; .total.charged_core_us / 1e6)" usage &&
	weir prio weights >out && cat out && grep "window 7 x 1d, updated" out
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
