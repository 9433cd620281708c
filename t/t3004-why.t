#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir why: every job that waits is told for what, on every broker here; a sentence for each state'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
require_some_broker

cat >shares.toml <<'EOT'
"bio" = {shares = 1, running_jobs_max = 1}
"bio/@*" = 1
"physics" = 1
"physics/@*" = 1
EOT
SHARES=$PWD/shares.toml
MODULES=$WEIR_BUILD_DIR/lib/flux/modules
TEST_TAP=$WEIR_BUILD_DIR/t/plugins/test-tap.so
export SHARES MODULES TEST_TAP

# What follows is run by `bash -e`: each claim is a line of its own, for only the last of a list can fail.
cat >words.sh <<'EOT'
weir() { "$WEIR_BUILD_DIR/bin/weir" "$@"; }
job() { bank=$1; shift; flux submit --setattr=system.bank="$bank" -t 30m "$@" sleep inf; }
saw() { flux job wait-event -q -t 30 "$1" "$2"; }
# says JOB PATTERN...: each is in what `weir why` prints, and the first in what `weir prio explain` prints while it waits
says() {
	id=$1
	shift
	weir why "$id" >said
	for pattern in "$@"; do
		grep -e "$pattern" said >/dev/null || { echo "$id: no \"$pattern\" in: $(cat said)"; return 1; }
	done
}
reason() { weir why --json "$1" | jq -r .reason; }
is() { test "$(reason "$1")" = "$2" || { weir why "$1"; return 1; }; }
EOT
cat >script.sh <<'EOT'
. "$OUT/words.sh"
# nobody ours: the scheduler of a stock Flux does not say more
if flux module list | grep -q sched-simple; then
	all=$(job physics -n2) && saw "$all" alloc
	foreign=$(job physics -n1) && saw "$foreign" priority
	is "$foreign" foreign-scheduler
	says "$foreign" "waits for resources; the scheduler here does not say which"
	flux cancel "$all" "$foreign" && flux queue idle -t 60 >/dev/null
	flux module remove sched-simple
	flux module load "$MODULES/sched-weir-easy.so"
	stock=yes
fi
half=$(job physics -n1)
saw "$half" alloc
is "$half" not-waiting
says "$half" "does not wait: it has its resources"

# resources; behind whom, until when
first=$(job physics -n2)
saw "$first" priority
sync_priorities >/dev/null
is "$first" resources
says "$first" "waits for 2 cores, next to start; free: 1 core; estimated start: 20"
behind=$(job physics -n1 -t 2h)
saw "$behind" priority
sync_priorities >/dev/null
says "$behind" "has its resources free, but" "It is number 2 in the queue; $first is the first pending job, with estimated start 20"
weir prio explain "$behind" >explained
grep "^It has its resources free" explained >/dev/null
grep "$first is the first pending job" explained >/dev/null

# held; dependency; begin time
held=$(job physics -n1 --urgency=0)
saw "$held" priority
is "$held" held
says "$held" "is held: its urgency is 0; .weir nice $held 0. releases it"
if test -n "$stock"; then
	depends=$(job physics -n1 --urgency=0 --dependency=afterok:"$held") && saw "$depends" dependency-add
	is "$depends" dependencies
	says "$depends" "waits until $held has succeeded; it is held as well: its urgency is 0"
	begins=$(job physics -n1 --begin-time=2100-01-02) && saw "$begins" dependency-add
	is "$begins" begin-time
	says "$begins" "waits for its begin time; not before 2100-01-02"
else
	flux jobtap load "$TEST_TAP"
	depends=$(job physics -n1 --job-name=hold) && saw "$depends" dependency-add
	is "$depends" dependencies
	says "$depends" 'waits for "the-test"'
	flux cancel "$depends" && saw "$depends" clean
	flux jobtap remove test-tap.so
fi

# a limit of the share tree
one=$(job bio -n1)
saw "$one" priority
sync_priorities >/dev/null
two=$(job bio -n1)
saw "$two" priority
sync_priorities >/dev/null
is "$two" limit
says "$two" "is held back by a limit: bio runs at most 1 job; "

# its queue is stopped
flux queue stop -m "maintenance until noon"
is "$first" queue-stopped
says "$first" "waits until the queue is started; it was stopped: maintenance until noon"
flux queue start
sync_priorities >/dev/null  # job-priority, which holds jobs of a stopped queue back, has seen it

# nodes that are down; the embedded broker has none to drain
if test -n "$stock"; then
	flux resource drain 0 "broken"
	is "$first" nodes-down
	says "$first" "asks for 2 cores, for which too many of the nodes are drained or down"
	flux resource undrain 0
fi

# what can never be is no longer waiting, and says why
never=$(job physics -n99 2>refused) || never=
if test -n "$never"; then
	saw "$never" clean
	is "$never" not-waiting
	says "$never" "does not wait: it failed: ."
else
	grep . refused
fi

# no priority yet: a plugin that has just come, and nobody to tell it anything; then no scheduler
flux module remove job-priority
flux jobtap remove job-priority-tap.so
flux jobtap load "$PRIORITY_TAP"
early=$(job physics -n1)
saw "$early" depend
is "$early" priority
says "$early" "waits for its first priority, and job-priority does not answer"
flux module load "$PRIORITY_SO"
sync_priorities >/dev/null
saw "$early" priority

scheduler=$(flux module list | grep -o "sched-[a-z-]*" | head -1)
flux module remove "$scheduler"
is "$first" no-scheduler
says "$first" "waits for a scheduler: none is loaded"
flux module load "$MODULES/$scheduler.so"
flux cancel "$half" "$behind" "$one" "$two" "$early"
saw "$first" alloc
is "$first" not-waiting

# Without time limits: a job that comes later does not pass the head that waits for one, unless it has a limit.
flux cancel --all >/dev/null
flux queue idle -t 60 >/dev/null
flux module remove "$scheduler"
flux module load "$MODULES/sched-weir-easy.so"
endless() { flux submit --setattr=system.bank=physics "$@" sleep inf; }
runs=$(endless -n1)
saw "$runs" alloc
head=$(endless -n2)
saw "$head" priority
sync_priorities >/dev/null
later=$(endless -n1)
saw "$later" priority
sync_priorities >/dev/null
is "$head" resources
weir why "$head" >said
grep "estimated start" said && exit 1
is "$later" reservation
short=$(flux submit --setattr=system.bank=physics -n1 -t 1m true)
saw "$short" clean
is "$later" reservation
flux module reload "$MODULES/sched-weir-easy.so"
short=$(flux submit --setattr=system.bank=physics -n1 -t 1m true)
saw "$short" clean
is "$later" reservation
flux cancel "$runs"
saw "$head" alloc

weir why f1 2>unknown && exit 1
grep "no job f1\|no job ƒ1" unknown
flux cancel --all >/dev/null
flux queue idle -t 60 >/dev/null
flux module remove sched-weir-easy
test -z "$stock" || flux module load sched-simple
EOT

OUT=$PWD
export OUT
for broker in $BROKERS; do
	test_expect_success "$broker: whoever waits is told for what" '
		in_instance '$broker' "$PWD/state-'$broker'" "$PWD/script.sh"
	'
done
test_done
