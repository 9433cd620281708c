#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a partition of a partition in a stock Flux: it starts by itself, and an operator may stop its queue'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

follow_in_flux partitions.md
test "$(nproc)" -ge 2 || { skip_all='two partitions want two cores'; test_done; }

test_expect_success 'a copy of the prefix with Weir; batch has the partition deep' '
	copy_prefix && cat >copy/etc/flux/system/conf.d/partitions.toml <<-\EOF
	[weir.route]
	[queues.batch]
	[queues.instances]
	[[partition]]
	name = "batch"
	cores = 1
	[[partition.partition]]
	name = "deep"
	queues = ["batch"]
	cores = 1
	EOF
'
cat >deep.sh <<\EOF
flux queue start --all --quiet
timeout 60 flux submit --queue=batch --output=out --wait echo it ran in deep
cat out && flux weir tree
EOF
test_expect_success 'nobody starts a queue in batch, and a job of batch runs in deep' '
	inside deep.sh >deep.out 2>&1; code=$?; cat deep.out && test $code = 0 && grep "^it ran in deep" deep.out && grep "deep  *.*1/1\|deep  *.*0/1" deep.out
'
mkdir state && cat >kept.sh <<EOF
exec flux start --config-path="$FOLDER/conf.d" -Sstatedir="$PWD/state" bash -e "$PWD/stop.sh"
EOF
cat >stop.sh <<\EOF
# batch NAME: of the instance that serves
batch() { timeout 60 flux python -c 'import flux, sys
is_up = False
while not is_up:
    one = next(p for p in flux.Flux().rpc("job-route.partitions", {}).get()["partitions"] if p["name"] == "batch")
    is_up = one["state"] == "up" and str(one["instances"][0]["job"]) != sys.argv[2]
print(one["instances"][0][sys.argv[1]])' $1 ${2:-0}; }
uri() { batch uri $1 | sed 's,ssh://[^/]*,local://,'; }
flux queue start --all --quiet
timeout 60 flux submit --queue=batch --wait true
FLUX_URI=$(uri) flux queue status instances
FLUX_URI=$(uri) flux queue stop --quiet instances
old=$(batch job)
flux cancel $(flux job id --to=f58 $old)
FLUX_URI=$(uri $old) flux queue status instances
FLUX_URI=$(uri) flux queue start --all --quiet
EOF
test_expect_success 'a queue that an operator stopped in batch is still stopped when batch starts again' '
	inside kept.sh >kept.out 2>&1; code=$?; cat kept.out && test $code = 0 &&
	test $(grep -c "Scheduling is started" kept.out) = 1 && test $(grep -c "Scheduling is stopped" kept.out) = 1
'
test_done
