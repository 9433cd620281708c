#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a clean stop: jobs that wait do not get the cores of the partitions that end, and these start first again'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[queues.own]
[[partition]]
name = "batch"
cores = 2
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
begin() {
	start_weir --config site.toml --cores 3 --statedir "$(pwd)/state"
}
# own OPTION...: submits a job for the cores of the partition and the third one; its id in digits
own() {
	weir submit --json -q own -n3 "$@" | jq -r .id
}
are_as_before() {
	wait_event $real flux-restart && wait_event $simulated flux-restart && is_pending $real && is_pending $simulated
}

test_expect_success 'jobs of the parent wait for the cores of a partition' '
	begin && real=$(own sleep inf) && simulated=$(own --simulate=600s x) && is_pending $real && is_pending $simulated
'
test_expect_success 'after Ctrl-C and a start they wait as before, and the partition serves its queue' '
	stop_weir; begin && are_as_before && are_up batch && id=$(weir submit --json -q batch -n2 true | jq .id) && ended_well $id
'
test_expect_success 'after SIGTERM, too' '
	kill -TERM $WEIR_PID && cat <&8 >>start.out && wait $WEIR_PID; begin && are_as_before && are_up batch
'
test_expect_success 'after a stop of the broker alone, too' '
	kill -TERM $(cat run/broker.pid) && cat <&8 >>start.out; wait $WEIR_PID; begin && are_as_before && are_up batch
'
test_expect_success 'the queue is started, and its jobs get cores without job-route and after it was loaded again' '
	call job-manager.queue-status "{\"name\":\"own\"}" | jq -e .start &&
	call module.remove "{\"name\":\"job-route\"}" && weir cancel $real $simulated && wait_event $simulated clean &&
	id=$(weir submit --json -q own true | jq .id) && ended_well $id &&
	call module.load "{\"path\":\"job-route\",\"args\":[]}" && id=$(weir submit --json -q own true | jq .id) && ended_well $id
'
test_expect_success 'jobs get cores after the job-manager was loaded again' '
	call module.remove "{\"name\":\"job-manager\"}" && call module.load "{\"path\":\"job-manager\",\"args\":[]}" &&
	id=$(weir submit --json -q own true | jq .id) && ended_well $id
'
test_expect_success 'stop' '
	stop_weir >/dev/null
'
test_done
