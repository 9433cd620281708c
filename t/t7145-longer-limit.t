#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the time limit of a running job changes: execution, scheduler and journal follow it, also over a restart'
. "${SHARNESS:-/usr/share/sharness/sharness.sh}"

start_instance 'cores = 1'
# limited LIMIT RUN: a simulated job that starts at once
limited() {
	id=$(job submit -t "$1" -r "$2") && job wait $id start
}
# limit SECONDS: of that job, as flux update does
limit() {
	job rpc job-manager.update "{\"id\":$id,\"updates\":{\"attributes.system.duration\":$1}}"
}
# lasts SECONDS: so the job's R says
lasts() {
	job rpc job-info.lookup "{\"id\":$id,\"keys\":[\"R\"],\"flags\":2}" | jq -r .R |
		jq -e ".execution | .expiration - .starttime - $1 | . < 0.001 and . > -0.001"
}
end() {
	job rpc job-manager.raise "{\"id\":$id,\"severity\":0,\"type\":\"cancel\"}" && job wait $id clean
}

test_expect_success 'a longer limit: what would have ended runs to its end' '
	limited 5 6 && limit 600 && lasts 600 && job wait $id clean && ! job events $id | grep exception &&
	job events $id | grep "start jobspec-update resource-update finish"
'
test_expect_success 'a shorter one: it ends by its limit' '
	limited 600 600 && limit 5 && job wait $id clean && job events $id | grep exception
'
test_expect_success 'a process as well' '
	id=$(job submit -t 600 -- sleep 600) && job wait $id start && limit 5 && job wait $id clean && job events $id | grep exception
'
test_expect_success 'an end in the past is refused, so is any other change of a running job; nothing changes' '
	limited 600 600 && test_must_fail limit 0.000001 2>out && cat out && grep "places job expiration in the past" out && lasts 600 &&
	test_must_fail job rpc job-manager.update "{\"id\":$id,\"updates\":{\"attributes.system.duration\":900,\"attributes.system.queue\":\"x\"}}" &&
	test_must_fail limit -1 && test_must_fail limit "\"1h\"" && lasts 600 && ! job events $id | grep update && end
'
test_expect_success 'the new limit holds after a restart' '
	limited 600 600 && limit 5 && restart_instance KILL && lasts 5 && job wait $id clean && job events $id | grep exception
'
test_expect_success 'without a limit a job has no end' '
	limited 600 600 && limit 0 && job rpc job-info.lookup "{\"id\":$id,\"keys\":[\"R\"],\"flags\":2}" | jq -r .R | jq -e ".execution.expiration == 0" && end
'
test_expect_success 'it ends' '
	stop_instance
'
test_done
