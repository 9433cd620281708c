#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='rules of partitions in a stock Flux: flux submit is refused; flux update and a reload bring jobs back'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

follow_in_flux partitions.md
test "$(nproc)" -ge 2 || { skip_all='two partitions want two cores'; test_done; }

cat >partitions.toml <<\EOF
[weir.route]
[queues.batch]
[queues.instances]

[[partition]]
name = "short"
queues = ["batch"]
cores = 1
takes = { duration-max = "1h" }

[[partition]]
name = "bio"
queues = ["batch"]
cores = 1
takes = { accounts = ["bio"] }
EOF
test_expect_success 'a copy of the prefix with Weir, with rules' '
	copy_prefix && cp partitions.toml copy/etc/flux/system/conf.d/partitions.toml
'
cat >rules.sh <<\EOF
flux queue start --all --quiet
submit() { flux submit --queue=batch "$@"; }
submit --time-limit=30m --wait true
flux weir partition list
submit --time-limit=2h true || echo refused
short=$(submit --time-limit=30m sleep inf)
flux job wait-event -q -t 60 $short start
waits=$(submit --time-limit=30m true)
flux job wait-event -q -t 60 $waits weir.route
bio=$(submit --time-limit=2h --bank=lab/bio/x sleep inf)
flux job wait-event -q -t 60 $bio start && echo bio runs
flux update $waits duration=3h
flux update $waits duration=20m
flux job wait-event -q -t 60 --count=2 $waits weir.route && echo it came back and went there again
sed -i s/1h/10m/ "$FOLDER/conf.d/partitions.toml"
flux config reload
flux weir why $waits
flux cancel $short $bio $waits
flux job wait-event -q -t 60 $short clean
flux job wait-event -q -t 60 $bio clean
EOF
test_expect_success 'the plugin refuses and names the rules; a job that changes goes elsewhere; weir why says why it waits' '
	inside rules.sh >out 2>&1; code=$?; cat out && test $code = 0 &&
	grep "^short  *batch  *at most 1h  *1 " out && grep "^bio  *batch  *account bio  *1 " out && grep "^refused" out &&
	grep "no partition of the queue batch takes this job: short takes at most 1h (it asks for 2h); bio takes account bio (it has no account)" out &&
	grep "^bio runs" out && grep "^it came back" out &&
	grep "waits for a partition that takes it" out && grep "^The partition short takes at most 10m; it asks for 20m" out
'
test_done
