#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='A deep queue over a restart: it goes on in slices, and nothing starts before the last'
. "${SHARNESS:-/usr/share/sharness/sharness.sh}"

start_instance 'cores = 1'

test_expect_success 'a real job holds the core, thousands wait, and the best was submitted last' '
	running=$(job submit -- sleep 1000) && job wait $running start &&
	job submit -r 1 --copies 5000 >others &&
	best=$(job submit -r 100000 -u 31) && job wait $best priority
'
# The real job is lost, so the core is free before the scheduler is there.
test_expect_success 'after kill -9 the best starts first, though the journal has it last' '
	restart_instance KILL &&
	job wait $running clean && job wait $best start &&
	job jobs state | awk "\$1 != $running && \$2 != 8" >not-waiting &&
	test_debug "cat not-waiting" &&
	test "$(cut -d" " -f1 not-waiting)" = "$best"
'
test_expect_success 'every job went through flux-restart once, in one run of the instance' '
	job jobs state | awk "\$2 == 8" | wc -l >count && test "$(cat count)" = 5000 &&
	for id in $(head -1 others) $(tail -1 others) $best; do
		test "$(job events $id | grep -o flux-restart | wc -l)" = 1 || return 1
	done
'
stop_instance
test_done
