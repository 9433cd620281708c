#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='limits and stopped queues on every broker here: a job that nothing starts takes no place from others'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
require_some_broker

mkdir conf && cp "$PRIORITY_CONF/weir.toml" conf/ && PRIORITY_CONF=$PWD/conf && export PRIORITY_CONF &&
printf '[queues.batch]\n[queues.debug]\n' >>conf/weir.toml
cat >shares.toml <<'EOF'
"bio" = {shares = 1, running_jobs_max = 1}
"bio/@*" = 1
"physics" = 1
"physics/@*" = 1
EOF
SHARES=$PWD/shares.toml
export SHARES

cat >script.sh <<'EOF'
job() { queue=$1; shift; flux submit -n1 --queue=$queue --setattr=system.bank=bio "$@" sleep inf; }
# a job of a stopped queue holds back none of another, and its memo names the queue
flux queue start --all --quiet
flux queue stop --queue=batch -m maintenance
stopped=$(job batch)
flux job wait-event -q -t 30 $stopped priority
first=$(job debug)
flux job wait-event -q -t 60 $first alloc
timeout 60 flux python "$SHARNESS_TEST_SRCDIR/tools/annotation.py" $stopped user.why "^queue batch starts no jobs"
"$WEIR_BUILD_DIR/bin/weir" why $stopped | grep 'waits until its queue "batch" is started; it was stopped: maintenance'
second=$(job debug)
flux job wait-event -q -t 30 $second priority
sync_priorities
"$WEIR_BUILD_DIR/bin/weir" why $second | grep "bio runs at most 1 job"
# so it is when the module is loaded again
flux module reload "$PRIORITY_SO"
sync_priorities
flux cancel $first
flux job wait-event -q -t 60 $second alloc
# started, it waits for its turn: the limit holds
flux queue start --queue=batch
third=$(job debug)
flux job wait-event -q -t 30 $third priority
sync_priorities
flux jobs -no '{state}' $stopped | grep SCHED
flux cancel $second
flux job wait-event -q -t 60 $stopped alloc
test $(state_of $third) = SCHED
# what runs stays, and keeps its place
flux queue stop --queue=batch
fourth=$(job batch)
flux job wait-event -q -t 30 $fourth priority
flux module reload "$PRIORITY_SO"
sync_priorities
test $(state_of $third) = SCHED
test $(state_of $stopped) = RUN
flux cancel $stopped
flux job wait-event -q -t 60 $third alloc
# a queue that is stopped later takes the place from a job that waits for cores, and from no other
flux cancel $third $fourth
flux job wait-event -q -t 60 $third clean
flux queue start --queue=batch
blocker=$(flux submit --queue=debug -n2 --setattr=system.bank=physics sleep inf)
flux job wait-event -q -t 60 $blocker alloc
place=$(job batch)
flux job wait-event -q -t 30 $place priority
sync_priorities
test $(priority_of $place) != 0
last=$(job debug)
flux job wait-event -q -t 30 $last priority
sync_priorities
test $(priority_of $last) = 0
flux queue stop --queue=batch
flux cancel $blocker
flux job wait-event -q -t 60 $last alloc
test $(state_of $place) = SCHED
flux cancel --all
flux queue drain
EOF

for broker in $BROKERS; do
	steps_of script.sh >steps.sh
	each_step "$broker" in_instance "$broker" "$PWD/state-$broker" ./steps.sh
done
test_done
