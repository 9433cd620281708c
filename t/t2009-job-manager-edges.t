#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='The job-manager where messages cross, chains are long and times are wrong: no job and no broker is lost'
. "${SHARNESS:-/usr/share/sharness/sharness.sh}"

start_instance 'cores = 1'
TAP=$BUILD_DIR/t/plugins/test-tap.so
tap() { job rpc job-manager.testtap.do "$1"; }
cat >sched.py <<-\EOF
	# A scheduler whose allocation crosses the cancel of its request: the job waits for a priority when it comes.
	import json, wire
	client = wire.Client()
	client.rpc("service.add", {"service": "sched"})
	list(client.stream("job-manager.sched-hello"))
	client.rpc("job-manager.sched-ready", {"mode": "unlimited"})
	def request(topic):
	    while True:
	        message = client.receive()
	        if message.kind == wire.REQUEST and message.topic == topic:
	            return message, json.loads(message.text)["id"]
	asked, job = request("sched.alloc")
	print("asked", flush=True)
	assert request("sched.cancel")[1] == job
	r = {"version": 1, "execution": {"R_lite": [{"rank": "0", "children": {"core": "0"}}], "nodelist": ["node0"],
	                                 "starttime": 0, "expiration": 0}}
	client.respond(asked, {"id": job, "type": 0, "R": r})
	assert request("sched.free")[1] == job
	print("freed", flush=True)
	assert request("sched.alloc")[1] == job
	print("again", flush=True)
EOF
test_expect_success 'an allocation that comes while the job waits for a priority is given back, and asked for anew' '
	job rpc module.remove "{\"name\":\"sched-weir-fcfs\"}" &&
	job rpc job-manager.jobtap "{\"load\":\"$TAP\",\"conf\":{\"priority\":50}}" &&
	mkfifo told && { PYTHONPATH=$SOURCE_DIR/t/tools python3 sched.py >told 2>sched.err 3>&- 4>&- 5>&- & } &&
	exec 6<told && id=$(job submit -u 31) && read -r line <&6 && test "$line" = asked &&
	tap "{\"op\":\"set\",\"priority\":-2}" && job rpc job-manager.urgency "{\"id\":$id,\"urgency\":16}" && read -r line <&6 && test "$line" = freed &&
	job jobs state | grep "^$id 4$" &&
	tap "{\"op\":\"one\",\"id\":$id,\"priority\":12}" && read -r line <&6 && test "$line" = again &&
	! job events $id | grep alloc && exec 6<&- && wait $!
'
test_expect_success 'a time of submission that the journal could not be read with is refused, and the others are taken' '
	job rpc job-manager.jobtap "{\"remove\":\"test-tap.so\"}" &&
	cat >wrong.py <<-\EOF &&
		import json, sys, wire
		spec = json.loads(open("spec.json").read())
		def one(number, t):
		    return {"id": number << 40, "userid": 0, "urgency": 16, "flags": 0, "t_submit": t, "jobspec": spec}
		times = [1700000000, 1e12, -1, 1700000001]
		client = wire.Client()
		print(client.rpc("job-manager.submit", {"jobs": [one(n + 1, t) for n, t in enumerate(times)]}))
	EOF
	cat >spec.json <<-\EOF &&
		{"version": 1, "tasks": [{"command": ["true"], "slot": "task", "count": {"per_slot": 1}}],
		 "resources": [{"type": "slot", "label": "task", "count": 1, "with": [{"type": "core", "count": 1}]}],
		 "attributes": {"system": {"duration": 0}}}
	EOF
	PYTHONPATH=$SOURCE_DIR/t/tools python3 wrong.py >errors && cat errors &&
	jq -e "[.errors[][0]] == [2 * 1099511627776, 3 * 1099511627776] and
		(.errors[0][1] | test(\"^t_submit must be seconds since 1970\"))" errors &&
	restart_instance KILL && job jobs state | grep "^1099511627776 " && job jobs state | grep "^4398046511104 "
'
test_expect_success 'a chain of 10,000 jobs ends with its first, without recursion' '
	cat >chain.py <<-\EOF &&
		import copy, json, wire
		spec, client, jobs = json.loads(open("spec.json").read()), wire.Client(), []
		for number in range(10000):
		    wanted = copy.deepcopy(spec)
		    if number:
		        wanted["attributes"]["system"]["dependencies"] = [{"scheme": "afterok", "value": str(99 + number << 40)}]
		    jobs.append({"id": 100 + number << 40, "userid": 0, "urgency": 0, "flags": 0, "t_submit": 1700000000,
		                 "jobspec": wanted})
		for at in range(0, len(jobs), 500):
		    answer = json.loads(client.rpc("job-manager.submit", {"jobs": jobs[at:at + 500]}))
		    assert answer["errors"] == [], answer["errors"][:2]
		client.rpc("job-manager.raise", {"id": 100 << 40, "severity": 0, "type": "cancel"})
	EOF
	PYTHONPATH=$SOURCE_DIR/t/tools python3 chain.py && job wait $((10099 << 40)) clean &&
	job rpc job-list.job-stats "{}" | jq -e ".job_states | .depend + .priority + .sched == 0"
'
test_done
