#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a partition that serves two queues starts the jobs of the preferred one first'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<\EOF
[weir.weights]
queue = 1000
[weir.queues.debug]
priority = 20
[weir.queues.batch]
priority = 1
[[partition]]
name = "both"
queues = ["batch", "debug"]
cores = 1
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
job_of() { weir submit --json -q $1 -t 5m sleep inf | jq .id; }
# place JOB N: it waits in the partition, as the Nth
place() { wait_until job-route.ask "{\"id\":$1,\"topic\":\"sched.why\",\"payload\":{}}" ".answer.place == $2" >/dev/null; }

test_expect_success 'of two jobs that wait the one of the preferred queue is first, though it came last' '
	start_weir --cores 2 --config site.toml && are_up both &&
	running=$(job_of batch) && wait_event $running start && plain=$(job_of batch) && place $plain 1 &&
	preferred=$(job_of debug) && place $preferred 1 && place $plain 2 &&
	weir prio list --json | jq -e "[.jobs[] | {id, queue, partition, place}] == [
		{id: $preferred, queue: \"debug\", partition: \"both\", place: 1}, {id: $plain, queue: \"batch\", partition: \"both\", place: 2}]"
'
test_expect_success 'it starts first' '
	weir cancel $running && wait_event $preferred start && weir jobs --json >jobs.json &&
	jq -e ".jobs[] | select(.id == $plain) | .state == \"SCHED\"" jobs.json &&
	weir cancel $preferred && wait_event $plain start
'
test_expect_success 'the preference changes while both wait, and so does their order' '
	preferred=$(job_of debug) && other=$(job_of batch) && place $preferred 1 && place $other 2 &&
	sed "s/priority = 1$/priority = 30/" site.toml >other.toml && mv other.toml site.toml && weir reload && place $other 1 && place $preferred 2 &&
	weir cancel $plain && wait_event $other start
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
