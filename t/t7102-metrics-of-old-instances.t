#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir metrics while a partition has an old and a new instance: each series once, with the sum of both'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

printf '[[partition]]\nname = "a"\ncores = 2\n' >site.toml
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI

test_expect_success 'a running job ends in the old instance, beside the new one' '
	start_weir --cores 8 --config site.toml && are_up a && gated runs -q a && wait_event $runs start &&
	weir partition resize a --cores 3 && partition a "select(.state == \"up\" and .cores == 3)" &&
	weir tree --json >tree && jq -e "[.children[].cores] | sort == [2, 3]" tree
'
test_expect_success 'no series is told twice' '
	weir metrics >metrics && grep -v "^#" metrics | sed "s/ [^ ]*$//" | sort | uniq -d >twice && test_must_be_empty twice
'
test_expect_success 'jobs and cores are those of both, and the partition is up' '
	grep "^weir_partition" metrics >told && cat >expected <<-\EOF && test_cmp expected told
	weir_partition_up{partition="a"} 1
	weir_partition_jobs{partition="a",state="pending"} 0
	weir_partition_jobs{partition="a",state="running"} 1
	weir_partition_cores{partition="a",state="all"} 5
	weir_partition_cores{partition="a",state="busy"} 1
	EOF
'
test_expect_success 'with the job the old instance ends, and its cores go' '
	open_gate runs && ended_well $runs && partition a "select(.instances | length == 1)" &&
	weir metrics >metrics && grep "^weir_partition_cores{partition=\"a\",state=\"all\"} 3$" metrics
'
test_done
