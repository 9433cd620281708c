#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the instance clock: steps of the wall clock and the time that a broker was down cost nobody anything'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
set -o pipefail  # jq -e takes no input for success

for library in /usr/lib/*/faketime/libfaketimeMT.so.1 /usr/lib/faketime/libfaketimeMT.so.1; do
	test ! -e "$library" || FAKETIME_LIBRARY=$library
done
test_have_prereq UNSANITIZED || {
	skip_all='a sanitizer wants to be the first library of a program, before libfaketime'
	test_done
}
test -n "$FAKETIME_LIBRARY" || {
	skip_all='libfaketime is not installed (package faketime)'
	test_done
}

cp "$SHARNESS_TEST_SRCDIR"/priority-conf/shares.toml .
cat >broker.toml <<EOF
[weir-broker]
modules = ["kvs", "resource", "job-manager", "job-exec", "sched-weir-fcfs", "job-priority"]
[job-manager]
plugins = [{ load = "$WEIR_BUILD_DIR/lib/flux/job-manager/plugins/job-priority-tap.so" }]
[[resource.config]]
hosts = "test"
cores = "0-1"
EOF
cat "$SHARNESS_TEST_SRCDIR"/priority-conf/weir.toml >>broker.toml
mkdir -m 0700 state scaled

# set_wall SECONDS: what the brokers take for the wall clock is that much off the real one. The monotonic clock is real.
set_wall() {
	printf '%+ds\n' "$1" >wall.new && mv wall.new wall
}
# boot NAME [options]: a broker that reads the wall clock from there.
boot() {
	LD_PRELOAD=$FAKETIME_LIBRARY FAKETIME_TIMESTAMP_FILE=$PWD/wall FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 \
		DONT_FAKE_MONOTONIC=1 start_broker "$@" -c broker.toml
}
# Real microseconds, by a clock that nobody sets.
real_us() {
	python3 -c 'import time; print(int(time.monotonic() * 1e6))'
}
# charged: core-microseconds of all, after a pass.
charged() {
	call job-priority.sync >/dev/null && call job-priority.usage | jq .total.charged_core_us
}
# time_of ID EVENT: when it was, as the eventlog has it.
time_of() {
	call job-info.lookup "{\"id\":$1,\"keys\":[\"eventlog\"],\"flags\":0}" | jq -r .eventlog |
		jq -s "map(select(.name == \"$2\"))[-1].timestamp"
}
# is_true EXPRESSION: of numbers
is_true() {
	python3 -c "import sys; sys.exit(not ($1))" || {
		echo "not so: $1"
		return 1
	}
}
# is_told PATTERN: waits until the log has such a line.
is_told() {
	stream log.dmesg "{\"follow\":true,\"nobacklog\":false}" --until "$1"
}
# run_over_step SECONDS: a job of two cores, during which the wall clock is set. It costs $least to $most.
run_over_step() {
	begin=$(real_us) && id=$(submit -n2 -- sleep 1) && wait_event $id start &&
		set_wall "$1" && wait_event $id clean && end=$(real_us) &&
		most=$((2 * (end - begin))) && least=2000000
}

test_expect_success 'the wall clock is set back an hour: the job pays what it used, and the step is told' '
	set_wall 0 && boot one -S "statedir=$PWD/state" && before=$(charged) && run_over_step -3600 &&
	cost=$(($(charged) - before)) &&
	is_true "$least <= $cost <= $most" &&
	is_true "0 < $(time_of $id clean) - $(time_of $id start) < $most / 2e6" &&
	is_told "the wall clock was set by -3600.* continues without the step"
'
test_expect_success 'work after the step is not free' '
	before=$(charged) && run_over_step -3600 && cost=$(($(charged) - before)) &&
	is_true "$least <= $cost <= $most"
'
test_expect_success 'the wall clock is set forward by eleven hours: the job pays what it used' '
	before=$(charged) && run_over_step 36000 && cost=$(($(charged) - before)) &&
	is_true "$least <= $cost <= $most"
'
test_expect_success 'a broker that runs as a job has its parent'\''s clock, whatever the wall clock says when it starts' '
	set_wall -7200 && mkfifo child.ready &&
	echo "exec \"$WEIR_BROKER\" --rundir \"$PWD/child\" --ready-fd 9 -c /dev/null 9>\"$PWD/child.ready\"" >child.sh &&
	child=$(submit -- sh "$PWD/child.sh") && read -r child_uri <child.ready &&
	call attr.get "{\"name\":\"clock.zero\"}" | jq -e .value >zero.parent &&
	FLUX_URI=$child_uri call attr.get "{\"name\":\"clock.zero\"}" | jq -e .value >zero.child &&
	test_cmp zero.parent zero.child &&
	call job-manager.raise "{\"id\":$child,\"severity\":0,\"type\":\"cancel\"}" && wait_event $child clean
'
test_expect_success 'a restart with the wall clock behind what was seen: time goes on from there, work is not free' '
	last=$(time_of $child clean) && set_wall -36000 && stop_broker one && boot one -S "statedir=$PWD/state" &&
	before=$(charged) && run_over_step -36000 && cost=$(($(charged) - before)) &&
	is_true "$(time_of $id submit) > $last" &&
	is_true "$least <= $cost <= $most" &&
	is_told "the wall clock is behind what this statedir has seen"
'
test_expect_success 'a broker that was killed and is started an hour later: its job ended where it was last seen' '
	before=$(charged) && begin=$(real_us) && id=$(submit -n2 -- sleep 1000) && wait_event $id start &&
	waiting=$(submit -- sleep 1) && wait_event $waiting priority &&
	kill -9 $one_pid && end=$(real_us) && { wait $one_pid || :; } &&
	set_wall 36000 && boot one -S "statedir=$PWD/state" && wait_event $id clean && wait_event $waiting clean &&
	is_true "$(time_of $id free) < $(time_of $waiting flux-restart) - 3600" &&
	cost=$(($(charged) - before)) &&
	is_true "0 < $cost <= 2 * ($end - $begin) + 2 * ($(real_us) - $end)"
'
# held_us ID: how long it had its cores while the broker ran, in microseconds, as the eventlog has it.
held_us() {
	call job-info.lookup "{\"id\":$1,\"keys\":[\"eventlog\"],\"flags\":0}" | jq -r .eventlog | jq -s '
		(map(select(.name == "free" or .name == "alloc") | .timestamp * 1e6 | round) | .[1] - .[0]) -
		(map(select(.name == "weir.down").context.seconds * 1e6 | round) | add // 0)'
}
tap() {
	call job-manager.testtap.do "{\"op\":\"$1\",\"id\":$2}"
}
load_tap() {
	call job-manager.jobtap "{\"load\":\"$WEIR_BUILD_DIR/t/plugins/test-tap.so\"}"
}
test_expect_success 'a job that had its cores and waited for a prolog does not pay for the hours down, however often' '
	before=$(charged) && begin=$(real_us) && load_tap &&
	id=$(submit -n2 --setattr job.name=prolog -- sleep 1) && wait_event $id prolog-start &&
	for hour in 1 2; do
		kill -9 $one_pid && { wait $one_pid || :; } &&
		set_wall $((36000 + 3600 * hour)) && boot one -S "statedir=$PWD/state" || return 1
	done &&
	wait_event $id weir.down && load_tap && tap prolog-finish $id && wait_event $id clean &&
	is_true "$(time_of $id free) - $(time_of $id alloc) > 2 * 3600 - 60" &&
	cost=$(($(charged) - before)) && test "$cost" = "$((2 * $(held_us $id)))" &&
	is_true "2000000 < $cost < 2 * ($(real_us) - $begin)"
'
test_expect_success 'what a killed broker did not see any more is a second at most' '
	before=$(charged) && id=$(submit -n2 -- sleep 1000) && wait_event $id start && started=$(real_us) &&
	wait_changes state/clock 4 && alive=$(real_us) && kill -9 $one_pid && end=$(real_us) && { wait $one_pid || :; } &&
	set_wall 72000 && boot one -S "statedir=$PWD/state" && wait_event $id clean && cost=$(($(charged) - before)) &&
	is_true "$alive - $started > 2900000" &&
	is_true "2 * ($alive - $started - 2000000) <= $cost <= 2 * ($end - $started + 1000000)" && # a busy machine marks late
	stop_broker one
'
test_expect_success 'with a scale the clock goes on over a stop and over a kill: its origin is part of the state' '
	set_wall 0 && boot fast -S "statedir=$PWD/scaled" -S clock.scale=3600 &&
	first=$(submit -- true) && wait_event $first clean && stop_broker fast &&
	boot fast -S "statedir=$PWD/scaled" -S clock.scale=3600 &&
	second=$(submit -- true) && wait_event $second clean &&
	is_true "$(time_of $second submit) > $(time_of $first clean) + 60" &&
	kill -9 $fast_pid && { wait $fast_pid || :; } && set_wall -3600 &&
	boot fast -S "statedir=$PWD/scaled" -S clock.scale=3600 &&
	third=$(submit -- true) && wait_event $third clean &&
	is_true "$(time_of $third submit) > $(time_of $second clean)" &&
	is_true "$(time_of $third clean) - $(time_of $third submit) > 1" &&
	stop_broker fast
'
test_expect_success 'a statedir that another broker uses is refused' '
	boot fast -S "statedir=$PWD/scaled" &&
	test_expect_code 1 "$WEIR_BROKER" --rundir "$PWD/x" -S "statedir=$PWD/scaled" -c broker.toml 2>err &&
	grep "in use by another instance" err && stop_broker fast
'

# A stock job-manager stamps its events with the wall clock; the module takes the steps off.
if find_flux >/dev/null; then
	PATH=$(dirname "$(find_flux)"):$PATH
	cat >stock.sh <<-\EOF
	unset LD_PRELOAD
	for step in -3600 36000; do
		sync_priorities
		rpc job-priority.usage | jq .total.charged_core_us >before$step
		python3 -c "import time; print(time.monotonic())" >begin$step
		id=$(flux submit -n2 --setattr=system.bank=bio sleep 1)
		flux job wait-event -q -t 60 "$id" start
		printf "%+ds\n" "$step" >wall.new && mv wall.new wall
		flux job wait-event -q -t 60 "$id" clean
		python3 -c "import time; print(time.monotonic())" >end$step
		sync_priorities
		rpc job-priority.usage | jq .total.charged_core_us >after$step
	done
	id=$(flux submit -n2 --setattr=system.bank=bio sleep 1)
	flux job wait-event -q -t 60 "$id" clean
	sync_priorities
	rpc job-priority.usage | jq .total.charged_core_us >charged.end
	flux dmesg >stock.log
	EOF
	cat >again.sh <<-\EOF
	unset LD_PRELOAD
	sync_priorities
	rpc job-priority.usage | jq .total.charged_core_us >charged.again
	EOF
	# Without RTLD_DEEPBIND, with which a module does not see the library.
	faked_flux() {
		FLUX_LOAD_WITH_DEEPBIND=0 LD_PRELOAD=$FAKETIME_LIBRARY FAKETIME_TIMESTAMP_FILE=$PWD/wall FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 \
			DONT_FAKE_MONOTONIC=1 in_instance flux "$PWD/stock" "$1"
	}
	test_expect_success 'a stock Flux: the wall clock is set back and forward, each job pays what it used' '
		set_wall 0 && faked_flux ./stock.sh &&
		for step in -3600 36000; do
			is_true "2000000 <= $(cat after$step) - $(cat before$step) <= 2e6 * ($(cat end$step) - $(cat begin$step))" ||
			return 1
		done &&
		grep "the wall clock was set by -3600.* usage continues without the step" stock.log &&
		is_true "2000000 <= $(cat charged.end) - $(cat after36000) <= 60000000"
	'
	test_expect_success 'a stock Flux: a restart that reads the stamps again charges nothing twice' '
		faked_flux ./again.sh && test_cmp charged.end charged.again
	'
fi
test_done
