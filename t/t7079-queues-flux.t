#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='queues of partitions in a stock Flux: flux queue stop holds their jobs in the parent, flux update moves them'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

follow_in_flux partitions.md
test "$(nproc)" -ge 2 || { skip_all='two partitions want two cores'; test_done; }

test_expect_success 'a copy of the prefix with Weir, configured as the page says' '
	copy_prefix && block "file: conf.d/partitions.toml" >copy/etc/flux/system/conf.d/partitions.toml
'
echo "memo() { timeout 60 flux python $SHARNESS_TEST_SRCDIR/tools/annotation.py \"\$@\"; }" >stop.sh
cat >>stop.sh <<\EOF
flux queue start --all --quiet
here() { flux python -c 'import flux, flux.job, sys
while flux.Flux().rpc("job-route.locate", {"id": flux.job.JobID(sys.argv[1])}).get()["child"] != 0: pass' $1; }
runs=$(flux submit --queue=batch sleep inf)
flux job wait-event -q -t 60 $runs start
waits=$(flux submit --queue=batch --output=waits.out echo it ran)
flux job wait-event -q -t 60 $waits weir.route
memo $waits user.partition "^batch$"
flux jobs -o why
flux queue stop --queue=batch -m maintenance
timeout 60 bash -c "$(declare -f here); here $waits"
flux weir why $waits
memo $waits user.partition ""
memo $waits user.why "^queue batch starts no jobs"
flux jobs -o why
flux cancel $runs && flux job wait-event -q -t 60 $runs clean
flux module reload job-route
flux submit --queue=debug --wait true
later=$(flux submit --queue=batch true)
flux submit --queue=debug --wait true
flux job eventlog $waits | grep -q " alloc" || echo not started
test "$(flux jobs -no '{state}' $later)" = SCHED && echo later waits
flux queue start --queue=batch
flux job wait-event -q -t 60 $waits clean && cat waits.out
flux job wait-event -q -t 60 $later clean
EOF
test_expect_success 'stopped: what waits comes back, and stays here when the module is loaded again; started: it runs' '
	inside stop.sh >out 2>&1; code=$?; cat out && test $code = 0 &&
	grep "waits until its queue \"batch\" is started; it was stopped: maintenance" out && grep "^not started" out && grep "^later waits" out && grep "^it ran" out &&
	grep " R .* batch" out && grep "queue batch starts no jobs" out
'
echo "memo() { timeout 60 flux python $SHARNESS_TEST_SRCDIR/tools/annotation.py \"\$@\"; }" >drain.sh
cat >>drain.sh <<\EOF
flux queue start --all --quiet
flux weir partition drain batch
waits=$(flux submit --queue=batch true)
flux job wait-event -q -t 60 $waits priority
memo $waits user.why "^queue batch starts no jobs"
flux jobs -o why
flux weir partition resume batch
flux job wait-event -q -t 60 $waits clean
EOF
test_expect_success 'flux jobs says of a job that waits for drained partitions why it waits, without limits as well' '
	inside drain.sh >out 2>&1; code=$?; cat out && test $code = 0 && grep "batch .* S .*queue batch starts no jobs" out
'
cat >update.sh <<\EOF
flux queue start --all --quiet
runs=$(flux submit --queue=batch sleep inf)
flux job wait-event -q -t 60 $runs start
waits=$(flux submit --queue=batch --output=moved.out echo it moved)
flux job wait-event -q -t 60 $waits weir.route
flux update $waits queue=instances || echo refused
flux update $waits queue=debug
flux job wait-event -q -t 60 $waits clean && cat moved.out
flux job eventlog $waits | grep -c weir.route
flux cancel $runs
EOF
test_expect_success 'flux update moves a waiting job to the partition of another queue, and to no queue without one' '
	inside update.sh >out 2>&1; code=$?; cat out && test $code = 0 && grep "^it moved" out && grep "^2$" out &&
	grep "partitions serve the queue batch, and not the queue instances: submit the job anew" out && grep "^refused" out
'
test_done
