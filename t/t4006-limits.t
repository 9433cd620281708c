#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='limits of the share tree on every broker here: who is over one is held back, what can never be is refused'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
require_some_broker

cat >shares.toml <<'EOF'
"bio" = {shares = 1, running_jobs_max = 1, active_jobs_max = 3}
"bio/@*" = 1
"physics" = {shares = 1, wall_time_max = "1h"}
"physics/@*" = 1
EOF
SHARES=$PWD/shares.toml
EXTRA='unavail-timeout = "10s"'
export SHARES EXTRA

cat >script.sh <<'EOF'
job() { bank=$1; shift; flux submit -n1 --setattr=system.bank=$bank "$@" sleep inf; }
explain() { rpc job-priority.explain "{\"id\": $(flux job id $1)}"; }
# who is over a limit is held back and told by which
first=$(job bio)
flux job wait-event -q -t 30 $first alloc
second=$(job bio)
flux job wait-event -q -t 30 $second priority
sync_priorities
test $(priority_of $second) = 0
test $(state_of $second) = SCHED
explain $second | jq -e '.limit == "bio runs at most 1 job; 1 runs" and any(.words[]; startswith("It is held back by a limit: bio"))'
# another account has the second core of the machine though it came later
other=$(job physics -t 5m)
flux job wait-event -q -t 30 $other alloc
# who asks why is told both: priority, and what our scheduler knows
behind=$(job physics -t 5m)
flux job wait-event -q -t 30 $behind priority
sync_priorities
"$WEIR_BUILD_DIR/bin/weir" prio explain $behind >why
cat why
grep "priority [1-9]" why
# who is held back is ahead of nobody, and comes last
explain $behind | jq -e '.rank == 1 and .of == 2 and .ahead == []'
"$WEIR_BUILD_DIR/bin/weir" prio list | tee list | awk '$1 == "-" {held = NR} $1 == 1 {first = NR} END {exit !(first && held > first)}'
grep "^- held back, whatever its priority" list
"$WEIR_BUILD_DIR/bin/weir" prio when $second $behind | tee when
grep "^$behind of .* is ahead of $second of" when
grep "^$second is held back, whatever its priority; weir why $second says why" when
"$WEIR_BUILD_DIR/bin/weir" jobs | grep "held back; weir why $second says why"
flux module list | grep -q sched-simple || grep "^It waits for 1 core, next to start" why
flux cancel $behind
# what can never be is refused
third=$(job bio)
fourth=$(job bio)
flux job wait-event -t 30 $fourth exception | grep "refused by a limit of the share tree: bio has at most 3 jobs that wait or run; 3 do"
long=$(job physics -t 2h)
flux job wait-event -t 30 $long exception | grep "a job of physics runs at most 1h"
# the next is admitted when one ends, and only one
flux cancel $first
flux job wait-event -q -t 30 $second alloc
sync_priorities
test $(priority_of $third) = 0
flux cancel --all
flux queue idle -t 60
# an admitted job keeps its place while another comes first, over a restart of the module too
blocker=$(job physics -t 50m -n2 --urgency=31)
flux job wait-event -q -t 30 $blocker alloc
let_in=$(job bio)
flux job wait-event -q -t 30 $let_in priority
sync_priorities
test $(priority_of $let_in) != 0
later=$(job bio --urgency=24)
flux job wait-event -q -t 30 $later priority
sync_priorities
test $(priority_of $later) = 0
flux module remove job-priority
between=$(job bio --urgency=20)
flux job wait-event -q -t 30 $between depend
flux module load "$PRIORITY_SO"
sync_priorities
test $(priority_of $let_in) != 0
test $(priority_of $later) = 0
test $(priority_of $between) = 0
test "$(flux job eventlog $between | grep -c ' priority ')" = 1
flux cancel $let_in
sync_priorities
test $(priority_of $later) != 0
test $(priority_of $between) = 0
flux cancel --all
flux queue drain
# without the module, a job over a limit starts after unavail-timeout; the module is there again and knows it
first=$(job bio)
flux job wait-event -q -t 30 $first alloc
second=$(job bio)
flux job wait-event -q -t 30 $second priority
sync_priorities
test $(priority_of $second) = 0
flux module remove job-priority
flux job wait-event -q -t 60 $second alloc
test $(state_of $first) = RUN
flux module load "$PRIORITY_SO"
third=$(job bio)
flux job wait-event -q -t 30 $third priority
sync_priorities
explain $third | jq -e '.limit | startswith("bio runs at most 1 job; 2 ")'
flux cancel --all
flux queue drain
EOF

for broker in $BROKERS; do
	steps_of script.sh >steps.sh
	each_step "$broker" in_instance "$broker" "$PWD/state-$broker" ./steps.sh
done
test_done
