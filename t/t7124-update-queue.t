#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='flux update JOB queue=NAME: the job runs on nodes of its new queue, if that is enabled, with the embedded broker as with a stock Flux

Skipped where there is no flux (PATH or WEIR_FLUX).'

. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

require_some_broker
test -x "$WEIR_BROKER" || { skip_all="$WEIR_BROKER is not built"; test_done; }

cat >conf.toml <<-\EOF
	[weir-broker]
	modules = ["kvs", "resource", "job-manager", "job-exec", "sched-weir-easy"]
	[queues.slow]
	requires = ["slow"]
	[queues.fast]
	requires = ["fast"]
	[queues.any]
	[resource]
	noverify = true
	[[resource.config]]
	hosts = "node[0-1]"
	cores = "0-3"
	[[resource.config]]
	hosts = "node0"
	properties = ["slow"]
	[[resource.config]]
	hosts = "node1"
	properties = ["fast"]
EOF
cat >cases.sh <<-\EOF
	submit() {
	    flux submit -N1 -n4 --setattr=exec.test.run_duration=1000s "$@" true
	}
	constraints() {
	    flux job info $1 jobspec | jq -c .attributes.system.constraints
	}
	flux queue start --all --quiet
	slow=$(submit -q slow)
	fast=$(submit -q fast)
	flux job wait-event -q -t 60 $slow alloc
	flux job wait-event -q -t 60 $fast alloc
	moves=$(submit -q slow)
	flux job wait-event -q -t 60 $moves priority
	flux update $moves queue=fast
	constraints $moves
	held=$(submit --urgency=hold -q slow)
	flux update $held queue=any
	constraints $held
	flux queue disable --quiet -m closed fast
	flux update $held queue=fast 2>&1 | sed "s/^.*: //"
	flux job info $held jobspec | jq -r .attributes.system.queue
	flux update $held duration=5m
	flux queue enable --quiet fast
	flux cancel $slow
	flux job wait-event -q -t 60 $slow clean
	flux cancel $fast
	flux job wait-event -q -t 60 $moves alloc
	flux job info $moves R | jq -r ".execution.nodelist[]"
	flux cancel --all --quiet
EOF

test_expect_success 'both brokers give the job the constraints and the node of its new queue, and refuse one that is disabled' '
	start_broker here -c conf.toml && { bash -e cases.sh >here.out 2>&1; cat here.out; } &&
	env -u FLUX_URI flux start --test-size=2 --test-hosts="node[0-1]" --config-path="$PWD/conf.toml" bash -e cases.sh >stock.out 2>&1 &&
	test_cmp stock.out here.out && grep "^node1" here.out
'
test_expect_success 'constraints of the job itself stay' '
	own=$(flux submit -n1 --urgency=hold -q slow --requires=hosts:node0 true) && flux update $own queue=any &&
	flux job info $own jobspec | jq -ce ".attributes.system.constraints == {hostlist: [\"node0\"]}" &&
	flux update $own queue=fast && flux job info $own jobspec |
	jq -ce ".attributes.system.constraints == {and: [{hostlist: [\"node0\"]}, {properties: [\"fast\"]}]}"
'
test_expect_success 'the broker stops' '
	stop_broker here
'
test_done
