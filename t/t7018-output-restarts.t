#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='with a statedir, the output of a job outlives its partition and the whole instance'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

test_expect_success 'a job runs in a partition; its output is read by its id at the parent' '
	start_weir --cores 8 --statedir "$(pwd)/state" && weir submit --wait echo hello 2>err && id=$(head -1 err) &&
	weir output $id | grep hello
'
test_expect_success 'after a restart of the whole instance' '
	stop_weir && start_weir --cores 8 --statedir "$(pwd)/state" && weir output $id | grep hello
'
test_expect_success 'after the partition was killed and started again: it is another job at the parent' '
	pid=$(cat run/batch/broker.pid) && FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI && kill -9 $pid &&
	log_has "partition batch serves its queue again" && weir output $id | grep hello
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
