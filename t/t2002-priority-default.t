#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='Without job-priority a job keeps the priority it was created with: the first the highest'
. "${SHARNESS:-/usr/share/sharness/sharness.sh}"

start_instance 'cores = 1'

test_expect_success 'the first job has 2^31, each later one one less' '
	blocker=$(job submit -r 1000) && job wait $blocker start &&
	job submit --copies 5 >ids &&
	job jobs priority | sort -n >list &&
	{ echo "$blocker 2147483648" &&
	  n=1 && for id in $(cat ids); do echo "$id $((2147483648 - n))"; n=$((n + 1)); done; } | sort -n >expected &&
	test_cmp expected list
'
test_expect_success 'a refused job leaves no gap' '
	test_must_fail job submit -q nosuch &&
	id=$(job submit) &&
	job jobs priority | grep "^$id $((2147483648 - 6))$" &&
	echo $id >>ids
'
test_expect_success 'a change of urgency does not change the order' '
	id=$(sed -n 2p ids) &&
	job rpc job-manager.urgency "{\"id\":$id,\"urgency\":5}" &&
	job jobs priority | grep "^$id $((2147483648 - 2))$"
'
test_expect_success 'held and released, a job has its old priority again' '
	id=$(sed -n 3p ids) &&
	job rpc job-manager.urgency "{\"id\":$id,\"urgency\":0}" &&
	job jobs priority | grep "^$id 0$" &&
	job rpc job-manager.urgency "{\"id\":$id,\"urgency\":16}" &&
	job jobs priority | grep "^$id $((2147483648 - 3))$"
'
test_expect_success 'jobs start in the order in which they were created' '
	job rpc job-manager.raise "{\"id\":$blocker,\"severity\":0,\"type\":\"cancel\"}" &&
	job rpc job-manager.drain "{}" &&
	for id in $(cat ids); do echo "$(job wait $id alloc | jq .timestamp) $id"; done | sort -n | cut -d" " -f2 >started &&
	test_cmp ids started
'
test_expect_success 'the plugin can be removed and comes back last' '
	job rpc job-manager.jobtap "{\"query_only\":true}" | jq -e ".plugins == [\".priority-default\"]" &&
	job rpc job-manager.jobtap "{\"remove\":\".priority-default\"}" &&
	id=$(job submit) && job wait $id depend &&
	job jobs state priority | grep "^$id 4 null$" &&
	job rpc job-manager.jobtap "{\"load\":\".priority-default\"}" &&
	job wait $id clean
'
stop_instance
test_done
