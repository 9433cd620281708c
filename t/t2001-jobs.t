#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='A job in the embedded broker: states, events, lists, control (RFC 21, 18, 30)'
. "${SHARNESS:-/usr/share/sharness/sharness.sh}"

start_instance 'cores = 4'

test_expect_success 'a simulated job has the events of RFC 21 in order' '
	id=$(job submit) &&
	job wait $id clean &&
	job events $id >events &&
	echo "submit validate depend priority alloc start finish release free clean" >expected &&
	test_cmp expected events
'
test_expect_success 'timestamps are whole microseconds and strictly increase' '
	job rpc job-info.lookup "{\"id\":$id,\"keys\":[\"eventlog\"],\"flags\":0}" |
		jq -r .eventlog | jq -r .timestamp >times &&
	sort -n -u times >sorted &&
	test_cmp times sorted &&
	job rpc job-info.lookup "{\"id\":$id,\"keys\":[\"eventlog\"],\"flags\":0}" | jq -r .eventlog |
		grep -c "^{\"timestamp\": *[0-9]*\.[0-9]\{6\}," >digits &&
	echo 10 >expected && test_cmp expected digits
'
test_expect_success 'R is there, and a missing key is named' '
	job rpc job-info.lookup "{\"id\":$id,\"keys\":[\"R\"],\"flags\":1}" | jq -e .R.execution.R_lite &&
	test_must_fail job rpc job-info.lookup "{\"id\":$id,\"keys\":[\"foo\"],\"flags\":0}" 2>err &&
	grep "foo: key not found" err
'
test_expect_success 'a held job waits, released it runs' '
	held=$(job submit -u 0) &&
	job wait $held priority &&
	after=$(job submit) &&
	job wait $after clean &&
	job jobs state priority | grep "^$held 8 0$" &&
	job rpc job-manager.urgency "{\"id\":$held,\"urgency\":16}" | jq -e ".old_urgency == 0" &&
	job wait $held clean
'
test_expect_success 'an expedited job overtakes' '
	blocker=$(job submit -n4 -r 1000) &&
	job wait $blocker start &&
	first=$(job submit -n4) &&
	second=$(job submit -n4 -u 31) &&
	job jobs priority | head -1 | grep "^$second 4294967295$" &&
	job rpc job-manager.raise "{\"id\":$blocker,\"severity\":0,\"type\":\"cancel\"}" &&
	job wait $first clean &&
	job wait $second alloc >second && job wait $first alloc >first &&
	test $(jq -s "(.[0].timestamp < .[1].timestamp)" second first) = true
'
test_expect_success 'a canceled pending job is cleaned up without running' '
	blocker=$(job submit -n4 -r 1000) &&
	job wait $blocker start &&
	id=$(job submit) &&
	job wait $id priority &&
	job rpc job-manager.raise "{\"id\":$id,\"severity\":0,\"type\":\"cancel\",\"note\":\"enough\"}" &&
	job wait $id clean &&
	job events $id >events &&
	echo "submit validate depend priority exception clean" >expected &&
	test_cmp expected events &&
	job jobs result exception_note | grep "^$id 4 \"enough\"$"
'
test_expect_success 'urgency cannot change once resources are allocated' '
	test_must_fail job rpc job-manager.urgency "{\"id\":$blocker,\"urgency\":3}" 2>err &&
	grep "urgency cannot be changed once resources are allocated" err
'
test_expect_success 'a memo shows in the annotations' '
	job rpc job-manager.memo "{\"id\":$blocker,\"memo\":{\"uri\":\"x\"}}" &&
	job jobs annotations | grep "^$blocker .*\"uri\": \"x\""
'
test_expect_success 'lists go pending, running, ended; pending by priority' '
	low=$(job submit) && high=$(job submit -u 31) &&
	job jobs state | head -3 >list &&
	printf "%s 8\n%s 8\n%s 16\n" $high $low $blocker >expected &&
	test_cmp expected list
'
test_expect_success 'statistics count them' '
	job rpc job-list.job-stats | jq -e ".job_states.run == 1 and .job_states.sched == 2 and .canceled == 2"
'
cat >awkward.json <<-\EOF
	{"text": "a \"quoted\" back\\slash, a\nline, \u0001 and \u00e4"}
EOF
test_expect_success 'names and notes that need escaping reach lists, events and waiting clients as they were' '
	id=$(job submit -u 0 -S "job.name=$(jq .text awkward.json)") &&
	job rpc job-manager.raise "$(jq -c "{id: $id, severity: 0, type: \"cancel\", note: .text}" awkward.json)" &&
	job wait $id clean &&
	job rpc job-list.list-id "{\"id\":$id,\"attrs\":[\"name\",\"exception_note\"]}" >listed.json &&
	jq -e --slurpfile was awkward.json ".job.name == \$was[0].text" listed.json &&
	jq -e --slurpfile was awkward.json ".job.exception_note == \$was[0].text" listed.json &&
	job rpc job-info.lookup "{\"id\":$id,\"keys\":[\"eventlog\"],\"flags\":0}" | jq -r .eventlog >lines &&
	jq -e -s --slurpfile was awkward.json "map(select(.name == \"exception\"))[0].context.note == \$was[0].text" lines
'
test_expect_success 'all jobs can be canceled at once' '
	job rpc job-manager.raiseall "{\"dry_run\":false,\"userid\":4294967295,\"states\":62,\"severity\":0,\"type\":\"cancel\"}" |
		jq -e ".count == 3 and .errors == 0" &&
	job rpc job-manager.drain "{}"
'
test_expect_success 'a bad jobspec is refused with the path of the key' '
	test_must_fail job submit -S duration=-1 2>err &&
	grep "attributes.system.duration" err
'
test_expect_success 'an unknown queue is refused' '
	test_must_fail job submit -q nosuch 2>err &&
	grep "nosuch.* is not a valid queue" err
'
test_expect_success 'unknown dependency schemes are refused' '
	test_must_fail job submit -S "dependencies=[{\"scheme\":\"magic\",\"value\":\"1\"}]" 2>err &&
	grep "dependency scheme \"magic\" not supported" err
'
test_expect_success 'a stopped queue keeps jobs, a started one runs them' '
	job rpc job-manager.queue-start "{\"start\":false,\"all\":true,\"reason\":\"test\"}" &&
	id=$(job submit) && job wait $id priority &&
	job rpc job-manager.alloc-query "{}" | jq -e ".queue_length == 0 and .alloc_pending == 0" &&
	job rpc job-manager.queue-start "{\"start\":true,\"all\":true}" &&
	job wait $id clean
'
test_expect_success 'an eventlog-watch of an unknown job fails' '
	test_must_fail job wait 4711 clean 2>err && grep "invalid job id" err
'
test_expect_success 'the stream of all events begins with a backlog and can be cut by a filter' '
	job stream job-manager.events-journal "{\"full\":true,\"allow\":{\"clean\":1}}" >journal &
	stream=$! &&
	id=$(job submit) && job wait $id clean &&
	until grep -q "\"id\": $id,.*clean" journal; do kill -0 $stream || return 1; done &&
	kill $stream &&
	grep -q "\"id\": -1, \"events\": \[\]" journal &&
	! grep -q "\"alloc\"" journal
'
test_expect_success 'behind the backlog a response has the events of one job in one turn, in the order of the eventlog' '
	job stream job-manager.events-journal "{}" >live &
	stream=$! &&
	until grep -q "\"id\": -1" live; do kill -0 $stream || return 1; done &&
	id=$(job submit) && job wait $id clean &&
	until grep -q "\"id\": $id,.*clean" live; do kill -0 $stream || return 1; done &&
	kill $stream &&
	sed "0,/\"id\": -1,/d" live >after &&
	job events $id | xargs -n 1 >expected &&
	jq -r "select(.id == $id) | .events[].name" after | grep -v annotations >got &&
	test_cmp expected got &&
	: "those of a submission and those of an end come together" &&
	jq -s -e "map([.events[].name]) | any(index(\"submit\") != null and index(\"depend\") != null)" after &&
	jq -s -e "map([.events[].name]) | any(index(\"free\") != null and index(\"clean\") != null)" after &&
	jq -s -e "map(select(.jobspec)) | map(.events[0].name) == [\"submit\"]" after &&
	jq -s -e "map(select(.R)) | map(.events[0].name) == [\"alloc\"]" after
'
test_expect_success 'the events of several jobs come in the order in which they were posted' '
	job stream job-manager.events-journal "{\"deny\":{\"annotations\":1}}" >several &
	stream=$! &&
	until grep -q "\"id\": -1" several; do kill -0 $stream || return 1; done &&
	ids="$(job submit) $(job submit) $(job submit)" &&
	for id in $ids; do job wait $id clean || return 1; done &&
	for id in $ids; do
		until grep -q "\"id\": $id,.*clean" several; do kill -0 $stream || return 1; done
	done &&
	kill $stream &&
	sed "0,/\"id\": -1,/d" several >after &&
	jq -s -e "map(.events[].timestamp) | length > 20 and . == sort" after &&
	jq -s -e "map(.events[0].timestamp) | length < 20" after
'
test_expect_success 'a listener that asks for jobs together gets the same events in fewer responses' '
	job stream job-manager.events-journal "{\"together\":true}" >together &
	stream=$!
	job stream job-manager.events-journal "{\"together\":false}" >apart &
	other=$! &&
	for file in together apart; do
		until grep -q "\"id\": -1" $file; do kill -0 $stream $other || return 1; done || return 1
	done &&
	job rpc job-manager.queue-start "{\"start\":false,\"all\":true,\"reason\":\"test\"}" &&
	ids="$(job submit) $(job submit) $(job submit)" &&
	job rpc job-manager.raiseall \
		"{\"dry_run\":false,\"userid\":4294967295,\"states\":14,\"severity\":0,\"type\":\"cancel\"}" |
		jq -e ".count == 3" &&
	job rpc job-manager.queue-start "{\"start\":true,\"all\":true}" &&
	last=$(job submit) && job wait $last clean &&
	for file in together apart; do
		until grep -q "\"id\": $last,.*clean" $file; do kill -0 $stream $other || return 1; done || return 1
	done &&
	kill $stream $other &&
	jq -c "(.jobs // [.])[] | {id, R, jobspec, event: .events[]}" together >got &&
	jq -c "{id, R, jobspec, event: .events[]}" apart >expected &&
	jq -s "map({id, event})" got >got.events && jq -s "map({id, event})" expected >expected.events &&
	test_cmp expected.events got.events &&
	jq -s -e "map(select(.R)) | length == 1" got &&
	jq -s -e "map(select(.jobspec) | .id) | unique | length == 4" got &&
	: "the three cancellations of one request are one response" &&
	jq -s -e "map(select(.jobs) | [.jobs[].id] | unique | length) | max == 3" together &&
	jq -s -e "map(has(\"jobs\")) | any | not" apart
'
test_expect_success 'waitable jobs can be waited for once' '
	id=$(job submit --flags 4) && job wait $id clean &&
	job rpc job-manager.wait "{\"id\":$id}" | jq -e ".success == true" &&
	test_must_fail job rpc job-manager.wait "{\"id\":$id}"
'
test_expect_success 'inactive jobs beyond the limit are forgotten' '
	job rpc job-manager.purge "{\"age_limit\":-1.0,\"num_limit\":2,\"batch\":100,\"force\":true}" &&
	job rpc job-list.job-stats | jq -e ".job_states.inactive == 2 and .inactive_purged > 5" &&
	: "nor does the KVS keep what schedulers stored of them" &&
	job rpc kvs.stats-get | jq -e ".primary.keys <= 3"
'
test_expect_success 'jobs canceled while they are being started end, all of them' '
	PYTHONPATH=$(dirname $JOBCTL) python3 -c "
import jobctl, os
client = jobctl.Client(os.environ[\"FLUX_URI\"])
spec = jobctl.jobspec(*jobctl.submit_words([\"-r\", \"1000\"]))
for i in range(1000):
    job = client.submit(spec)
    for _ in range(i % 5):  # each a little later on its way to the start
        client.rpc(\"job-manager.list\", {\"max_entries\": 1, \"attrs\": []})
    client.notify(\"job-manager.raise\", {\"id\": job, \"severity\": 0, \"type\": \"cancel\"})" &&
	timeout 60 "$JOBCTL" rpc job-manager.drain "{}"
'
cat >signals.py <<-\EOF
	import os, sys
	sys.path.insert(0, os.path.dirname(os.environ["JOBCTL"]))
	import jobctl
	client = jobctl.Client(os.environ["FLUX_URI"])
	for i in range(5000):
	    client.rpc("job-manager.kill", {"id": int(sys.argv[1]), "signum": 10 + i % 2 * 2})
	client.rpc("job-manager.kill", {"id": int(sys.argv[1]), "signum": 9})
EOF
test_expect_success 'SIGKILL arrives though the launcher was stopped and thousands of signals wait for it' '
	mkfifo launcher &&
	id=$(job submit -- sh -c "trap \"\" USR1 USR2; echo \$PPID >\"$PWD/launcher\"; exec sleep 100000") &&
	read -r launcher <launcher && kill -STOP $launcher &&
	JOBCTL=$JOBCTL python3 signals.py $id &&
	job wait $id clean && job wait $id finish | grep "\"status\": 35072"
'
test_expect_success 'a job whose launcher is killed did not succeed' '
	mkfifo killed && id=$(job submit -- sh -c "echo \$PPID >\"$PWD/killed\"; exec sleep 100000") &&
	read -r launcher <killed && kill -9 $launcher && job wait $id clean && job wait $id finish | grep "\"status\": 9"
'
# Each task waits for a writer of its input. The second one waits when the first one runs: the job has not started then. If
# the shell holds the input open for too long, both run: then once more.
test_expect_success 'a job whose launcher is killed before all tasks run has failed, and does not run again' '
	mkfifo input told && for try in 1 2 3 4 5 6 7 8; do
		rm -f runs && id=$(job submit -n 2 -S "shell.options.input.stdin.path=\"$PWD/input\"" -- \
			sh -c "echo run >>\"$PWD/runs\"; echo \$PPID >\"$PWD/told\"; exec sleep 100000") &&
		: >input && read -r launcher <told && kill -9 $launcher && timeout 60 "$JOBCTL" wait $id clean || return 1
		job events $id | grep -w start || break
	done &&
	job events $id | grep "alloc exception finish release free clean" && job wait $id finish | grep "\"status\": 9" &&
	job wait $id exception | grep "its launcher ended before all tasks ran" && test $(wc -l <runs) -eq 1
'
test_expect_success 'a job whose tasks wait for their input can be canceled, and ends with its broker' '
	cancel() { job rpc job-manager.raise "{\"id\":$1,\"severity\":0,\"type\":\"cancel\"}"; } &&
	some() { job submit -n "$1" -S "shell.options.input.stdin.path=\"$PWD/input\"" -- sh -c "echo \$PPID >\"$PWD/told\"; exec sleep 100000"; } &&
	id=$(some 1) && job wait $id alloc && cancel $id && timeout 60 "$JOBCTL" wait $id clean &&
	id=$(some 3) && : >input && read -r launcher <told && cancel $id && timeout 60 "$JOBCTL" wait $id clean &&
	id=$(some 2) && : >input && read -r launcher <told && restart_instance KILL && timeout 60 "$JOBCTL" wait $id clean &&
	timeout 60 tail -f /dev/null --pid=$launcher
'
# As above, once more where the second task did not wait.
test_expect_success 'a task that runs while others are being started has its time to end, too' '
	rm -f told && mkfifo told go && for try in 1 2 3 4 5 6 7 8; do
		rm -f last && id=$(job submit -n 2 -S "shell.options.input.stdin.path=\"$PWD/input\"" -- \
			sh -c "cd \"$PWD\" && trap \"read -r line <go; echo goodbye >last\" TERM; echo up >told; tail -f /dev/null & wait") &&
		: >input && read -r line <told && cancel $id && timeout 60 sh -c "echo >go" && timeout 60 "$JOBCTL" wait $id clean || return 1
		job events $id | grep -w start || break
	done && ! job events $id | grep -w start && grep goodbye last
'
test_expect_success 'a job whose input cannot be read has failed, and names the file' '
	id=$(job submit -n 2 -S "shell.options.input.stdin.path=\"$PWD/nothing\"" -- sh -c "echo run >>\"$PWD/unread\"") &&
	job wait $id clean && job wait $id exception | grep "task 0 cannot read its input $PWD/nothing: No such file or directory" &&
	job wait $id finish | grep "\"status\": 256" && ! test -e unread
'
stop_instance
test_done
