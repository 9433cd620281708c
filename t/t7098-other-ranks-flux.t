#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir on a rank of a stock Flux that is not 0, as on a login node: it answers as on rank 0'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

follow_in_flux in-your-flux.md

test_expect_success 'a copy of the prefix with Weir, its scheduler and a share tree' '
	copy_prefix && block "file: conf.d/weir.toml" >copy/etc/flux/system/conf.d/weir.toml &&
	block "file: conf.d/scheduler.toml" >copy/etc/flux/system/conf.d/scheduler.toml &&
	block "file: shares.toml" >copy/etc/flux/system/shares.toml
'
cat >ranks.sh <<\EOF
first=$FLUX_URI
second=${FLUX_URI%-0}-1
flux logger --severity=warning words of rank 0
FLUX_URI=$second flux logger --severity=debug words of rank 1
id=$(flux submit --setattr=system.bank=physics -n$(flux resource list -s up -no "{ncores}") sleep inf)
flux job wait-event -q -t 60 $id start
waits=$(flux submit --setattr=system.bank=physics true)
flux job wait-event -q -t 60 $waits priority
for FLUX_URI in $first $second; do
    export FLUX_URI name=${FLUX_URI##*-}
    { flux weir tree && flux weir log --level warning && flux weir why $waits && flux weir prio list; } |
        sed -E -e 's,/local-[01]$,,' -e 's/ *[0-9.]+ ?(s|ms|min|h)\b/ TIME/g' >$name.out
    flux weir top --once >$name.top
    flux weir share report --output $name.html
done
diff 0.out 1.out
cat 1.out 1.top
flux weir submit --account physics true
flux cancel --all --quiet
EOF
test_expect_success 'tree, log, why, prio list, top, share report and submit on rank 1' '
	SIZE=2 inside ranks.sh >out 2>&1; code=$?; cat out && test $code = 0 &&
	grep "^top  *easy " 1.out && grep "words of rank 0" 1.out && test_must_fail grep "words of rank 1" 1.out &&
	test_must_fail grep "only works on rank 0" 1.top && grep "Fair share on [1-9][0-9]* cores" 1.html
'
test_done
