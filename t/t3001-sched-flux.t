#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='sched-weir-fcfs and sched-weir-easy in a stock Flux: load, order by priority, backfill, unload, reload

The DSOs are the ones that the embedded broker loads. Skipped where there is no flux (PATH or WEIR_FLUX).'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"

run_under_flux "$SHARNESS_TEST_SRCDIR/sched-conf/fake-host.toml" --test-hosts=fake0
MODULES=$WEIR_BUILD_DIR/lib/flux/modules

# started ID...: the ids in order of their start event
started() {
	for id in "$@"; do
		flux job wait-event -t 60 -f json "$id" alloc | sed "s/.*\"timestamp\":\([0-9.]*\).*/\1 $id/"
	done | sort -n | cut -d' ' -f2 | tr '\n' ' ' | sed 's/ $//'
}
hold() {
	flux submit "$@" --setattr=exec.test.run_duration=1000s true
}
stat() {
	flux module stats "$1" | sed -n "s/.*\"$2\": *\([^,]*\),*/\1/p" | tr -d '"'
}

test_expect_success 'sched-simple makes way for sched-weir-fcfs' '
	flux module remove sched-simple &&
	flux module load "$MODULES/sched-weir-fcfs.so" &&
	flux module list | grep "sched-weir-fcfs.*R.*feasibility,sched\|sched-weir-fcfs.*R.*sched"
'
test_expect_success 'a job runs and R is in the KVS' '
	id=$(flux submit -n2 --setattr=exec.test.run_duration=0.01s true) &&
	flux job wait-event -t 60 $id clean &&
	flux job info $id R >R && cat R &&
	grep "\"core\": *\"0-1\"" R && grep "fake0" R
'
test_expect_success 'a second scheduler is refused and the first goes on' '
	test_must_fail flux module load "$MODULES/sched-weir-easy.so" &&
	id=$(flux submit -n1 --setattr=exec.test.run_duration=0.01s true) &&
	flux job wait-event -t 60 $id clean
'
test_expect_success 'jobs start in order of priority' '
	blocker=$(hold -n4) && flux job wait-event -t 60 $blocker alloc &&
	low=$(hold -n4 --urgency=8) && middle=$(hold -n4 --urgency=16) && high=$(hold -n4 --urgency=20) &&
	flux job wait-event -t 60 $high priority &&
	flux cancel $blocker && flux job wait-event -t 60 $high alloc && flux cancel $high &&
	flux job wait-event -t 60 $middle alloc && flux cancel $middle &&
	flux job wait-event -t 60 $low alloc && flux cancel $low &&
	test "$(started $low $middle $high)" = "$high $middle $low"
'
test_expect_success 'a changed urgency of a waiting job changes the order' '
	blocker=$(hold -n4) && flux job wait-event -t 60 $blocker alloc &&
	first=$(hold -n4) && second=$(hold -n4) &&
	flux job urgency $second 25 && flux job wait-event -t 60 --count=2 $second priority &&
	flux cancel $blocker && flux job wait-event -t 60 $second alloc && flux cancel $second &&
	flux job wait-event -t 60 $first alloc && flux cancel $first
'
test_expect_success 'a waiting job can be cancelled' '
	blocker=$(hold -n4) && flux job wait-event -t 60 $blocker alloc &&
	waiting=$(hold -n1) && flux cancel $waiting && flux job wait-event -t 60 $waiting clean &&
	flux cancel $blocker && flux job wait-event -t 60 $blocker clean
'
test_expect_success 'an impossible job is refused with a sentence' '
	id=$(flux submit -n5 true) &&
	test_must_fail flux job attach $id 2>err &&
	grep "asks for 5 cores; this instance has 4" err
'
test_expect_success 'feasibility.check answers yes and no' '
	cat >feasible.py <<-EOF &&
	import flux, sys
	from flux.job import JobspecV1
	n = int(sys.argv[1])
	print(flux.Flux().rpc("feasibility.check", {"jobspec": JobspecV1.from_command(["true"], num_tasks=n).jobspec}).get())
	EOF
	flux python feasible.py 4 && test_must_fail flux python feasible.py 5 2>err && grep "asks for 5 cores" err
'
test_expect_success 'the scheduler is reloaded while jobs run and wait; nothing is lost, nothing given twice' '
	running=$(hold -n3) && flux job wait-event -t 60 $running alloc &&
	waiting=$(hold -n3) &&
	flux module remove sched-weir-fcfs && flux module load "$MODULES/sched-weir-easy.so" &&
	small=$(hold -n1) && flux job wait-event -t 60 $small alloc &&
	test "$(stat sched-weir-easy free_cores)" = 0 &&
	test "$(stat sched-weir-easy running)" = 2 &&
	flux cancel $small $running && flux job wait-event -t 60 $waiting alloc && flux cancel $waiting &&
	flux job wait-event -t 60 $waiting clean
'
test_expect_success 'a time limit that was changed while the job ran is known after a reload' '
	cat >estimate.py <<-EOF &&
	import flux, sys
	from flux.job import JobID
	h = flux.Flux()
	for _ in range(20000):
	    try:
	        print(round(h.rpc("sched.why", {"id": JobID(sys.argv[1])}).get()["t_estimate"]))
	        sys.exit(0)
	    except (OSError, KeyError):
	        pass
	sys.exit(1)
	EOF
	running=$(hold -n4 -t 10m) && flux job wait-event -t 60 $running alloc && flux update $running duration=10h &&
	waiting=$(hold -n4) && before=$(flux python estimate.py $waiting) &&
	flux module reload "$MODULES/sched-weir-easy.so" && after=$(flux python estimate.py $waiting) &&
	echo "now $(date +%s), before $before, after $after" &&
	test "$after" = "$before" && test "$after" -gt $(($(date +%s) + 30000)) &&
	flux cancel $waiting $running && flux job wait-event -t 60 $running clean
'
test_expect_success 'EASY: a short job passes a blocked one, a long one does not' '
	running=$(hold -n3 -t 10m) && flux job wait-event -t 60 $running alloc &&
	head=$(hold -n4 -t 10m) && flux job wait-event -t 60 $head priority &&
	long=$(hold -n1 -t 1h) && short=$(hold -n1 -t 1m) &&
	flux job wait-event -t 60 $short alloc &&
	test "$(flux jobs -no {state} $long)" = SCHED &&
	test "$(stat sched-weir-easy backfilled)" -ge 1
'
test_expect_success 'the head is told when it may start and why it waits' '
	flux job wait-event -t 60 $short alloc &&
	cat >annotation.py <<-EOF &&
	import flux, sys, flux.job
	h = flux.Flux()
	wanted = flux.job.JobID(sys.argv[1])
	def there():
	    job = flux.job.job_list_id(h, wanted, ["annotations"]).get_job()
	    return job.get("annotations", {}).get("sched", {})
	for _ in range(20000):
	    sched = there()
	    if "t_estimate" in sched and "waits for 4 cores" in sched["reason_pending"]:
	        print(sched); sys.exit(0)
	sys.exit(1)
	EOF
	flux python annotation.py $head &&
	flux cancel --all && flux queue drain
'
test_expect_success 'the module unloads cleanly and the stock scheduler takes over' '
	flux module remove sched-weir-easy &&
	test_must_fail flux module stats sched-weir-easy &&
	flux module load sched-simple &&
	id=$(flux submit -n1 --setattr=exec.test.run_duration=0.01s true) && flux job wait-event -t 60 $id clean
'
test_expect_success 'the arguments of Flux'"'"'s own schedulers: the job-manager sends no more than queue-depth jobs' '
	flux module remove sched-simple && flux module load "$MODULES/sched-weir-fcfs.so" queue-depth=2 log-level=info &&
	running=$(hold -n4) && flux job wait-event -t 60 $running alloc &&
	first=$(hold -n4) && second=$(hold -n4) && third=$(hold -n4) && flux job wait-event -t 60 $third priority &&
	test "$(stat sched-weir-fcfs pending)" = 2 && test "$(stat sched-weir-fcfs queue_depth)" = 2 &&
	flux cancel $running && flux job wait-event -t 60 $first alloc &&
	flux cancel --all && flux queue drain &&
	flux module reload "$MODULES/sched-weir-fcfs.so" mode=unlimited && test "$(stat sched-weir-fcfs queue_depth)" = unlimited
'
test_expect_success 'an unknown argument is refused and named' '
	flux module remove sched-weir-fcfs &&
	test_must_fail flux module load "$MODULES/sched-weir-fcfs.so" pool=a &&
	flux dmesg | grep "pool=a.: unknown argument" &&
	flux module load sched-simple
'
test_done
