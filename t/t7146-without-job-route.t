#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='job-route was removed, and then a new job-manager was loaded: only the jobs of partitions wait, and the reason is told'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[queues.own]
[[partition]]
name = "batch"
cores = 1
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
remove() {
	call module.remove "{\"name\":\"$1\"}"
}
load() {
	call module.load "{\"path\":\"$1\",\"args\":[]}"
}
# runs QUEUE: whether a job of that queue runs
runs() {
	id=$(weir submit --json -q $1 true | jq .id) && ended_well $id
}
waits_for_route() {
	wait_event $1 priority && weir why $1 | grep "waits until job-route is loaded: the jobs of its queue \"batch\" run in partitions or child instances" &&
	weir why --json $1 | jq -e ".reason == \"no-job-route\""
}

test_expect_success 'without job-route a job of a partition waits, and one of the instance runs' '
	start_weir --config site.toml --cores 3 --statedir "$(pwd)/state" && are_up batch && remove job-route &&
	first=$(weir submit --json -q batch true | jq .id) && runs own && waits_for_route $first
'
test_expect_success 'so it is with a new job-manager' '
	remove job-manager && load job-manager &&
	second=$(weir submit --json -q batch true | jq .id) && runs own && waits_for_route $first && waits_for_route $second
'
test_expect_success 'when job-route is loaded the jobs of the partition run' '
	load job-route && ended_well $first && ended_well $second && runs batch && runs own
'
test_expect_success 'with job-route a new job-manager gives the cores to the partition before all other jobs' '
	holder=$(weir submit --json -q own -n3 --simulate=600s x | jq .id) && is_pending $holder &&
	remove job-manager && load job-manager && runs batch && is_pending $holder
'
test_expect_success 'job-route that is removed while the job-manager waits for its partitions holds back no job' '
	weir cancel $holder && wait_event $holder clean && runs own && remove job-manager && load job-manager && remove job-route && runs own
'
test_expect_success 'stop' '
	stop_weir >/dev/null
'
test_done
