#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='Guests see and alter their own jobs alone'
. "${SHARNESS:-/usr/share/sharness/sharness.sh}"

start_instance 'cores = 1'
guest() { "$JOBCTL" --userid 5001 "$@"; }

test_expect_success 'the owner submits on behalf of users' '
	blocker=$(job submit -r 1000) && job wait $blocker start &&
	job --userid 5001 submit 2>err; grep "only instance owner can use sign-type=none" err
'
# A submission on behalf of a user keeps the owner role: credentials with the role bit.
test_expect_success 'jobs of two users are pending' '
	mine=$("$JOBCTL" --userid 5001 --rolemask 1 submit) &&
	theirs=$("$JOBCTL" --userid 5002 --rolemask 1 submit) &&
	job wait $mine priority && job wait $theirs priority &&
	job jobs userid | grep "^$mine 5001$"
'
test_expect_success 'a guest alters his own job' '
	guest rpc job-manager.urgency "{\"id\":$mine,\"urgency\":10}" | jq -e ".old_urgency == 16" &&
	guest rpc job-manager.memo "{\"id\":$mine,\"memo\":{\"a\":1}}"
'
test_expect_success 'a guest may not raise urgency above the default' '
	test_must_fail guest rpc job-manager.urgency "{\"id\":$mine,\"urgency\":17}" 2>err &&
	grep "guests can only adjust urgency <= default" err
'
cat >memos.py <<-\EOF
	import os, sys
	sys.path.insert(0, sys.argv[1])
	import jobctl
	guest, owner = jobctl.Client(os.environ["FLUX_URI"], 5001), jobctl.Client(os.environ["FLUX_URI"])
	memo = {"id": int(sys.argv[2]), "memo": {"text": "x" * 10000}}
	taken = 0
	try:
	    while taken < 1000:
	        guest.rpc("job-manager.memo", memo)
	        taken += 1
	except jobctl.Failed as full:
	    print(full)
	assert 20 <= taken <= 26, taken
	owner.rpc("job-manager.memo", memo)
	guest.rpc("job-manager.raise", {"id": int(sys.argv[2]), "severity": 0, "type": "cancel", "note": "enough"})
EOF
test_expect_success 'a guest fills no eventlog beyond 256 KiB, and may always end his job' '
	long=$("$JOBCTL" --userid 5001 --rolemask 1 submit) && job wait $long priority &&
	python3 memos.py "$(dirname "$JOBCTL")" $long >out && grep "^error 28: the job.s eventlog and annotations have reached" out &&
	job wait $long clean
'
test_expect_success 'a guest may not touch the jobs of others' '
	for call in "job-manager.urgency {\"id\":$theirs,\"urgency\":1}" \
		"job-manager.raise {\"id\":$theirs,\"severity\":0,\"type\":\"cancel\"}" \
		"job-manager.kill {\"id\":$blocker,\"signum\":9}" \
		"job-manager.memo {\"id\":$theirs,\"memo\":{\"a\":1}}" \
		"job-manager.getattr {\"id\":$theirs,\"attrs\":[\"jobspec\"]}" \
		"job-info.lookup {\"id\":$theirs,\"keys\":[\"jobspec\"],\"flags\":0}"
	do
		test_must_fail guest rpc ${call%% *} "${call#* }" 2>err &&
		grep "^1: " err || return 1
	done
'
test_expect_success 'a guest may not watch the jobs of others' '
	test_must_fail guest wait $theirs submit 2>err && grep "^1: access is restricted" err &&
	guest wait $mine submit
'
test_expect_success 'a guest reads output and execution events of his own jobs alone, and lists his own' '
	for path in guest.output guest.exec.eventlog; do
		test_must_fail guest rpc job-info.lookup "{\"id\":$theirs,\"keys\":[\"$path\"],\"flags\":0}" 2>err &&
		grep "^1: access is restricted" err &&
		test_must_fail guest stream job-info.eventlog-watch "{\"id\":$theirs,\"path\":\"$path\",\"flags\":0}" 2>err &&
		grep "1: access is restricted" err || return 1
	done &&
	test_must_fail guest stream job-info.eventlog-watch "{\"id\":$mine,\"path\":\"guest.other\",\"flags\":0}" 2>err &&
	grep "2: guest.other: jobs of this instance have" err &&
	guest rpc job-manager.history.get "{\"slice\":\"[:]\"}" >own && jq -e ".jobs | index($mine) != null" own &&
	jq -e ".jobs | index($theirs) == null" own
'
test_expect_success 'raiseall takes a guest only for himself' '
	all="\"dry_run\":true,\"states\":62,\"severity\":0,\"type\":\"cancel\"" &&
	test_must_fail guest rpc job-manager.raiseall "{$all,\"userid\":4294967295}" &&
	guest rpc job-manager.raiseall "{$all,\"userid\":5001}" | jq -e ".count == 1"
'
test_expect_success 'what belongs to the owner is refused' '
	for topic in job-manager.events-journal job-manager.jobtap job-manager.sched-hello job-manager.sched-ready \
		job-manager.queue-start job-manager.purge job-manager.drain job-manager.submit \
		resource.drain resource.undrain resource.journal resource.reload module.trace
	do
		test_must_fail guest rpc $topic "{}" 2>err && grep "^1: " err || return 1
	done
'
test_expect_success 'a guest does not make his job give up resources that its scheduler still counts' '
	test_must_fail guest rpc job-manager.raise "{\"id\":$mine,\"severity\":0,\"type\":\"scheduler-restart\"}" 2>err &&
	grep "^1: only the instance owner" err &&
	test_must_fail guest rpc job-manager.raiseall \
		"{\"dry_run\":false,\"userid\":5001,\"states\":62,\"severity\":0,\"type\":\"scheduler-restart\"}" 2>err &&
	grep "^1: only the instance owner" err
'
cat >volatile.py <<-\EOF
	import os, sys
	sys.path.insert(0, sys.argv[1])
	import jobctl
	guest, owner = jobctl.Client(os.environ["FLUX_URI"], 5001), jobctl.Client(os.environ["FLUX_URI"])
	taken = 0
	try:
	    while taken < 1000:
	        memo = {f"key{taken}": "x" * 10000}
	        guest.rpc("job-manager.memo", {"id": int(sys.argv[2]), "volatile": True, "memo": memo})
	        taken += 1
	except jobctl.Failed as full:
	    print(full)
	assert 20 <= taken <= 26, taken
	owner.rpc("job-manager.memo", {"id": int(sys.argv[2]), "volatile": True, "memo": {"site": "seen"}})
EOF
test_expect_success 'nor does he keep more than 256 KiB of volatile memos' '
	id=$("$JOBCTL" --userid 5001 --rolemask 1 submit) && job wait $id priority &&
	python3 volatile.py "$(dirname "$JOBCTL")" $id >out && grep "eventlog and annotations have reached their limit" out
'
cat >repeat.py <<-\EOF
	import sys
	sys.path.insert(0, sys.argv[1])
	import wire
	guest = wire.Client(userid=5001, rolemask=2)
	mine = {"id": int(sys.argv[2])}
	for topic, where, name, more in (("job-info.lookup", "keys", "eventlog", {**mine, "flags": 0}),
	                                 ("job-manager.getattr", "attrs", "jobspec", mine),
	                                 ("job-list.list-id", "attrs", "all", mine),
	                                 ("job-list.list", "attrs", "all", {"max_entries": 0, "constraint": {}})):
	    once = guest.rpc(topic, {**more, where: [name]})
	    assert len(guest.rpc(topic, {**more, where: [name] * 1000})) == len(once), topic
EOF
test_expect_success 'what a guest repeats in a question is answered once' '
	python3 repeat.py "$(dirname "$JOBCTL")" $mine
'
cat >compare.py <<-\EOF
	import os, sys
	sys.path.insert(0, sys.argv[1])
	import burst, jobctl, wire
	burst.submit(wire.Client(), 100, 5001)  # each is compared
	guest, owner = jobctl.Client(os.environ["FLUX_URI"], 5001), jobctl.Client(os.environ["FLUX_URI"])
	asked = {"max_entries": 0, "attrs": []}
	def list_by(constraint):
	    return {**asked, "constraint": constraint}
	for dear in ({"userid": [1] * 12000}, {"or": [{"userid": [1]}] * 12000}, {"not": [{"and": [{}] * 12000}]},
	             {"or": [{"and": [{}] * 12000}]}):
	    try:
	        guest.rpc("job-list.list", list_by(dear))
	        raise SystemExit("the guest was answered")
	    except jobctl.Failed as refused:
	        assert "more than 1000000 comparisons" in str(refused), refused
	    owner.rpc("job-list.list", list_by(dear))
	guest.rpc("job-list.list", list_by({"or": [{"userid": [1]}] * 1000}))
	try:
	    guest.rpc("job-list.list", list_by({"userid": [1] * 400000}))
	    raise SystemExit("the guest was answered")
	except jobctl.Failed as refused:
	    assert "at most 262144 bytes" in str(refused), refused
	owner.rpc("job-list.list", list_by({"userid": [1] * 400000}))
	try:
	    guest.rpc("job-list.list", list_by({"hostlist": ["p0[0-999999]"] * 8}))
	    raise SystemExit("the guest was answered")
	except jobctl.Failed as refused:
	    assert "at most 65536 hosts" in str(refused), refused
EOF
test_expect_success 'a question of a guest that compares too much is refused, the owner is answered' '
	python3 compare.py "$(dirname "$JOBCTL")"
'
cat >errors.py <<-\EOF
	import os, sys
	sys.path.insert(0, sys.argv[1])
	import jobctl
	for client in jobctl.Client(os.environ["FLUX_URI"], 5001), jobctl.Client(os.environ["FLUX_URI"]):
	    client.notify("job-manager.raise", {})
	    client.rpc("job-manager.getinfo", {})
EOF
test_expect_success 'a guest fills no log with errors of requests that want no response' '
	python3 errors.py "$(dirname "$JOBCTL")" && job stream log.dmesg "{\"follow\":false}" >log &&
	test $(grep -c "job-manager.raise without response failed" log) = 1
'
test_expect_success 'a guest cancels his own job' '
	guest rpc job-manager.raise "{\"id\":$mine,\"severity\":0,\"type\":\"cancel\"}" &&
	job wait $mine clean
'
stop_instance
test_done
