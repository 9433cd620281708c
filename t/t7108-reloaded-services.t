#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='built-in services that are loaded again: nodes that are drained afterwards get no job, and running jobs go on'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"

test -f "$WEIR_BUILD_DIR/lib/flux/modules/sched-weir-easy.so" || { skip_all="sched-weir-easy.so is not built"; test_done; }
cat >conf.toml <<-\EOF
	[weir-broker]
	modules = ["kvs", "resource", "job-manager", "job-exec", "sched-weir-easy"]
	[[resource.config]]
	hosts = "node[0-3]"
	cores = "0-1"
EOF
mkdir state && chmod 700 state
reload() {
	call module.remove "{\"name\":\"$1\"}" && call module.load "{\"path\":\"$1\",\"args\":[]}"
}
# waits_for_nodes ID: when the scheduler knows the job, it says that nodes are down.
waits_for_nodes() {
	wait_until sched.why "{\"id\":$1}" ".reason != null" | tee why && jq -e ".reason == \"nodes-down\"" why
}

test_expect_success 'four nodes, one of them drained' '
	start_broker one -c conf.toml -S "statedir=$PWD/state" &&
	call resource.drain "{\"targets\":\"3\",\"reason\":\"fan\"}"
'
test_expect_success 'resource is loaded again: the scheduler asks it anew and is told of the drained node' '
	reload resource && log_has "the resource service is gone" && log_has "the resources were acquired again" &&
	call resource.stats-get | jq -e ".acquirers == 1" &&
	small=$(submit -n6 --simulate 0.01s -- true) && wait_event "$small" clean &&
	wide=$(submit -n8 --simulate 0.01s -- true) && waits_for_nodes $wide
'
test_expect_success 'it is told of each drain and undrain as before' '
	call resource.undrain "{\"targets\":\"3\"}" && wait_event "$wide" clean &&
	call resource.drain "{\"targets\":\"0-3\",\"reason\":\"test\"}" &&
	id=$(submit --simulate 0.01s -- true) && waits_for_nodes $id &&
	call resource.undrain "{\"targets\":\"1\"}" && wait_event "$id" clean &&
	call job-info.lookup "{\"id\":$id,\"keys\":[\"R\"],\"flags\":0}" | jq -r .R |
		jq -e ".execution.R_lite[0].rank == \"1\""
'
test_expect_success 'without a resource service for a while the scheduler waits for one, and what runs goes on' '
	holder=$(submit --simulate 1000s -- true) && wait_event "$holder" start &&
	call module.remove "{\"name\":\"resource\"}" && log_has "the resource service is gone" 2 &&
	call sched.stats-get | jq -e ".ready and .running == 1" &&
	call module.load "{\"path\":\"resource\",\"args\":[]}" && log_has "the resources were acquired again" 2 &&
	call resource.undrain "{\"targets\":\"0,2-3\"}" &&
	id=$(submit -n7 --simulate 0.01s -- true) && wait_event "$id" clean &&
	call job-manager.raise "{\"id\":$holder,\"severity\":0,\"type\":\"cancel\"}" && wait_event "$holder" clean
'
test_expect_success 'a follower of the journal of resources is told of the end' '
	mkfifo journal && { stream resource.journal >journal & } && exec 8<journal && read -r first <&8 &&
	reload resource && cat <&8 >rest && exec 8<&- && cat rest && grep "^error 38" rest
'
test_expect_success 'kvs is loaded again, then the scheduler: what runs keeps its resources' '
	holder=$(submit -n2 --simulate 1000s -- true) && wait_event "$holder" start && reload kvs &&
	call module.remove "{\"name\":\"sched-weir-easy\"}" &&
	call module.load "{\"path\":\"$WEIR_BUILD_DIR/lib/flux/modules/sched-weir-easy.so\",\"args\":[]}" &&
	id=$(submit -n6 --simulate 0.01s -- true) && wait_event "$id" clean &&
	call sched.stats-get | jq -e ".running == 1 and .free_cores == 6" &&
	call job-list.list-id "{\"id\":$holder,\"attrs\":[\"state\"]}" | jq -e ".job.state == 16" &&
	call job-manager.raise "{\"id\":$holder,\"severity\":0,\"type\":\"cancel\"}" && wait_event "$holder" clean
'
test_expect_success 'the broker stops' '
	stop_broker one
'
test_done
