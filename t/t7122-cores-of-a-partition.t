#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the cores of a partition that ends are those of its next instance, before jobs that wait in the parent'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[queues.own]
[[partition]]
name = "batch"
cores = 2
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# is_next JOB: another job is the instance of the partition, and serves; the job of the parent waits
is_next() {
	partition batch "select(.state == \"up\") | .instances[] | select(.role == \"current\" and .job != $1)" && is_pending $waiting
}
# raise JOB: ends the instance as weir cancel does, which refuses partitions
raise() {
	call job-manager.raise "{\"id\":$1,\"type\":\"cancel\",\"severity\":0}"
}

test_expect_success 'a job of the parent waits for the cores of a partition and the third one' '
	start_weir --config site.toml --cores 3 --statedir "$(pwd)/state" && are_up batch &&
	waiting=$(weir submit --json -q own -n3 sleep inf | jq .id) && is_pending $waiting
'
test_expect_success 'a partition that dies has its cores again' '
	old=$(job_of batch) && raise $old && is_next $old
'
test_expect_success 'one that an operator restarts by force, too' '
	old=$(job_of batch) && weir partition restart batch --kill && is_next $old
'
test_expect_success 'one that is restarted, once its last job has ended' '
	old=$(job_of batch) && gated last -q batch && wait_event $last start && weir partition restart batch &&
	end last && is_next $old
'
test_expect_success 'a job that is newer than the wish for a restart waits as well' '
	old=$(job_of batch) && gated later -q batch && wait_event $later start && weir partition restart batch &&
	weir cancel $waiting && wait_event $waiting clean && waiting=$(weir submit --json -q own -n3 --simulate=600s sleep inf | jq .id) &&
	is_pending $waiting && end later && is_next $old
'
test_expect_success 'the cores of a partition that is drained or removed go to the parent' '
	old=$(job_of batch) && weir partition drain batch && raise $old && wait_event $waiting start &&
	weir partition resume batch && weir cancel $waiting && are_up batch &&
	waiting=$(weir submit --json -q own -n3 sleep inf | jq .id) && is_pending $waiting &&
	weir partition remove batch && wait_event $waiting start
'
test_expect_success 'stop' '
	stop_weir >/dev/null
'
test_done
