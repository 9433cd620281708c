#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='The plugin host of the job-manager: order, priorities, services, refusals'
. "${SHARNESS:-/usr/share/sharness/sharness.sh}"

start_instance 'cores = 1'
TAP=$BUILD_DIR/t/plugins/test-tap.so
tap() { job rpc job-manager.testtap.do "$1"; }
priority_of() { job jobs priority | sed -n "s/^$1 //p"; }

test_expect_success 'a file without an entry point is refused with a sentence' '
	test_must_fail job rpc job-manager.jobtap "{\"load\":\"$BUILD_DIR/t/plugins/not-a-tap.so\"}" 2>err &&
	grep "does not export flux_plugin_init" err &&
	test_must_fail job rpc job-manager.jobtap "{\"load\":\"/nonexistent.so\"}" 2>err && grep nonexistent err
'
test_expect_success 'two jobs wait with default priorities' '
	blocker=$(job submit -r 100000) && job wait $blocker start &&
	first=$(job submit) && second=$(job submit) && job wait $second priority &&
	test $(priority_of $first) -eq 2147483647
'
test_expect_success 'loading a plugin reprioritizes all jobs, the last writer wins' '
	job rpc job-manager.jobtap "{\"load\":\"$TAP\",\"conf\":{\"priority\":77}}" &&
	job rpc job-manager.jobtap "{\"query_only\":true}" | jq -e ".plugins == [\".priority-default\",\"test-tap.so\"]" &&
	test $(priority_of $first) -eq 77 && test $(priority_of $second) -eq 77
'
test_expect_success 'loading it twice is refused' '
	test_must_fail job rpc job-manager.jobtap "{\"load\":\"$TAP\"}" 2>err && grep "already loaded" err
'
test_expect_success 'one job is reprioritized, unknown ids are ENOENT, running ones ignored' '
	tap "{\"op\":\"one\",\"id\":$second,\"priority\":99}" && test $(priority_of $second) -eq 99 &&
	job jobs state | head -1 | grep "^$second" &&
	test_must_fail tap "{\"op\":\"one\",\"id\":4711,\"priority\":1}" 2>err && grep "^2: " err &&
	tap "{\"op\":\"one\",\"id\":$blocker,\"priority\":1}"
'
test_expect_success 'the priority argument is an unsigned int' '
	tap "{\"op\":\"one\",\"id\":$second,\"priority\":-5}" && test $(priority_of $second) -eq 4294967291 &&
	tap "{\"op\":\"one\",\"id\":$second,\"priority\":4294967296}" && test $(priority_of $second) -eq 0
'
test_expect_success 'priority 0 withdraws the request: the job is held' '
	job rpc job-manager.alloc-query "{}" >query &&
	wait_until job-manager.alloc-query "{}" ".queue_length + .alloc_pending == 1" &&
	tap "{\"op\":\"one\",\"id\":$second,\"priority\":5}" && test $(priority_of $second) -eq 5
'
test_expect_success 'unavailable: a new job waits in PRIORITY, a scheduled one keeps its value' '
	tap "{\"op\":\"set\",\"priority\":-2}" &&
	third=$(job submit) && job wait $third depend &&
	job jobs state priority | grep "^$third 4 null$" &&
	tap "{\"op\":\"all\"}" && test $(priority_of $first) -eq 77 &&
	job jobs state | grep "^$third 4$" &&
	tap "{\"op\":\"one\",\"id\":$third,\"priority\":12}" && test $(priority_of $third) -eq 12
'
test_expect_success 'no answer leaves the default' '
	tap "{\"op\":\"set\",\"priority\":-1}" && tap "{\"op\":\"all\"}" &&
	test $(priority_of $third) -eq 2147483645
'
test_expect_success 'held and expedited jobs are not the plugin'\''s' '
	tap "{\"op\":\"set\",\"priority\":50}" &&
	held=$(job submit -u 0) && urgent=$(job submit -u 31) && job wait $urgent priority &&
	test $(priority_of $held) -eq 0 && test $(priority_of $urgent) -eq 4294967295 &&
	tap "{\"op\":\"all\"}" &&
	test $(priority_of $held) -eq 0 && test $(priority_of $urgent) -eq 4294967295
'
test_expect_success 'the plugin refuses a job in its own words, listeners hear invalidate' '
	test_must_fail job submit -S job.name=\"reject\" 2>err && grep "no jobs today" err &&
	job rpc job-list.job-stats "{}" | jq -e ".job_states.total == 6"
'
test_expect_success 'a dependency holds a job until it is removed' '
	id=$(job submit -S job.name=\"hold\") && job wait $id dependency-add &&
	job jobs state dependencies | grep "^$id 2 \[\"the-test\"\]$" &&
	tap "{\"op\":\"release\",\"id\":$id}" && job wait $id priority &&
	job events $id | grep "^submit dependency-add validate dependency-remove depend priority$"
'
test_expect_success 'an exception of the plugin ends a job' '
	tap "{\"op\":\"raise\",\"id\":$id}" && job wait $id clean &&
	job jobs exception_note | grep "^$id \"number 7\"$"
'
test_expect_success 'a bypassed job never asks for resources and runs by the plugin'\''s events' '
	id=$(job submit -S job.name=\"bypass\") && job wait $id set-flags &&
	before=$(job rpc job-manager.alloc-query "{}" | jq ".queue_length + .alloc_pending") &&
	test $before -eq $(job jobs state priority | grep -vc "^$id\|^$held\|^$blocker\| 64 ") &&
	tap "{\"op\":\"alloc\",\"id\":$id}" && job wait $id prolog-start &&
	tap "{\"op\":\"finish\",\"id\":$id}" && job wait $id clean &&
	job events $id | grep "alloc prolog-start finish prolog-finish free clean$"
'
test_expect_success 'a prolog delays the start' '
	tap "{\"op\":\"set\",\"priority\":4000000000}" &&
	id=$(job submit -S job.name=\"prolog\") &&
	job rpc job-manager.raise "{\"id\":$urgent,\"severity\":0,\"type\":\"cancel\"}" &&
	job rpc job-manager.raise "{\"id\":$blocker,\"severity\":0,\"type\":\"cancel\"}" &&
	job wait $id prolog-start &&
	tap "{\"op\":\"prolog-finish\",\"id\":$id}" && job wait $id clean &&
	job events $id | grep "alloc prolog-start prolog-finish start finish"
'
test_expect_success 'a plugin may end jobs while all are given priorities: the others get theirs' '
	blocker=$(job submit -r 100000) && job wait $blocker start &&
	job submit -u 1 --copies 2 -S job.name=\"fatal\" >fatal && job submit -u 1 >spared &&
	job submit -u 1 --copies 20 -S job.name=\"fatal\" >>fatal && job submit -u 1 >>spared &&
	tap "{\"op\":\"set\",\"priority\":123}" && tap "{\"op\":\"all\"}" &&
	for id in $(cat fatal); do job wait $id clean || return 1; done &&
	for id in $(cat spared); do test $(priority_of $id) -eq 123 || return 1; done &&
	job rpc job-manager.jobtap-query "{\"name\":\"test-tap.so\"}" >freed &&
	tap "{\"op\":\"set\",\"priority\":4000000000}" && tap "{\"op\":\"all\"}"
'
writes() { sed -n "s/^syscw: //p" /proc/$BROKER_PID/io; }
test_expect_success 'what a request to a plugin changes is on disk when it is answered, by one write for all' '
	job submit -u 1 --copies 300 >many && job wait $(tail -n 1 many) priority &&
	tap "{\"op\":\"set\",\"priority\":61}" && before=$(writes) &&
	tap "{\"op\":\"all\"}" && test "$(grep -c "\"priority\":61}" state/jobs.journal)" -ge 300 &&
	after=$(writes) && echo "$((after - before)) writes" && test $((after - before)) -lt 100 &&
	tap "{\"op\":\"set\",\"priority\":4000000000}" && tap "{\"op\":\"all\"}" &&
	job rpc job-manager.raiseall "{\"dry_run\":false,\"userid\":4294967295,\"states\":14,\"severity\":0,\"type\":\"cancel\"}"
'
test_expect_success 'the plugin'\''s items with jobs are freed with them' '
	job rpc job-manager.jobtap-query "{\"name\":\"test-tap.so\"}" | jq -e ".path == \"$TAP\" and .freed >= 4"
'
test_expect_success 'a removed plugin'\''s service is gone, priorities stay' '
	job rpc job-manager.raiseall "{\"dry_run\":false,\"userid\":4294967295,\"states\":62,\"severity\":0,\"type\":\"cancel\"}" &&
	job rpc job-manager.drain "{}" &&
	blocker=$(job submit -r 100000) && job wait $blocker start &&
	id=$(job submit) && job wait $id priority &&
	job rpc job-manager.jobtap "{\"remove\":\"test-tap.so\"}" &&
	test_must_fail tap "{\"op\":\"all\"}" 2>err && grep "^38: " err &&
	test $(priority_of $id) -eq 4000000000
'
test_expect_success 'a plugin of the configuration stands before jobs are restored' '
	printf "[job-manager]\nplugins = [{load = \"$TAP\", conf = {priority = 7}}]\n" >>broker.toml &&
	restart_instance TERM &&
	job jobs state priority | grep "^$id 8 7$" &&
	job events $id | grep "flux-restart priority$"
'
test_expect_success 'after a restart a plugin that does not know yet keeps jobs in PRIORITY, then the old value counts' '
	sed -i "s/priority = 7/priority = -2/" broker.toml &&
	restart_instance KILL &&
	job jobs state priority | grep "^$id 4 null$" &&
	tap "{\"op\":\"all\"}" && job jobs state priority | grep "^$id 4 null$" &&
	tap "{\"op\":\"set\",\"priority\":7}" && tap "{\"op\":\"all\"}" &&
	job jobs state priority | grep "^$id 8 7$"
'
test_expect_success 'a plugin refuses a configuration in its own words' '
	stop_instance;
	printf "[testtap]\nmood = \"bad\"\n" >>broker.toml &&
	test_must_fail launch_broker && grep "mood must not be bad" broker.out &&
	sed -i "/testtap/,\$d" broker.toml && launch_broker
'
stop_instance
test_expect_success 'a restart decodes no jobspec for the plugin of job-priority' '
	sed -i "/^\[job-manager\]/,\$d" broker.toml &&
	printf "[job-manager]\nplugins = [{load = \"$BUILD_DIR/lib/flux/job-manager/plugins/job-priority-tap.so\"}]\n" >>broker.toml &&
	launch_broker &&
	job jobs state | grep "^$id " && job rpc job-manager.stats-get "{}" | jq -e ".plugin_jobspecs == 0" &&
	job submit -u 20 && job rpc job-manager.stats-get "{}" | jq -e ".plugin_jobspecs > 0"
'
stop_instance
test_done
