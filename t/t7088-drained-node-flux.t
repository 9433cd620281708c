#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a drained node of a stock Flux is drained in the partition that has it: no job starts there, and flux weir why says so'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

follow_in_flux partitions.md
test "$(nproc)" -ge 2 || { skip_all='two partitions want two cores'; test_done; }

test_expect_success 'a copy of the prefix with Weir, configured as the page says' '
	copy_prefix && block "file: conf.d/partitions.toml" >copy/etc/flux/system/conf.d/partitions.toml
'
cat >drain.sh <<\EOF
flux queue start --all --quiet
flux submit --queue=batch --wait true && flux submit --queue=debug --wait true
# below NAME STATE [REASON]: waits until the node of that partition has this state for this reason
uri() { flux python -c 'import flux, sys
print(["local:///" + i["uri"].split("/", 3)[3] for p in flux.Flux().rpc("job-route.partitions", {}).get()["partitions"] if p["name"] == sys.argv[1] for i in p["instances"]][0])' $1; }
below() { FLUX_URI=$(uri $1) flux python -c 'import flux, sys
drains = None
while drains != sys.argv[1:]:
    drains = [d["reason"] for d in flux.Flux().rpc("resource.status").get()["drain"].values()]' "${@:2}"; }
export -f below uri
below_in_time() { timeout 60 bash -c 'below "$@"' sh "$@"; }
flux resource drain 0 broken
below_in_time batch "drained above: broken"
below_in_time debug "drained above: broken"
waits=$(flux submit --queue=batch --output=waits.out echo it ran)
# its partition has it, and then its scheduler
timeout 60 sh -c 'until flux weir why $0 >why.out && grep -q "asks for 1 core" why.out; do :; done' $waits
cat why.out
flux module reload job-route
flux resource drain -f 0 worse
below_in_time batch "drained above: worse"
flux job eventlog $waits | grep -q " alloc" || echo not started
FLUX_URI=$(uri debug) flux resource drain -f 0 by hand
flux resource undrain 0
flux job wait-event -q -t 60 $waits clean && cat waits.out
below_in_time batch
below_in_time debug "by hand"
EOF
test_expect_success 'drained: nothing starts in the partitions; undrained: it does, but for a drain by hand' '
	inside drain.sh >out 2>&1; code=$?; cat out && test $code = 0 &&
	grep "asks for 1 core" out && grep "in the partition batch" out && grep "^not started" out && grep "^it ran" out
'
test_done
