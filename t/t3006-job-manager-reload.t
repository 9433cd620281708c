#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a job-manager reloaded under sched-weir-easy in a stock Flux: the scheduler greets the new one by itself

The DSOs are the ones that the embedded broker loads. Skipped where there is no flux (PATH or WEIR_FLUX).'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"

run_under_flux "$SHARNESS_TEST_SRCDIR/sched-conf/fake-host.toml" --test-hosts=fake0
MODULES=$WEIR_BUILD_DIR/lib/flux/modules

# at ID EVENT: the time of a job's event, which is waited for
at() {
	flux job wait-event -t 20 -f json "$1" "$2" | sed "s/.*\"timestamp\":\([0-9.]*\).*/\1/"
}
job() {
	flux submit --setattr=exec.test.run_duration="$1" -n "$2" --urgency="${3:-16}" true
}

test_expect_success 'three of four cores are in use, one job waits for two, one is held' '
	flux module remove sched-simple && flux module load "$MODULES/sched-weir-easy.so" &&
	holder=$(job 1000s 3) && at $holder alloc && low=$(job 0.01s 2 10) && high=$(job 0.01s 2 20) &&
	at $low priority && at $high priority
'
test_expect_success 'the job-manager is reloaded, and again before the scheduler may have noticed' '
	flux module reload job-manager && flux module reload job-manager && flux module load job-list
'
test_expect_success 'a job that fits in what was free starts: the scheduler is there again' '
	small=$(job 0.01s 1 30) && at $small alloc
'
test_expect_success 'what runs has kept its resources: nobody else started on them' '
	flux module stats sched-weir-easy >stats && cat stats && grep "\"ready\": *true" stats &&
	flux job eventlog $high | (! grep alloc) && flux job eventlog $low | (! grep alloc)
'
# The job-exec of a flux-core before 0.88 ends the mocked job by itself.
test_expect_success 'when it ends the waiting jobs start, in the order of their priorities' '
	flux module reload job-exec && { flux cancel $holder || at $holder exception; } &&
	at $holder free >freed && at $high alloc >first && at $low alloc >second &&
	cat freed first second >times && cat times && sort -n times >sorted && test_cmp sorted times
'
# A broker that was killed may come back so: R of a job is in the KVS, and its alloc is not in the eventlog.
test_expect_success 'a waiting job that the job-manager has an R of waits on, says why, and holds up nobody' '
	holder=$(job 1000s 4) && at $holder alloc && kept=$(job 0.01s 1 20) && at $kept priority &&
	flux kvs put "$(flux job id --to=kvs $kept).R=$(flux job info $holder R)" &&
	flux module reload job-manager && flux module load job-list && flux module reload job-exec &&
	{ flux cancel $holder || at $holder exception; } &&
	other=$(job 0.01s 4 10) && at $other clean && flux job eventlog $kept | (! grep alloc) &&
	flux jobs -no "{annotations.sched.reason_pending}" $kept >why && cat why && grep "until the job-manager is loaded again" why &&
	flux dmesg | grep "job $(flux job id --to=dec $kept) waits until the job-manager is loaded again"
'
test_expect_success 'the next job-manager has the job started' '
	flux module reload job-manager && flux module load job-list && flux module reload job-exec && at $kept clean >/dev/null &&
	flux jobs -no "{result}" $kept | grep COMPLETED
'
test_expect_success 'without a job-manager for a while it waits for one' '
	flux module remove job-manager && flux module remove -f job-list && flux module load job-manager &&
	flux module load job-list && flux module reload job-exec && last=$(job 0.01s 4) && at $last clean
'
test_expect_success 'no core is lost or held twice' '
	flux queue idle -t 60 && flux module stats sched-weir-easy >stats && cat stats &&
	grep "\"free_cores\": *4" stats && grep "\"running\": *0" stats && grep "\"pending\": *0" stats &&
	flux module remove sched-weir-easy && flux module load sched-simple
'
test_done
