#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='memory of a partition in a stock Flux: it is reserved, the jobs get it, and more is refused at submission'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

follow_in_flux partitions.md
test "$(nproc)" -ge 2 || { skip_all='two jobs beside each other want two cores'; test_done; }

host=$(uname -n)
echo "{\"weir\": {\"memory_mib\": [{\"hosts\": \"$host\", \"value\": 8192}]}}" >memory.json
cat >partitions.toml <<EOF
[modules]
alternatives.sched = "sched-weir-easy"
[resource]
noverify = true
scheduling = "$PWD/memory.json"
[[resource.config]]
hosts = "$host"
cores = "0-1"
[weir.route]
[queues.batch]
[queues.instances]

[[partition]]
name = "batch"
cores = 2
memory-per-node = "6GiB"
scheduler = "sched-weir-easy"
EOF
test_expect_success 'a copy of the prefix with Weir, with a partition that has memory' '
	copy_prefix && cp partitions.toml copy/etc/flux/system/conf.d/partitions.toml
'
cat >memory.sh <<\EOF
flux queue start --all --quiet
submit() { memory=$1 && shift && flux submit --queue=batch --setattr=weir.memory_per_slot=$memory "$@"; }
submit 1GiB --wait true
flux weir partition list
first=$(submit 4GiB sleep inf)
flux job wait-event -q -t 60 $first start
second=$(submit 3GiB true)
third=$(submit 2GiB --wait true) && echo the third passed
flux weir why $second
submit 7GiB true || echo refused
flux cancel $first
flux job wait-event -q -t 60 $second start && echo the second got it
flux job wait-event -q -t 60 $second clean
EOF
test_expect_success 'a job waits for memory, weir why says so, and what the partition does not have is refused' '
	inside memory.sh >out 2>&1; code=$?; cat out && test $code = 0 &&
	grep "^batch  *batch  *at most 6GiB of memory  *2 " out && grep "^the third passed" out &&
	grep "waits for 1 core and 3072 MiB, next to start; free: 1 core; at most 2048 MiB on one node" out &&
	grep "batch takes at most 6GiB of memory (it asks for 7GiB for its slot)" out && grep "^refused" out && grep "^the second got it" out
'
test_done
