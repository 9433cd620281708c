#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='overflow: an idle partition runs jobs of another queue behind its own'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[[partition]]
name = "debug"
cores = 2
overflow = ["batch"]

[[partition]]
name = "batch"
cores = 2
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI

test_expect_success 'two partitions; the list says to which queue one lends' '
	start_weir --cores 4 --config site.toml && are_up debug batch &&
	debug=$(job_of debug) && batch=$(job_of batch) && weir partition list | tee list && grep "^debug  *debug, then batch  *2 " list &&
	weir partition list --json | tee j | jq -e ".partitions[] | select(.name == \"debug\") | .overflow == [\"batch\"]"
'
test_expect_success 'its partition is full, so a job of batch runs in the idle debug' '
	gated b1 -q batch -c2 && wait_event $b1 start && test $(child_of $b1) = $batch &&
	gated b2 -q batch -c2 --setattr=project=lent && wait_event $b2 start && test $(child_of $b2) = $debug
'
test_expect_success 'debug runs its own first, then the next of batch' '
	gated b3 -q batch -c2 --setattr=project=lent && gated d1 -q debug -c2 --setattr=project=own && wait_event $d1 weir.route && end b2 &&
	wait_event $d1 start && test $(child_of $b3) != $debug && end d1 && wait_event $b3 start && test $(child_of $b3) = $debug &&
	printf "b1\nb2\nd1\nb3\n" >want && test_cmp want ran && end b1 && end b3
'
test_expect_success 'what debug ran for batch is booked under batch, at the parent and in debug' '
	wait_until job-priority.usage-report "{\"edges\":[0,4000000000],\"by\":[\"project\"]}" "[.rows[] | select(.project != \"\") | .project] | unique | length == 2" &&
	for place in run run/debug; do
		weir --uri $place usage report --by=queue,project --json | jq -c "[.rows[] | select(.project != \"\") | [.queue, .project]] | sort" | tee rows &&
		test "$(cat rows)" = "[[\"batch\",\"lent\"],[\"debug\",\"own\"]]" || return 1
	done
'
test_expect_success 'a change needs no new instance: debug lends no more, and a job waits for its own partition' '
	sed "/overflow/d" site.toml >next && cp next site.toml && weir reload && test $(job_of debug) = $debug &&
	gated b4 -q batch -c2 && wait_event $b4 start && gated b5 -q batch -c2 && wait_event $b5 weir.route && test $(child_of $b5) = $batch &&
	end b4 && wait_event $b5 start && test $(child_of $b5) = $batch && end b5
'
test_expect_success 'a partition that is added may lend too' '
	weir partition add more --queue batch -c 2 --overflow debug && weir partition list | tee list &&
	grep "^more  *batch, then debug  *2 " list && test_expect_code 1 weir partition add odd --queue batch -c 2 --overflow nosuch 2>err &&
	grep "overflow: there is no queue nosuch" err && weir partition remove more
'
cat >top.toml <<EOF
"mine" = 1
"mine/@*" = 1
"other" = 1
"other/@*" = 1
EOF
sed "s/^\"mine\" = 1/\"mine\" = {shares = 1, running_jobs_max = 1}/" top.toml >own.toml
cat >held.toml <<EOF
[weir]
share-tree = "$(pwd)/top.toml"
[[partition]]
name = "debug"
cores = 2
overflow = ["batch"]
[partition.config.weir]
parent-factors = false
share-tree = "$(pwd)/own.toml"

[[partition]]
name = "batch"
cores = 1
EOF
test_expect_success 'what debug holds back by a limit of its own waits for no cores, so debug lends them' '
	stop_weir && start_weir --cores 4 --config held.toml && are_up debug batch && debug=$(job_of debug) &&
	gated o1 -q debug -A mine && wait_event $o1 start && gated o2 -q debug -A mine && wait_event $o2 weir.route &&
	weir why $o2 | tee why && grep "mine runs at most 1 job; 1 runs" why &&
	gated b6 -q batch -A other && wait_event $b6 start && gated b7 -q batch -A other && wait_event $b7 start && test $(child_of $b7) = $debug &&
	end b7 && end o1 && wait_event $o2 start && end o2 && end b6
'
test_expect_success 'a queue that is its own already, or is none, is refused with file, line and value' '
	stop_weir && cp next site.toml && start_weir --cores 4 --config site.toml &&
	sed "s/^name = \"debug\"/&\noverflow = [\"debug\"]/" next >site.toml && test_expect_code 1 weir reload 2>err &&
	grep "site.toml:.*.partition debug. overflow = ..debug..: the partition serves the queue debug as its own" err &&
	sed "s/^name = \"debug\"/&\noverflow = [\"nosuch\"]/" next >site.toml && test_expect_code 1 weir reload 2>err && grep "overflow: there is no queue nosuch" err
'
test_done
