#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='limits of a partition in a stock Flux: what exceeds one waits, weir why says so, and a reload lifts it'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

follow_in_flux partitions.md
test "$(nproc)" -ge 2 || { skip_all='a limit of one job wants two cores'; test_done; }

cat >partitions.toml <<\EOF
[weir.route]
[queues.batch]
[queues.instances]

[[partition]]
name = "batch"
cores = 2
limits = { user-running-jobs-max = 1 }
EOF
test_expect_success 'a copy of the prefix with Weir, with limits' '
	copy_prefix && cp partitions.toml copy/etc/flux/system/conf.d/partitions.toml
'
cat >limits.sh <<\EOF
flux queue start --all --quiet
submit() { flux submit --queue=batch "$@"; }
submit --wait true
flux weir partition list
first=$(submit sleep inf)
flux job wait-event -q -t 60 $first start
second=$(submit sleep inf)
flux job wait-event -q -t 60 $second priority
flux weir why $second
sed -i s/max\ =\ 1/max\ =\ 2/ "$FOLDER/conf.d/partitions.toml"
flux config reload
flux job wait-event -q -t 60 $second start && echo it runs beside the first
test "$(flux jobs -no '{state}' $first)" = RUN && echo the first runs
sed -i s/max\ =\ 2/max\ =\ 0/ "$FOLDER/conf.d/partitions.toml"
flux config reload || echo refused
flux cancel $first $second
flux job wait-event -q -t 60 $first clean
flux job wait-event -q -t 60 $second clean
EOF
test_expect_success 'a job over the limit waits, weir why names limit and count; a reload lets it go; a mistake is refused' '
	inside limits.sh >out 2>&1; code=$?; cat out && test $code = 0 &&
	grep "^batch  *batch  *a user 1 job  *2 " out && grep "^The partition batch runs at most 1 job of a user; 1 runs\.$" out &&
	grep "^it runs beside the first" out && grep "^the first runs" out &&
	grep "partition batch.limits. user-running-jobs-max" out && grep "^refused" out
'
test_done
