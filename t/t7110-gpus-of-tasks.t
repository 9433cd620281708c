#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='tasks are told which gpus their job has, as the job shell of a stock Flux tells them

Skipped where there is no flux (PATH or WEIR_FLUX).'

. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

require_some_broker
test -x "$WEIR_BROKER" || { skip_all="$WEIR_BROKER is not built"; test_done; }

conf_of_both
echo 'gpus = "0-3"' >>conf.toml
cat >told.sh <<-\EOF
	#!/bin/sh
	echo "$FLUX_TASK_RANK ${CUDA_VISIBLE_DEVICES:-nothing} ${CUDA_DEVICE_ORDER:-nothing} ${WEIR_TASK_GPUS-}"
EOF
chmod +x told.sh
cat >cases.sh <<-\EOF
	unset CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER
	run() { echo "== $*"; flux run --quiet "$@" ./told.sh </dev/null 2>&1 | sort; }
	run -n1
	run -n1 -g1
	run -n2 -g1
	run -n2 -g2 -o gpu-affinity=per-task
	run -n2 -g1 -o gpu-affinity=off
	run -n1 -g1 -o gpu-affinity=off --env=CUDA_VISIBLE_DEVICES=7
	run -n1 -g1 --env=CUDA_VISIBLE_DEVICES=7 --env=CUDA_DEVICE_ORDER=FASTEST_FIRST
EOF

cat >nodes.toml <<-\EOF
	[weir-broker]
	modules = ["kvs", "resource", "job-manager", "job-exec", "sched-weir-fcfs"]
	[resource]
	noverify = true
	[[resource.config]]
	hosts = "fake[0-1]"
	cores = "0-3"
	gpus = "0-3"
EOF
# The first job of one node has the first gpu of node 0, so that the nodes of the others differ.
cat >nodes.sh <<-\EOF
	unset CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER
	run() { echo "== $*"; flux run --quiet "$@" -o cpu-affinity=off ./told.sh </dev/null | sort; }
	first=$(flux submit -N1 -n1 -g1 sleep inf)
	flux job wait-event -q $first start
	run -N2 -n2
	run -N2 -n2 -g1
	run -N2 -n2 -g3
	run -N2 -n6 -g1
	run -N2 -n4 -g1 -o gpu-affinity=per-task
	run -N2 -n2 -g1 -o gpu-affinity=off
	flux cancel $first
	flux job wait-event -q $first clean
	run -N2 --tasks-per-node=2 --gpus-per-node=2 -o gpu-affinity=per-task
EOF
test_expect_success 'both tell the tasks of a job of several nodes the gpus of the node of each' '
	start_broker nodes -c nodes.toml && bash nodes.sh >here.out && cat here.out && stop_broker nodes && unset FLUX_URI &&
	flux start --test-size=2 --test-hosts="fake[0-1]" --config-path="$PWD/nodes.toml" bash nodes.sh >stock.out &&
	test_cmp stock.out here.out && grep "^0 1,2,3 PCI_BUS_ID" here.out && grep "^1 0,1,2 PCI_BUS_ID" here.out
'
test_expect_success 'both brokers tell the same' '
	start_broker here -c conf.toml && bash cases.sh >here.out && cat here.out &&
	env -u FLUX_URI flux start --test-size=1 --config-path="$PWD/conf.toml" bash cases.sh >stock.out &&
	test_cmp stock.out here.out && grep "^1 2,3 PCI_BUS_ID" here.out
'
test_expect_success 'two jobs at a time have different gpus' '
	rm -f go && mkfifo go && cat >held.sh <<-\EOF &&
		./told.sh
		read line <go
	EOF
	first=$(flux submit -n1 -g1 --output=first.out sh held.sh) && flux job wait-event -q $first start &&
	flux run -n1 -g1 ./told.sh >second.out </dev/null && echo >go && flux job wait-event -q $first clean &&
	cat first.out second.out | sort -u >both && cat both && test $(wc -l <both) = 2
'
test_expect_success 'an instance that is a job tells its jobs which of the gpus above they have' '
	cat >child.toml <<-\EOF &&
		[weir-broker]
		modules = ["kvs", "resource", "job-manager", "job-exec", "sched-weir-fcfs"]
	EOF
	cat >child.sh <<-EOF &&
		exec "$WEIR_BROKER" -c "$PWD/child.toml" --rundir "$PWD/inner" --ready-fd 9 9>"$PWD/inner.ready"
	EOF
	mkdir inner && chmod 700 inner && rm -f inner.ready && mkfifo inner.ready &&
	first=$(flux submit -n1 -g1 --output=first.out sh held.sh) && flux job wait-event -q $first start &&
	child=$(flux submit -n1 -c2 -g2 --output=child.out sh child.sh) && read -r uri <inner.ready && test -n "$uri" &&
	(FLUX_URI=$uri && export FLUX_URI && flux run -n2 -g1 ./told.sh </dev/null &&
		flux run -n2 -g1 -o gpu-affinity=per-task ./told.sh </dev/null) >inner.out && cat inner.out &&
	{ echo "0 1,2 PCI_BUS_ID " && echo "1 1,2 PCI_BUS_ID " && echo "0 1 PCI_BUS_ID " && echo "1 2 PCI_BUS_ID "; } |
		sort >expected && sort inner.out >sorted && test_cmp expected sorted &&
	echo >go && flux cancel $child && flux job wait-event -q $child clean
'
test_expect_success 'the broker stops' '
	stop_broker here
'
test_done
