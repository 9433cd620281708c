#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a partition that follows its parent says where the numbers in force are; a drained one, when it starts again'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir.users]
alice = 5001
bob = 5002
[[partition]]
name = "batch"
cores = 2
EOF
cat >shares.toml <<EOF
"chem" = 1
"chem/@alice" = 1
"bio" = 1
"bio/@bob" = 1
EOF
top=local://$WEIR_RUNDIR/local-0
batch=local://$WEIR_RUNDIR/batch/local-0
FLUX_URI=$top && export FLUX_URI

test_expect_success 'a job runs in the partition, and one of the parent waits there' '
	start_weir --cores 2 --config site.toml --tree shares.toml &&
	runs=$(weir submit --json -q batch --user alice -c2 -t 1h sleep 600 | jq .id) && wait_event $runs start &&
	waits=$(weir submit --json -q batch --user bob -c2 -t 1h true | jq .id) &&
	wait_until job-route.ids "{\"ids\":[$waits]}" ".jobs[0].below > 0" >one && below=$(jq .jobs[0].below one) &&
	FLUX_URI=$batch wait_until job-priority.list "{}" ".jobs[] | select(.id == $below)" >/dev/null
'
test_expect_success 'prio list shows no terms there, and says that the parent has them' '
	weir --uri "$batch" prio list >out && cat out && grep " parent  *in " out && ! grep 0.000 out &&
	grep "^The parent instance decides the priorities" out && weir prio list >out && cat out && ! grep -i "the parent instance" out &&
	weir --uri "$batch" prio list --json | jq -e ".jobs[] | select(.id == $below) | .is_parents and .factors == null and .contributions == null" &&
	weir --uri "$batch" prio list --long | grep "^The parent instance decides the priorities"
'
test_expect_success 'share show says there that the factors in force are those of the parent' '
	weir --uri "$batch" share show >out && cat out && grep "take their factors from the parent instance" out &&
	weir --uri "$batch" share show --json | jq -e .parent_factors &&
	weir share show >out && ! grep "the parent instance" out && weir share show --json | jq -e ".parent_factors == false"
'
# Mutant: of a drained partition too a new instance is said to start.
test_expect_success 'restart and resize of a drained partition say that its new instance starts when it is resumed' '
	weir partition restart batch 2>err && cat err && grep "A new instance of the partition batch starts" err &&
	weir partition drain batch &&
	weir partition restart batch 2>err && cat err && grep "is drained: its new instance starts after weir partition resume batch" err &&
	weir partition resize batch --cores 1 2>err && cat err && grep "its new instance starts after weir partition resume batch" err &&
	weir cancel $runs && wait_event $runs clean &&
	weir partition resume batch &&
	wait_until job-route.partitions "{}" ".partitions[] | select(.state == \"up\" and .cores == 1 and (.instances | length == 1))" >/dev/null
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
