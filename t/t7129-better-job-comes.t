#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a better job that comes to a partition starts before those that wait there'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir.qos.high]
priority = 100
[weir.weights]
qos = 100000
[[partition]]
name = "one"
queues = ["batch"]
cores = 1
[[partition]]
name = "two"
queues = ["batch"]
cores = 1
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# is_with ID CHILD: that partition has the job
is_with() {
	wait_until job-route.locate "{\"id\":$1}" "select(.child == $2 and .id > 0)" >/dev/null
}
# fill: a job runs in each partition, and three worse ones wait in each; $running and $low have their ids
fill() {
	running= low=
	for i in 1 2; do id=$(weir submit --json sleep inf | jq .id) && running="$running $id" && wait_event $id start || return 1; done
	for i in 1 2 3 4 5 6; do
		id=$(weir submit --json sleep inf | jq .id) && low="$low $id" &&
			wait_until job-route.locate "{\"id\":$id}" "select(.id > 0)" >/dev/null || return 1
	done
}
# better_starts: a better job that waits in one partition starts first when cores come free in the other
better_starts() {
	fill && high=$(weir submit --json --qos high sleep inf | jq .id) &&
		wait_until job-route.locate "{\"id\":$high}" "select(.id > 0)" >/dev/null &&
		its=$(child_of $high) && for id in $running; do
			if test $(child_of $id) != $its; then weir cancel $id; fi
		done && wait_event $high start &&
		for id in $low; do
			call job-info.lookup "{\"id\":$id,\"keys\":[\"eventlog\"],\"flags\":0}" | jq -r .eventlog | jq -r .name >events
			if grep "^start" events; then echo "$id started first" && return 1; fi
		done; rc=$?
	weir cancel $running $low $high && for id in $running $low $high; do wait_event $id clean || return 1; done
	return $rc
}

test_expect_success 'two partitions' '
	start_weir --config site.toml --cores 2 && are_up one two
'
for round in 1 2 3; do
	test_expect_success "the better job starts first, round $round" '
		better_starts
	'
done
test_expect_success 'stop' '
	stop_weir >/dev/null
'
test_done
