#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='lists of jobs that guests ask for, however many, hold up neither the owner nor another guest'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"

cat >broker.toml <<EOF
weir-broker.modules = ["kvs", "resource", "job-manager", "job-exec", "sched-weir-fcfs"]
access.allow-guest-user = true
[[resource.config]]
hosts = "node0"
cores = "0-7"
EOF

# What costs a look at each of the jobs.
cat >asks.py <<'EOF'
import json, wire
from burst import *

LIST = ("job-list.list", {"max_entries": 0, "attrs": ["all"], "constraint": {"and": []}})
EMPTY = ("job-list.list", {"max_entries": 0, "attrs": ["all"], "constraint": {"name": ["none"]}})
HISTORY = ("job-manager.history.get", {"slice": "[:]"})
TURNS = Turns("job-manager", LIST, "guests_waiting")
EOF

test_expect_success 'an instance with 3000 jobs, of which 1000 are of a guest' '
	start_broker here -c broker.toml &&
	python3 -c "from asks import *; submit(wire.Client(), 2000, 0); submit(wire.Client(), 1000, GUEST[0])"
'
test_expect_success 'the owner is answered before the lists that a guest has asked for before, and these are answered' '
	python3 - <<-\EOF
		from asks import *
		for asked in LIST, EMPTY, HISTORY:
		    TURNS.owner_is_first(*[(GUEST, asked)] * 60)
	EOF
'
test_expect_success 'he is answered before what a guest has asked for all jobs of his before, and before reads of output' '
	python3 - <<-\EOF
		from asks import *
		client = wire.Client()
		(ran,) = submit(client, 1, GUEST[0], 16)
		assert wire.wait_event(wire.Client(), ran, "clean") == 0
		for asked in (("job-info.lookup", {"id": ran, "keys": ["guest.output"], "flags": 0}),
		              ("job-manager.raiseall", {"dry_run": True, "userid": 5001, "states": 127, "severity": 7, "type": "x"}),
		              ("job-manager.killall", {"dry_run": True, "userid": 5001, "signum": 15})):
		    TURNS.owner_is_first(*[(GUEST, LIST)] * 10, *[(GUEST, asked)] * 20)
	EOF
'
test_expect_success 'another guest need not wait for all of them' '
	python3 - <<-\EOF
		from asks import *
		TURNS.other_guest_is_early(EMPTY)
	EOF
'
test_expect_success 'of a guest 64 lists wait, and the next are refused; what costs a look-up is answered meanwhile' '
	python3 - <<-\EOF
		from asks import *
		client = wire.Client()
		TURNS.flood(client)
		tags = send(client, (GUEST, ("job-list.list-attrs", {})))
		client.answer(tags[0])
		assert TURNS.waiting() > 10, TURNS.waiting()
	EOF
'
test_expect_success 'the lists of a client that has gone are forgotten' '
	python3 - <<-\EOF
		from asks import *
		TURNS.gone_is_forgotten()
	EOF
'
test_expect_success 'a long request that wants no answer does not wait, since it is charged to nobody' '
	python3 - <<-\EOF
		from asks import *
		client = wire.Client()
		long = (LIST[0], {**LIST[1], "pad": "x" * (1 << 20)})
		send(client, *[(GUEST, LIST)] * 10, *[(GUEST, long)] * 5, flags=wire.NORESPONSE)
		assert TURNS.waiting() <= 10, TURNS.waiting()
	EOF
'
test_expect_success 'a module that ends refuses those that wait' '
	python3 - <<-\EOF
		from asks import *
		TURNS.end_refuses("sched-weir-fcfs", "job-exec", "job-manager")
	EOF
'
test_expect_success 'it ends' '
	stop_broker here
'
test_done
