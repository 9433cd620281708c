#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description="under Fluxion (flux-sched), whose build folder is in WEIR_FLUXION, jobs start in the order of Weir's priorities"
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

find_flux >/dev/null || { skip_all='no stock Flux here that can load this build: put flux into PATH or set WEIR_FLUX'; test_done; }
FLUXION=${WEIR_FLUXION:-/nonexistent}
test -f "$FLUXION/qmanager/modules/sched-fluxion-qmanager.so" || {
	skip_all='no Fluxion here: WEIR_FLUXION names no build folder of flux-sched'
	test_done
}
PATH=$(dirname "$(find_flux)"):$PATH
LD_LIBRARY_PATH=$FLUXION/resource:$FLUXION/resource/modules
export PATH LD_LIBRARY_PATH FLUXION

cat >script.sh <<'EOF'
flux module remove sched-simple
flux module load "$FLUXION/resource/modules/sched-fluxion-resource.so"
flux module load "$FLUXION/resource/modules/sched-fluxion-feasibility.so"
flux module load "$FLUXION/qmanager/modules/sched-fluxion-qmanager.so" queue-policy=fcfs
# jobs of two accounts and several urgencies wait for the whole machine
cores=$(flux resource list -s up -no "{ncores}")
blocker=$(flux submit --setattr=system.bank=bio -n$cores sleep inf)
flux job wait-event -q -t 30 $blocker alloc
ids=""
for urgency in 6 16 11 9 16; do
	for bank in bio physics/lattice; do
		ids="$ids $(flux submit -n$cores --urgency=$urgency --setattr=system.bank=$bank true)"
	done
done
for id in $ids; do flux job wait-event -q -t 30 $id priority; done
sync_priorities
flux jobs -no "{priority} {id.dec}" $ids | sort -k1,1nr -k2,2n | cut -d" " -f2 >want
test "$(flux jobs -no "{priority}" $ids | sort -u | wc -l)" -ge 8
flux jobs -no "{id.dec}" $ids | sort -n >submitted
if cmp -s want submitted; then false; fi
# they start in the order of their priorities
flux cancel $blocker
flux queue drain -t 120
for id in $ids; do
	echo "$(flux job eventlog $id | grep " alloc" | cut -d" " -f1) $(flux job id --to=dec $id)"
done | sort -n | cut -d" " -f2 >got
cmp want got
for module in sched-fluxion-qmanager sched-fluxion-feasibility sched-fluxion-resource; do flux module remove $module; done
EOF
steps_of script.sh >steps.sh
each_step fluxion in_instance flux "$PWD/state" ./steps.sh
test_done
