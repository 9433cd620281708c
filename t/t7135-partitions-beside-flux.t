#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a stock Flux: two partitions of a queue, one that lends its cores, one on demand with properties, one with a policy of its own'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

follow_in_flux partitions.md

host=$(uname -n)
cat >partitions.toml <<EOF
[resource]
noverify = true
[[resource.config]]
hosts = "$host"
cores = "0-5"
properties = ["fast"]
[weir.route]
[queues.batch]
[queues.debug]
[queues.own]
[queues.instances]

[[partition]]
name = "batch"
cores = 1
[[partition]]
name = "second"
queues = ["batch"]
hosts = "$host"
cores = 1
start = "on-demand"
idle-time = "1s"
properties = ["fast"]
[[partition]]
name = "debug"
cores = 1
overflow = ["batch"]
[[partition]]
name = "own"
cores = 1
[partition.config.weir]
parent-factors = false
EOF
test_expect_success 'a copy of the prefix with Weir and these partitions' '
	copy_prefix && cp partitions.toml copy/etc/flux/system/conf.d/partitions.toml
'
cat >beside.sh <<\EOF
flux queue start --all --quiet
submit() { flux submit --queue=$1 "${@:2}"; }
starts() { flux job wait-event -q -t 60 $1 start; }
for queue in batch debug own; do timeout 60 flux submit --queue=$queue --wait true; done
flux weir partition list | grep "^second .* off$"
one=$(submit batch sleep inf) && starts $one
two=$(submit batch sleep inf) && starts $two
three=$(submit batch sleep inf) && starts $three
flux weir partition list >full && cat full
mine=$(submit debug sleep inf)
four=$(submit batch true)
flux job wait-event -q -t 60 $four priority
flux weir tree
flux weir prio weights
flux cancel $two && starts $mine && echo debug runs its own
test "$(flux jobs -no '{state}' $four)" = SCHED && echo and lends no more
flux cancel $three && flux job wait-event -q -t 60 $four clean && echo second runs the next
timeout 60 bash -c 'until flux weir partition list | grep "^second .* off$"; do :; done'
EOF
test_expect_success 'second starts on demand and is given back; debug lends behind its own jobs; own says that it has its policy' '
	inside beside.sh >out 2>&1; code=$?; cat out && test $code = 0 &&
	grep "^batch  *batch  *1 .* 1  *f[^ ]*  *up$" out && grep "^second  *batch  *1 .* 1  *f[^ ]*  *up$" out &&
	grep "^debug  *debug, then batch  *1 .* 1  *f[^ ]*  *up$" out && test $(grep -c "^second .* off$" out) = 2 &&
	grep "^debug runs its own" out && grep "^and lends no more" out && grep "^second runs the next" out &&
	grep "own  *simple .* own  *local:" out && grep "^partition own has a policy of its own: " out
'
test_done
