#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='doc/in-your-flux.md: its files and commands, in a copy of a Flux prefix that Weir is installed into'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

follow_in_flux in-your-flux.md

test_expect_success 'install: into a copy of the prefix' '
	copy_prefix
'
test_expect_success 'without a [weir] table nothing of Weir is loaded' '
	echo "flux module list" >list.sh && inside list.sh >list && grep "^sched-simple" list && test_must_fail grep "weir\|job-priority" list
'
test_expect_success 'configure and look: module and plugin are there, a job runs, its bank has a factor' '
	block "file: conf.d/weir.toml" >copy/etc/flux/system/conf.d/weir.toml && block "file: shares.toml" >copy/etc/flux/system/shares.toml &&
	{ echo "flux module list && flux jobtap list" && block "run: first" && echo "flux dmesg -H"; } >first.sh && inside first.sh >first 2>&1 || { cat first; false; } &&
	grep "^job-priority " first && grep "^job-priority-tap.so" first && grep "physics  *60" first && grep "fairshare" first && grep "sleep" first &&
	test_must_fail grep "job-priority.*\(warn\|err\)" first
'
test_expect_success 'the shipped weir.toml, every key with its default, raises no warning' '
	cp copy/etc/flux/system/conf.d/weir.toml page.toml && { cat "$SHARNESS_TEST_SRCDIR/../etc/weir.toml" && head -2 page.toml; } >copy/etc/flux/system/conf.d/weir.toml &&
	echo "flux weir prio weights && flux dmesg" >shipped.sh && inside shipped.sh >shipped 2>&1 || { cat shipped; false; } &&
	cp page.toml copy/etc/flux/system/conf.d/weir.toml && grep "in force as revision" shipped && test_must_fail grep "job-priority.*\(warn\|err\)" shipped
'
test_expect_success 'change: saved, the tree is in force, and the log says so' '
	{ block "run: change" && echo "flux weir share show"; } >change.sh && inside change.sh >change 2>&1 || { cat change; false; } &&
	grep "in force as revision 2" change && grep "chem  *80" change && block "file: shares.toml" >copy/etc/flux/system/shares.toml
'
test_expect_success 'the scheduler: two lines replace sched-simple' '
	block "file: conf.d/scheduler.toml" >copy/etc/flux/system/conf.d/scheduler.toml &&
	echo "flux module list && flux run --setattr=system.bank=chem echo through" >sched.sh && inside sched.sh >sched &&
	grep "^sched-weir-easy" sched && test_must_fail grep "^sched-simple" sched && grep "^through" sched
'
test_expect_success 'a mistake in [weir] is refused by flux config reload, which changes nothing, and ends a start; the sentence is the same' '
	file=copy/etc/flux/system/conf.d/weir.toml && cp $file weir.page && wrong="half-lif = \"16d\": unknown key; did you mean \"half-life\"" &&
	echo "sed -i s/^half-life/half-lif/ $FOLDER/conf.d/weir.toml" >mistake.sh && cat >>mistake.sh <<-\EOF &&
	flux config reload && exit 1
	flux config get weir.half-life
	flux run --setattr=system.bank=chem echo it goes on
	EOF
	inside mistake.sh >refused 2>&1 || { cat refused; false; } &&
	cat refused && grep "$wrong" refused && grep "^16d" refused && grep "^it goes on" refused &&
	echo "echo it started" >start.sh && { inside start.sh >started 2>&1; cat started; grep "job-priority.*$wrong" started; } &&
	! grep "^it started" started && cp weir.page $file
'
test_expect_success 'a new job-manager: with the commands of the page waiting jobs keep their priorities, and jobs start' '
	cat >manager.sh <<-\EOF && block "run: manager" >>manager.sh && cat >>manager.sh <<-\EOF &&
	held=$(flux submit --urgency=hold --setattr=system.bank=physics true)
	first=$(flux submit --setattr=system.bank=physics -n$(flux resource list -s up -no "{ncores}") sleep inf)
	flux job wait-event -q -t 30 $first start
	waits=$(flux submit --setattr=system.bank=physics true)
	flux job wait-event -q -t 30 $waits priority
	before=$(flux jobs -no "{priority}" $waits)
	EOF
	flux python -c "import flux; flux.Flux().rpc(\"job-priority.sync\").get()"
	after=$(flux jobs -no "{priority}" $waits)
	echo "$before -> $after"
	test "$before" = "$after" && test "$after" -gt 16
	flux job wait-event -q -t 60 $first exception
	flux job wait-event -q -t 60 $waits clean
	flux job urgency $held 16
	flux job wait-event -q -t 60 $held clean
	EOF
	inside manager.sh >manager 2>&1; code=$?; cat manager; test $code = 0
'
# The timeout is shorter than on the page; the commands are its own.
test_expect_success 'remove: a job that a limit held back starts when the module stays away, and not at a reload' '
	cp copy/etc/flux/system/shares.toml shares.page && sed -i "s/^\"physics\" .*/\"physics\" = {shares = 60, running_jobs_max = 1}/" copy/etc/flux/system/shares.toml &&
	cp copy/etc/flux/system/conf.d/weir.toml weir.page && sed -i "s/^unavail-timeout.*/unavail-timeout = \"10s\"/" copy/etc/flux/system/conf.d/weir.toml &&
	cat >held.sh <<-\EOF && block "run: remove" >>held.sh && cat >>held.sh <<-\EOF &&
	first=$(flux submit --setattr=system.bank=physics sleep inf)
	flux job wait-event -q -t 30 $first start
	second=$(flux submit --setattr=system.bank=physics true)
	flux job wait-event -q -t 30 -m priority=0 $second priority
	held=$(flux submit --urgency=hold --setattr=system.bank=physics true)
	flux module reload job-priority
	flux python -c "import flux; flux.Flux().rpc(\"job-priority.sync\").get()"
	test $(flux jobs -no "{priority}" $second) = 0
	EOF
	flux job wait-event -q -t 60 $second clean
	test $(flux jobs -no "{state}" $first) = RUN
	test $(flux jobs -no "{state}:{priority}" $held) = SCHED:0
	flux job urgency $held 16
	flux job wait-event -q -t 60 $held clean
	flux cancel $first
	flux dmesg -H | grep "was removed: .* jobs that it held back"
	EOF
	inside held.sh >held 2>&1; code=$?; cat held; mv shares.page copy/etc/flux/system/shares.toml; mv weir.page copy/etc/flux/system/conf.d/weir.toml; test $code = 0
'
test_expect_success 'remove: pending jobs keep their priorities, and Flux runs on' '
	cat >remove.sh <<-\EOF &&
	first=$(flux submit --setattr=system.bank=physics -n$(flux resource list -s up -no "{ncores}") sleep inf)
	flux job wait-event -q -t 30 $first alloc
	second=$(flux submit --setattr=system.bank=physics true)
	flux job wait-event -q -t 30 $second priority
	before=$(flux jobs -no "{priority}" $second)
	EOF
	block "run: remove" >>remove.sh && cat >>remove.sh <<-\EOF &&
	after=$(flux jobs -no "{priority}" $second)
	echo "$before -> $after"
	test "$before" = "$after"
	test "$before" -gt 16
	third=$(flux submit --setattr=system.bank=physics true)
	flux cancel $first
	flux job wait-event -q -t 30 $second clean
	flux job wait-event -q -t 30 $third clean
	EOF
	inside remove.sh
'
test_done
