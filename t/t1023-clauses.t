#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='limits of clauses of RFCs that doc/rfc-map.md names and no other test meets'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"

test_expect_success 'a broker with 300 cores starts' '
	broker_config "resource job-manager job-exec sched-weir-fcfs" "$WEIR_BUILD_DIR/lib/flux/job-manager/plugins/job-priority-tap.so" 0-299 >conf.toml &&
	sed -i "/^\[job-manager\]/d; /^plugins/d" conf.toml && start_broker here -c conf.toml
'
# with_pmi COUNT: how many tasks of such a job have a PMI descriptor
with_pmi() {
	id=$(submit -n "$1" -- sh -c "test -z \"\$PMI_FD\" || echo \"\$PMI_SIZE\"") && wait_event $id clean >/dev/null &&
		call job-info.lookup "{\"id\":$id,\"keys\":[\"guest.output\"],\"flags\":0}" >answer && jq -r ".[\"guest.output\"]" answer |
		jq -r "select(.name == \"data\") | .context.data" | grep -c "^$1$"
}
test_expect_success 'a job of 256 tasks has PMI, one of 257 has none' '
	test "$(with_pmi 256)" = 256 && test "$(with_pmi 257)" = 0
'
test_expect_success '17 MiB of output come as a stream, and one answer of job-info.lookup refuses them' '
	id=$(submit -- sh -c "yes \$(printf %01023d 7) | head -n 17408") && wait_event $id clean &&
	test_must_fail call job-info.lookup "{\"id\":$id,\"keys\":[\"guest.output\"],\"flags\":0}" >refused && cat refused &&
	grep "guest.output: is larger than 16 MiB; read it as a stream" refused &&
	stream job-info.eventlog-watch "{\"id\":$id,\"path\":\"guest.output\",\"flags\":0}" >events; tail -n 1 events | cut -c1-200 &&
	test "$(grep -o "0000007" events | wc -l)" = 17408
'
test_expect_success 'it stops' '
	stop_broker here
'
test_done
