#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='in a partition a copy is the job of its user: weir jobs says so, and weir cancel --all ends no other user'\''s'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir.users]
alice = 5001
[[partition]]
name = "batch"
cores = 3
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
in_batch() (
	FLUX_URI=local://$WEIR_RUNDIR/batch/local-0 && export FLUX_URI && "$@"
)
# users_in_batch WORDS...: of the jobs that weir jobs lists there
users_in_batch() {
	in_batch weir jobs --json "$@" | jq -c "[.jobs[].userid] | sort"
}

test_expect_success 'weir jobs in the partition has the user of each copy, and lists those of one user' '
	start_weir --cores 4 --config site.toml && are_up batch &&
	gated hers -q batch --user alice && gated mine -q batch && wait_event $hers start && wait_event $mine start &&
	in_batch weir submit --json sleep inf | jq .id >own &&
	test "$(users_in_batch)" = "[$(id -u),$(id -u),5001]" && test "$(users_in_batch -u alice)" = "[5001]" &&
	test "$(users_in_batch -u $(id -un))" = "[$(id -u),$(id -u)]" && test "$(users_in_batch -u $(id -un) -c 1)" = "[$(id -u)]" &&
	in_batch weir jobs | tee jobs && grep " alice " jobs
'
test_expect_success 'weir cancel --all there ends the jobs of that user alone' '
	in_batch weir cancel --all 2>&1 | tee out && grep "Canceled 2 jobs" out && wait_event $mine clean &&
	in_batch weir cancel --all --user nobody 2>&1 | tee out && grep "Canceled 0 jobs" out && end hers
'
test_expect_success 'with --user it ends those of another' '
	gated more -q batch --user alice && wait_event $more start && in_batch weir cancel --all --user alice 2>&1 | tee out &&
	grep "Canceled 1 job" out && wait_event $more clean && stop_weir
'
test_done
