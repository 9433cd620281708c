#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir jobs: pending jobs of a queue in queue order; one that a limit holds back is behind the others, before a held one'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >shares.toml <<EOF
"bio"         = 1
"bio/@alice"  = 1
"chem"        = 1
"chem/@carol" = { shares = 1, running_jobs_max = 1 }
EOF
printf "[weir.weights]\nqos = 100000\n[weir.qos.high]\npriority = 100\n[weir.users]\nalice = 5001\ncarol = 5003\n" >weir.toml

test_expect_success 'one job of carol runs, and the queue batch is full' '
	start_weir --tree shares.toml --config weir.toml --cores 8 &&
	one=$(weir submit --json -u carol -q debug --simulate=1000s x | jq .id) && FLUX_URI=local://$WEIR_RUNDIR/local-0 wait_event $one start >/dev/null &&
	full=$(weir submit --json -u alice -n 6 --simulate=1000s x | jq .id) && FLUX_URI=local://$WEIR_RUNDIR/local-0 wait_event $full start >/dev/null
'
test_expect_success 'her next job has the highest priority, and its line is behind those of jobs that may start' '
	weir submit -u alice --simulate=1000s y && weir submit -u alice --simulate=1000s z && weir submit -u carol --qos high --simulate=1000s best &&
	weir submit -u alice --nice=16 --simulate=1000s held &&
	FLUX_URI=local://$WEIR_RUNDIR/local-0 wait_until job-priority.list "{}" ".jobs | length == 4" >/dev/null &&
	weir jobs && weir jobs --json >j && test "$(field j "[n[\"rank\"] for n in d[\"jobs\"] if \"rank\" in n]")" = "[1, 2, 3, 4]" &&
	test "$(field j "[n[\"name\"] for n in d[\"jobs\"] if \"rank\" in n]")" = "['"'y', 'z', 'best', 'held'"']" &&
	test "$(field j "[n[\"name\"] for n in d[\"jobs\"] if n.get(\"is_held_back\")]")" = "['"'best'"']"
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
