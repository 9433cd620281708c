#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description="rank 0 of four brokers: Weir's scheduler and job-priority, drains as the annotation tells them"
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

find_flux >/dev/null || { skip_all='no stock Flux here that can load this build: put flux into PATH or set WEIR_FLUX'; test_done; }
PATH=$(dirname "$(find_flux)"):$PATH
export PATH

cat >instance.toml <<EOF
[job-manager]
plugins = [{ load = "$PRIORITY_TAP" }]
[weir]
update-interval = "1h"
EOF
cp "$PRIORITY_CONF/shares.toml" .

cat >script.sh <<'EOF'
annotation() { timeout 60 flux python "$SHARNESS_TEST_SRCDIR/tools/annotation.py" "$1" sched.reason_pending "$2"; }
flux module remove sched-simple
flux module load "$WEIR_BUILD_DIR/lib/flux/modules/sched-weir-easy.so"
# a job runs on all four brokers
test "$(flux resource list -s all -no '{nnodes}')" = 4
cores=$(flux resource list -s all -no '{ncores}')
flux run -N4 -n4 --setattr=system.bank=bio sh -c 'echo rank $(flux getattr rank)' | sort >ranks
printf "rank %s\n" 0 1 2 3 | cmp - ranks
# two wait for the whole machine; the lighter user's account goes first
first=$(flux submit -N4 -n$cores -t 10m --setattr=system.bank=bio sleep inf)
flux job wait-event -q -t 30 $first alloc
later=$(flux submit -N4 -n$cores -t 1m --setattr=system.bank=bio true)
lighter=$(flux submit -N4 -n$cores -t 1m --setattr=system.bank=physics/lattice true)
for id in $later $lighter; do flux job wait-event -q -t 30 $id priority; done
sync_priorities
annotation $lighter "^next to start: waits for $cores cores on 4 nodes$"
# a drained node is the reason while it is drained
flux resource drain 2 "broken disk"
annotation $lighter "too many nodes are drained or down"
flux resource undrain 2
annotation $lighter "on 4 nodes$"
# they start in their order
flux cancel $first
flux job wait-event -q -t 60 $later clean
start() { flux job eventlog $1 | grep " alloc" | cut -d" " -f1; }
test "$(printf "%s\n" $(start $lighter) $(start $later) | sort -n | head -n1)" = "$(start $lighter)"
# every core is free again
test "$(flux resource list -s free -no '{ncores}')" = $cores
flux module remove sched-weir-easy
EOF

{
	echo "SHARNESS_TEST_SRCDIR=$SHARNESS_TEST_SRCDIR"
	echo ". $SHARNESS_TEST_SRCDIR/sharness.d/40-flux.sh"
	tell_failure
	echo "flux module load $PRIORITY_SO"
	steps_of script.sh
	echo "flux module remove job-priority"
} >instance.sh
each_step four env -u FLUX_URI flux start --test-size=4 --config-path="$PWD/instance.toml" bash -e ./instance.sh
test_done
