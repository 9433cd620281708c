#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='A full disk: what was answered stays, what cannot be kept is not answered, and all goes on with room'
. "${SHARNESS:-/usr/share/sharness/sharness.sh}"

umask 022
mkdir -p state
if test "$(id -u)" != 0 || ! mount -t tmpfs -o size=2m,mode=700 weir-test "$PWD/state" 2>/dev/null; then
	skip_all='only root can make a small file system'
	test_done
fi
start_instance 'cores = 1'
trap 'full_code=$?; kill -9 $BROKER_PID 2>/dev/null; umount -l "$SHARNESS_TRASH_DIRECTORY/state" 2>/dev/null; (exit $full_code); die' EXIT
fill_disk() {
	dd if=/dev/zero of=state/fill bs=4096 2>/dev/null
	test "$(df --output=avail state | tail -1)" -eq 0
}

test_expect_success 'a job runs while the disk fills' '
	running=$(job submit -r 100000) && job wait $running start &&
	fill_disk
'
test_expect_success 'jobs are taken in as long as there is room for them, then refused with the reason' '
	test_expect_code 1 job submit -u 0 --copies 5000 >ids 2>err &&
	test -s ids && test "$(wc -l <ids)" -lt 5000 &&
	grep "^28: no job is accepted until there is space again: job journal: .*jobs.journal: No space left on device" err
'
test_expect_success 'questions are answered, and running jobs end' '
	job rpc job-manager.raise "{\"id\":$running,\"severity\":0,\"type\":\"cancel\"}" &&
	job wait $running clean &&
	job jobs | cut -d" " -f1 | sort >there && sort ids >answered &&
	test -z "$(comm -23 answered there)"
'
test_expect_success 'after kill -9 all that was answered is there, though the disk is full' '
	restart_instance KILL &&
	job jobs | cut -d" " -f1 | sort >there && test -z "$(comm -23 answered there)"
'
cat >memos.py <<-\EOF
	import base64, json, os, sys, wire
	spec = {"version": 1, "attributes": {"system": {"duration": 1, "cwd": "/"}},
	        "resources": [{"type": "slot", "count": 1, "label": "t", "with": [{"type": "core", "count": 1}]}],
	        "tasks": [{"command": ["true"], "slot": "t", "count": {"per_slot": 1}}]}
	head = b"version\0i1\0userid\0i0\0mechanism\0snone\0"
	signed = base64.b64encode(head).decode() + "." + base64.b64encode(json.dumps(spec).encode()).decode() + ".none"
	jobid, count = int(sys.argv[1]), 40
	client = wire.Client()
	tags = [client.start("job-manager.memo", {"id": jobid, "memo": {"n": n, "text": "x" * 30000}}) for n in range(count)]
	info = wire.Client()
	assert json.loads(info.rpc("job-list.job-stats", {}))["job_states"]["sched"] > 0
	assert json.loads(client.rpc("job-manager.getinfo", {}))["max_jobid"] >= jobid
	told = [m.aux2 for m in client.early]
	assert len(told) < count, "every memo was answered, and there is no room for them"
	try:
	    info.rpc("job-ingest.submit", {"J": signed, "urgency": 0, "flags": 0})
	    assert False, "a job was taken in"
	except wire.Failed as refused:
	    assert refused.errnum == 28, refused
	os.unlink("state/fill")
	for tag in tags:
	    client.answer(tag)
	print("all answered")
EOF
test_expect_success 'what cannot be written is not answered until it is' '
	last=$(tail -1 ids) &&
	python3 memos.py $last >out && grep "all answered" out
'
cat >told.py <<-\EOF
	import os, sys
	from jobctl import Client
	awaited = sys.argv[1:]
	for answer in Client(os.environ["FLUX_URI"]).stream("log.dmesg", {"follow": True, "nobacklog": False}):
	    print(answer)
	    awaited = [text for text in awaited if text not in str(answer)]
	    if not awaited:
	        break
EOF
test_expect_success 'it is told, and that it is over' '
	timeout 60 python3 told.py "jobs.journal: No space left on device; until it can be written nothing starts and no change is answered" \
		"job journal: it can be written again; nothing was lost"
'
test_expect_success 'the journal is whole: jobs come and go, and a restart has everything' '
	new=$(job submit) && job wait $new clean &&
	restart_instance KILL &&
	job rpc job-info.lookup "{\"id\":$last,\"keys\":[\"eventlog\"],\"flags\":0}" | jq -r .eventlog |
		jq -s -e "map(select(.name == \"memo\")) | length == 40" &&
	job jobs | cut -d" " -f1 | sort >there && test -z "$(comm -23 answered there)"
'
stop_instance
umount "$PWD/state"
test_done
