#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='[policy.limits] and those of queues refuse the same jobs with the embedded broker as with a stock Flux

Skipped where there is no flux (PATH or WEIR_FLUX).'

. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

require_some_broker
test -x "$WEIR_BROKER" || { skip_all="$WEIR_BROKER is not built"; test_done; }

conf_of_both
cat >>conf.toml <<-\EOF
	gpus = "0-3"
	[policy.jobspec.defaults.system]
	queue = "batch"
	[policy.limits]
	duration = "2h"
	job-size.max.ncores = 6
	job-size.max.ngpus = 2
	[queues.batch]
	[queues.debug.policy]
	jobspec.defaults.system.duration = "5m"
	limits.duration = "10m"
	limits.job-size.max.nnodes = 1
	[queues.big.policy.limits]
	duration = "0"
	job-size.max.ncores = -1
	job-size.min.nnodes = 1
EOF
cat >cases.sh <<-\EOF
	try() {
	    echo "== $*"
	    if id=$(flux submit --urgency=0 "$@" true 2>err); then
	        echo accepted
	    else
	        sed "s/^flux-submit: ERROR: //; s/\[Errno [0-9]*\] //" err
	    fi
	}
	update() {
	    echo "== update $1"
	    flux update $id "$1" 2>&1 | sed "s/.*ERROR: //"
	    flux jobs -no "{queue} {duration}" $id
	}
	try -n1 -t 2h
	try -n1 -t 3h
	try -n1
	try -n6 -t 1h
	try -n7 -t 1h
	try -N1 -n3 -c2 -t 1h
	try -N1 -n4 -c2 -t 1h
	try -n2 -g1 -t 1h
	try -n3 -g1 -t 1h
	try -q debug -n1
	try -q debug -n1 -t 10m
	try -q debug -n1 -t 11m
	try -q debug -n7 -t 5m
	try -q debug -N2 -t 5m
	try -q big -N1 -n8
	try -q big -n8 -t 3h
	try -q big -N1 -n8 -t 3h
	update queue=debug
	update queue=batch
	try -n1 -t 1h
	update queue=debug
	update duration=10h
	update queue=big
	flux cancel --all --quiet
EOF

test_expect_success 'both brokers refuse the same jobs with the same words' '
	start_broker here -c conf.toml && bash cases.sh >here.out 2>&1 && cat here.out &&
	env -u FLUX_URI flux start --test-size=1 --config-path="$PWD/conf.toml" bash cases.sh >stock.out 2>&1 &&
	test_cmp stock.out here.out && test "$(grep -c "policy limit" here.out)" -ge 10
'
test_expect_success 'a reload puts other limits in force for new jobs' '
	sed -i "s/^duration = \"2h\"/duration = \"1h\"/" conf.toml && flux config reload &&
	test_must_fail flux submit -n1 -t 90m true 2>err && cat err &&
	grep "requested duration (1h 30m) exceeds policy limit of 1h for queue batch" err
'
test_expect_success 'a bad limit is refused with its key, and the old ones stay' '
	sed -i "s/ncores = 6/ncores = \"six\"/" conf.toml && test_must_fail flux config reload 2>err && cat err &&
	grep "limits.job-size.max.ncores = .six.: must be -1" err && test_must_fail flux submit -n7 -t 30m true 2>err &&
	grep "policy limit of 6" err
'
test_expect_success 'the broker stops' '
	stop_broker here
'
test_done
