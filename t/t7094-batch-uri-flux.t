#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a batch job in a partition of a stock Flux: flux uri and flux proxy find it from the parent'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

follow_in_flux partitions.md
test "$(nproc)" -ge 2 || { skip_all='two partitions want two cores'; test_done; }

test_expect_success 'a copy of the prefix with Weir, configured as the page says' '
	copy_prefix && block "file: conf.d/partitions.toml" >copy/etc/flux/system/conf.d/partitions.toml
'
cat >batch.sh <<\EOF
flux queue start --all --quiet
runs=$(flux batch --queue=batch -n1 --wrap sleep inf)
flux job wait-event -q -t 60 $runs memo
flux uri --local $runs
flux proxy $(flux uri --local $runs) flux getattr jobid
flux module reload job-route
flux submit --queue=debug --wait true
flux proxy $(flux uri --local $runs) flux getattr size
flux cancel $runs && flux job wait-event -q -t 60 $runs clean
EOF
test_expect_success 'its URI is a memo of the job in the parent' '
	inside batch.sh >out 2>&1; code=$?; cat out && test $code = 0 && grep "^local://" out && grep "^1$" out
'
test_done
