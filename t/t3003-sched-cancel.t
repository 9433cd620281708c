#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a job that is cancelled while its R is on its way into the KVS does not start, on every broker here

Brokers without KVS, resource and job-manager: the test is these three, and answers the commit when it wants.'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
require_some_broker

peers_in_flux() {
	flux start --test-size=1 --setattr=broker.module-nopanic=1 -Sbroker.rc1_path= -Sbroker.rc3_path= \
		python3 "$SHARNESS_TEST_SRCDIR/tools/sched_peers.py" "$1" stock
}
peers_in_weir() {
	mkdir -p -m 700 instance-conf state && printf '[weir-broker]\nmodules = []\n' >instance-conf/instance.toml &&
	boot_weir "$PWD/state" || return 1
	python3 "$SHARNESS_TEST_SRCDIR/tools/sched_peers.py" "$1"
	status=$?
	kill -TERM "$weir_pid"
	forget_weir
	return $status
}

for broker in $BROKERS; do
	for module in sched-weir-fcfs sched-weir-easy; do
		each_step "$broker: $module" "peers_in_$broker" "$WEIR_BUILD_DIR/lib/flux/modules/$module.so"
	done
done
test_expect_success 'weir: the schedulers are found under the names that they had in earlier releases too' '
	printf "weir-broker.modules = [\"kvs\", \"resource\", \"job-manager\", \"job-exec\", \"sched-backfill\"]\n" >instance-conf/instance.toml &&
	mkdir -m 700 former && boot_weir "$PWD/former" &&
	flux module list >former.list && grep "^sched-backfill .*sched" former.list &&
	flux job wait-event -t 60 $(flux submit -n1 true) clean; code=$?
	kill -TERM "$weir_pid"; forget_weir; test $code = 0
'
test_done
