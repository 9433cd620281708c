#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='Jobs over a restart: kill -9, torn and corrupt journals'
. "${SHARNESS:-/usr/share/sharness/sharness.sh}"

start_instance 'cores = 1'

test_expect_success 'jobs are running, pending, held and done' '
	done=$(job submit) && job wait $done clean &&
	running=$(job submit -r 100000) && job wait $running start &&
	pending=$(job submit -u 20) && held=$(job submit -u 0) &&
	job wait $held priority &&
	job jobs state priority urgency >before
'
test_expect_success 'after kill -9 they are what they were' '
	restart_instance KILL &&
	job jobs state priority urgency >after &&
	test_cmp before after
'
test_expect_success 'a pending job went through flux-restart, the running one goes on' '
	job events $pending | grep "priority flux-restart priority$" &&
	job events $running | grep "alloc start$"
'
test_expect_success 'the scheduler knows what the running job holds' '
	job rpc job-manager.resource-status "{}" | jq -e ".allocated.execution.R_lite[0].children.core == \"0\"" &&
	job rpc job-manager.alloc-query "{}" | jq -e ".running == 1" &&
	job rpc job-manager.raise "{\"id\":$running,\"severity\":0,\"type\":\"cancel\"}" &&
	job wait $pending clean
'
test_expect_success 'new jobs count on' '
	id=$(job submit -u 0) && job wait $id priority &&
	test $id -gt $held &&
	job rpc job-manager.urgency "{\"id\":$id,\"urgency\":16}" && job wait $id clean &&
	job wait $id urgency &&
	job rpc job-info.lookup "{\"id\":$id,\"keys\":[\"eventlog\"],\"flags\":0}" | jq -r .eventlog |
		jq -s -e "map(select(.name == \"priority\"))[-1].context.priority == 2147483648 - 4"
'
test_expect_success 'a real job that was running is lost, with that reason' '
	real=$(job submit -- sleep 1000) && job wait $real start &&
	restart_instance KILL &&
	job wait $real clean &&
	job jobs exception_type exception_note | grep "^$real \"exec\" \"lost in a broker restart\"$"
'
test_expect_success 'what depends on a job that was lost ends, too, and so does what depends on that' '
	lost=$(job submit -- tail -f /dev/null) && job wait $lost start &&
	second=$(job submit -S "dependencies=[{\"scheme\":\"afterok\",\"value\":\"$lost\"}]") &&
	third=$(job submit -S "dependencies=[{\"scheme\":\"afterok\",\"value\":\"$second\"}]") &&
	after=$(job submit -S "dependencies=[{\"scheme\":\"afterany\",\"value\":\"$lost\"}]") &&
	job wait $after dependency-add &&
	restart_instance KILL &&
	for id in $second $third $after; do job wait $id clean || return 1; done &&
	job jobs exception_severity exception_note >notes &&
	grep "^$second 0 \"dependency: afterok: job .* failed or was canceled\"$" notes &&
	grep "^$third 0 \"dependency" notes &&
	job events $after | grep "finish release free clean$"
'
test_expect_success 'a queue that an operator stopped or disabled is so after a restart' '
	job rpc job-manager.queue-start "{\"start\":false,\"reason\":\"maintenance\"}" &&
	waits=$(job submit) && job wait $waits priority &&
	job rpc job-manager.queue-enable "{\"enable\":false,\"reason\":\"repairs\"}" &&
	restart_instance KILL &&
	job rpc job-manager.queue-status "{}" >status &&
	jq -e ".start == false and .stop_reason == \"maintenance\" and .enable == false and .disable_reason == \"repairs\"" status &&
	job rpc job-manager.alloc-query "{}" | jq -e ".queue_length == 0" &&
	test_must_fail job submit 2>err && grep "submission is disabled: repairs" err &&
	job rpc job-manager.queue-enable "{\"enable\":true}" &&
	job rpc job-manager.queue-start "{\"start\":true}" && job wait $waits clean &&
	job rpc job-manager.queue-start "{\"start\":false,\"reason\":\"for now\",\"nocheckpoint\":true}" &&
	restart_instance TERM &&
	job rpc job-manager.queue-status "{}" | jq -e ".start == true and .enable == true"
'
test_expect_success 'a job whose executor was loaded again has failed, and its cores are free' '
	real=$(job submit -- tail -f /dev/null) && job wait $real start &&
	job rpc module.remove "{\"name\":\"job-exec\"}" &&
	job rpc module.load "{\"path\":\"job-exec\",\"args\":[]}" &&
	job wait $real clean &&
	job jobs exception_type exception_note | grep "^$real \"exec\" \"lost in a restart of the broker or of job-exec\"$" &&
	next=$(job submit) && job wait $next clean
'
test_expect_success 'nor does it run for ever if the executor never greeted this job-manager' '
	job rpc module.remove "{\"name\":\"job-manager\"}" &&
	job rpc module.load "{\"path\":\"job-manager\",\"args\":[]}" &&
	real=$(job submit -- tail -f /dev/null) && job wait $real start &&
	job rpc module.remove "{\"name\":\"job-exec\"}" &&
	job rpc module.load "{\"path\":\"job-exec\",\"args\":[]}" &&
	job wait $real clean &&
	job jobs exception_type exception_note | grep "^$real \"exec\" \"lost in a restart of the broker or of job-exec\"$"
'
test_expect_success 'a job that waits for cores starts when the executor is back' '
	job rpc module.remove "{\"name\":\"job-exec\"}" &&
	first=$(job submit) && second=$(job submit) && job wait $first alloc &&
	job rpc module.load "{\"path\":\"job-exec\",\"args\":[]}" &&
	job wait $first clean && job wait $second clean
'
test_expect_success 'so it does if the broker was killed meanwhile: it was handed to nobody' '
	stop_instance && launch_broker &&
	job rpc module.remove "{\"name\":\"job-exec\"}" && waits=$(job submit -- true) && job wait $waits alloc &&
	log_has "start: stop due to start response error" && job rpc job-manager.memo "{\"id\":$waits,\"memo\":{\"a\":1}}" &&
	restart_instance KILL && job wait $waits clean && job wait $waits start
'
# The launcher says "started" when all tasks are: the first kills the broker long before the last is.
test_expect_success 'a job that was handed to the executor is not run again, though no start is on record' '
	cat >first.sh <<-EOF &&
	test "\$FLUX_TASK_RANK" = 0 || exec sleep 1000
	echo ran >>"$PWD/ran"
	kill -9 "\$(cat "$PWD/run/broker.pid")"
	EOF
	early=$(PYTHONPATH=$SOURCE_DIR/t/tools python3 - "$PWD/first.sh" <<-EOF
	import jobctl, os, sys
	spec = jobctl.jobspec(*jobctl.submit_words(["sh", sys.argv[1]]))
	spec["tasks"][0]["count"] = {"total": 300}
	print(jobctl.Client(os.environ["FLUX_URI"]).submit(spec))
	EOF
	) && wait $BROKER_PID
	launch_broker &&
	job wait $early clean &&
	test_must_fail job wait $early start &&
	job jobs exception_type exception_note | grep "^$early \"exec\" \"lost in a broker restart\"$" &&
	test "$(wc -l <ran)" = 1
'
cat >deep.py <<-\EOF
	import json, jobctl, os, sys
	sys.setrecursionlimit(20000)
	client = jobctl.Client(os.environ["FLUX_URI"])
	guest = jobctl.Client(os.environ["FLUX_URI"], 5001)
	def nested(levels):
	    value = {}
	    for _ in range(levels - 1):
	        value = {"a": value}
	    return value
	def submit(levels):
	    spec = jobctl.jobspec(*jobctl.submit_words(["-u", "0"]))
	    spec["attributes"]["user"] = nested(levels - 2)
	    return client.submit(spec, 0)
	def memo(levels):
	    guest.rpc("job-manager.memo", {"id": int(sys.argv[1]), "memo": nested(levels - 1)})
	for ask in submit, memo:
	    for levels in 2046, 2047, 2048, 1001:
	        try:
	            print("taken:", ask.__name__, levels, ask(levels))
	        except jobctl.Failed as refused:
	            assert "nested at most 1000 levels" in str(refused), refused
	memo(900)
	print(submit(900))
EOF
# A line of the journal and the messages to other modules have more levels than what they tell of.
test_expect_success 'what is nested too deep to be read again is refused, and what is taken is there after a restart' '
	theirs=$("$JOBCTL" --userid 5001 --rolemask 1 submit -u 0) && job wait $theirs priority &&
	PYTHONPATH=$SOURCE_DIR/t/tools python3 deep.py $theirs >deep && cat deep &&
	restart_instance KILL && test "$(wc -l <deep)" = 1 &&
	job events $theirs | grep memo && job events $(cat deep) | grep submit &&
	job rpc job-manager.urgency "{\"id\":$(cat deep),\"urgency\":16}" && job wait $(cat deep) clean
'
test_expect_success 'every answered submission survives kill -9' '
	job submit -u 0 --copies 200 >ids &
	submitter=$! &&
	until test "$(wc -l <ids)" -gt 20; do kill -0 $submitter || break; done &&
	kill -9 $BROKER_PID; wait $BROKER_PID; wait $submitter
	launch_broker &&
	job jobs | cut -d" " -f1 | sort >there &&
	sort ids >answered &&
	test -s answered && test -z "$(comm -23 answered there)"
'
test_expect_success 'a torn last line is dropped and told' '
	kill -9 $BROKER_PID; wait $BROKER_PID
	printf "{\"id\":1,\"event\":{\"times" >>state/jobs.journal &&
	launch_broker &&
	job stream log.dmesg "{\"follow\":false,\"nobacklog\":false}" | grep "jobs.journal:[0-9]*: the last flush is not whole"
'
test_expect_success 'a corrupt line inside stops the start with file and line' '
	stop_instance;
	cp state/jobs.journal saved &&
	{ head -2 saved && echo "rubbish" && tail -n +3 saved; } >state/jobs.journal &&
	test_must_fail launch_broker &&
	wait $BROKER_PID; test $? -eq 1 &&
	tail -3 broker.out >err && grep "jobs.journal:3: " broker.out
'
test_expect_success 'so does a line that was taken out, and the words say what to do' '
	grep -n "\"name\":\"submit\"" saved | head -1 | cut -d: -f1 >number && number=$(cat number) &&
	sed "${number}d" saved >state/jobs.journal && cp state/jobs.journal damaged &&
	test_must_fail launch_broker &&
	grep "jobs.journal:$number: lines are missing or out of place" broker.out &&
	grep "head -n $(($number - 1)) .*jobs.journal >.*jobs.journal.cut" broker.out &&
	test_cmp damaged state/jobs.journal
'
test_expect_success 'a journal of the first version is taken over' '
	sed "s/,\"n\":[0-9]*,\"crc\":\"[0-9a-f]*\"}\$/}/; 1s/\"weir-jobs\":3/\"weir-jobs\":1/" saved >state/jobs.journal &&
	launch_broker && job jobs state priority >old && stop_instance &&
	head -1 state/jobs.journal | grep "\"weir-jobs\":3" &&
	cp saved state/jobs.journal &&
	launch_broker && job jobs state priority >new && stop_instance && test_cmp new old
'
test_expect_success 'a journal that went missing beside a state file is told' '
	rm state/jobs.journal && : >state/job-priority.sqlite && : >broker.out &&
	launch_broker && stop_instance &&
	grep "jobs.journal is missing or empty, but .*job-priority.sqlite shows that there were jobs" broker.out &&
	rm state/job-priority.sqlite
'
test_expect_success 'a start writes behind what is there, not all of it anew' '
	cp saved state/jobs.journal && stat -c %i state/jobs.journal >before &&
	launch_broker && job submit -u 0 && stop_instance &&
	stat -c %i state/jobs.journal >after && test_cmp before after &&
	head -n "$(wc -l <saved)" state/jobs.journal >kept && test_cmp saved kept &&
	test "$(wc -l <state/jobs.journal)" -gt "$(wc -l <saved)"
'
test_expect_success 'a damaged file of closed queues stops the start, and the words say what to do' '
	echo "{\"\":" >state/queues.json && test_must_fail launch_broker &&
	grep "state/queues.json: .*; correct the file, or remove it" broker.out && rm state/queues.json
'
test_expect_success 'a second instance on the same statedir is refused' '
	cp saved state/jobs.journal && launch_broker &&
	mkdir other &&
	test_must_fail "$WEIR_BROKER" -c "$PWD/broker.toml" --rundir "$PWD/other" -S "statedir=$PWD/state" >out 2>&1 &&
	grep "in use by another instance" out
'
stop_instance
test_done
