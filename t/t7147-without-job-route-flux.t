#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a new job-manager of a stock Flux without job-route: only the jobs of partitions wait, and the reason is told'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

follow_in_flux in-your-flux.md
test "$(nproc)" -ge 2 || { skip_all='a partition beside another job wants two cores'; test_done; }

cat >without.sh <<\EOF
flux queue start --all --quiet
flux submit --quiet --queue=batch --wait true
partition=$(flux jobs -no '{id}')
flux module remove job-route
flux cancel $partition && flux job wait-event -q -t 60 $partition clean
EOF
block "run: manager" >>without.sh
cat >>without.sh <<\EOF
flux module reload sched-simple
flux queue start --all --quiet
kept=$(flux submit --queue=batch --output=kept.out echo the partition is back)
flux submit --queue=own --output=own.out --wait echo own goes on
cat own.out
flux weir why $kept
flux module load job-route
flux job wait-event -q -t 60 $kept clean && cat kept.out
EOF
test_expect_success 'the plugin is in the configuration: another queue goes on, a job of the partition waits for job-route' '
	copy_prefix && cat >copy/etc/flux/system/conf.d/weir.toml <<-\EOF &&
	[job-manager]
	plugins = [{ load = "job-route-tap.so" }]
	[weir.route]
	[queues.batch]
	[queues.own]
	[queues.instances]
	[[partition]]
	name = "batch"
	cores = 1
	EOF
	inside without.sh >out 2>&1; code=$?; cat out && test $code = 0 &&
	grep "^own goes on" out && grep "waits until job-route is loaded: the jobs of its queue \"batch\" run in partitions" out &&
	grep "^the partition is back" out
'
test_done
