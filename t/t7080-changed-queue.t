#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a waiting job whose queue changes goes to the partitions of the new one'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[queues.own]

[[partition]]
name = "batch"
cores = 1

[[partition]]
name = "debug"
cores = 1

[[partition]]
name = "short"
queues = ["short"]
cores = 1
takes = { duration-max = "1h" }
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# set_queue ID QUEUE: as flux update
set_queue() {
	call job-manager.update "{\"id\":$1,\"updates\":{\"attributes.system.queue\":\"$2\"}}"
}
# refused WORDS COMMAND...: it fails with these words
refused() {
	words=$1 && shift && test_expect_code 1 "$@" >out && cat out && grep "$words" out
}

test_expect_success 'a job waits in a partition; its queue changes, and it runs in the partition of the new one' '
	start_weir --cores 6 --config site.toml --statedir "$(pwd)/state" && are_up batch debug short &&
	gated runs -q batch && wait_event $runs start && gated waits -q batch && wait_event $waits weir.route &&
	test "$(child_of $waits)" = "$(job_of batch)" && set_queue $waits debug &&
	wait_event $waits start && test "$(child_of $waits)" = "$(job_of debug)" && end waits
'
test_expect_success 'a job that waits in the parent runs when it is moved from a queue that is stopped' '
	call job-manager.queue-start "{\"name\":\"debug\",\"start\":false,\"reason\":\"\",\"all\":false}" &&
	gated held -q debug && end runs && set_queue $held batch && wait_event $held start && test "$(child_of $held)" = "$(job_of batch)"
'
test_expect_success 'refused: between queues of partitions and others, and where no partition of the new queue takes the job' '
	gated late -q batch -t 2h && gated here -q own && wait_event $here start && end here && gated blocks -q own --nice=16 &&
	refused "partitions serve the queue batch, and not the queue own: submit the job anew" set_queue $late own &&
	refused "partitions serve the queue debug, and not the queue own: submit the job anew" set_queue $blocks debug &&
	refused "is not a valid queue; did you mean .debug" set_queue $late debgu &&
	refused "no partition of the queue short takes this job" set_queue $late short &&
	weir cancel $blocks && end held && end late
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
