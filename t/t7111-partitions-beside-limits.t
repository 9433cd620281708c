#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='[policy.limits] of a site hold for the jobs of partitions, and not for the partitions'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[resource]
noverify = true
[[resource.config]]
hosts = "node[0-1]"
cores = "0-1"
[policy.limits]
duration = "2h"
job-size.max.ncores = 1
[[partition]]
name = "one"
queues = ["batch"]
nodes = 2
cores-per-node = 2
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI

test_expect_success 'a partition that is larger and has no time limit starts' '
	start_weir --config site.toml && are_up one
'
test_expect_success 'its jobs keep the limits' '
	ended_well $(weir submit --json -q batch -n1 -t 1h true | jq .id) &&
	test_must_fail weir submit -q batch -n2 -t 1h true 2>err && grep "requested ncores (2) exceeds policy limit of 1" err &&
	test_must_fail weir submit -q batch -n1 -t 3h true 2>err && grep "exceeds policy limit of 2h" err
'
test_done
