#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the attribute alloc-bypass takes no other user past the partitions, their rules and their drains; the owner may use it'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir.users]
alice = 5001
[[partition]]
name = "batch"
cores = 2
takes = { cores-max = 1 }
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# bypass WORDS...: a job with the attribute
bypass() {
	weir submit --setattr alloc-bypass=1 --json "$@"
}
# runs_in_batch ID: it runs in the partition, well
runs_in_batch() {
	wait_event $1 alloc | jq -e ".annotations.weir.child == $(job_of batch)" && ended_well $1
}

test_expect_success 'a partition is up' '
	start_weir --cores 4 --config site.toml --statedir "$(pwd)/state" && are_up batch
'
test_expect_success 'the queue of the partitions takes no job of a user with it' '
	test_expect_code 1 bypass --user alice -q instances --simulate=1s x 2>err && cat err &&
	grep "the queue instances is for the partitions themselves: submit to batch" err
'
test_expect_success 'the rules of the partition hold for it' '
	test_expect_code 1 bypass --user alice -q batch -c2 --simulate=1s x 2>err && cat err &&
	grep "batch takes at most 1 core (it asks for 2 cores)" err
'
test_expect_success 'a drained partition keeps it waiting, also when job-route is loaded again, and it runs there when it is resumed' '
	weir partition drain batch && a=$(bypass --user alice -q batch --simulate=1s x | jq .id) && test $(child_of $a) = 0 &&
	load_route_again && b=$(bypass --user alice -q batch --simulate=1s x | jq .id) && test $(child_of $b) = 0 &&
	weir partition resume batch && runs_in_batch $a && runs_in_batch $b
'
test_expect_success 'a job of the owner with it is run by the instance itself' '
	c=$(bypass -q batch --simulate=0.1s x | jq .id) && wait_event $c alloc | jq -e ".annotations.weir.child == null" && ended_well $c
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
