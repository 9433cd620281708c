#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='questions of guests, however many, hold up neither the owner nor the priority of a job nor another guest'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"

broker_config "resource job-manager job-exec sched-weir-fcfs job-priority" job-priority-tap.so 0-7 >broker.toml
cat >>broker.toml <<EOF
[weir]
share-tree = "shares.toml"
update-interval = "1h"
[access]
allow-guest-user = true
EOF
python3 -c '
for group in range(50):
    print(f"\"g{group}\" = 1")
    for user in range(100):
        print(f"\"g{group}/@u{group}x{user}\" = 1")
' >shares.toml

# A guest's question is a tree-diff, which takes long in this tree.
cat >asks.py <<'EOF'
import json, os, subprocess, sys, wire
from burst import *

DIFF = ("job-priority.tree-diff", {"a": 1, "b": 2})
TURNS = Turns("job-priority", DIFF, "questions_waiting")
EOF

test_expect_success 'an instance with 5000 associations and two revisions of its tree' '
	mkdir state && start_broker here -c broker.toml -S statedir="$PWD/state" &&
	sed "s/^\"g0\" = 1/\"g0\" = 2/" shares.toml >edited.toml && jq -Rsc "{toml: ., reason: \"why\"}" edited.toml >edit.json &&
	python3 -c "import json, wire; print(wire.Client().rpc(\"job-priority.tree-set\", json.load(open(\"edit.json\"))))" |
		jq -e ".revision == 2" && call job-priority.sync "{}"
'
test_expect_success 'the owner is answered before the questions that a guest has sent before his, and these are answered' '
	python3 - <<-\EOF
		from asks import *
		TURNS.owner_is_first(*[(GUEST, DIFF)] * 60)
	EOF
'
test_expect_success 'another guest need not wait for all of them' '
	python3 - <<-\EOF
		from asks import *
		TURNS.other_guest_is_early(TURNS.stats)
	EOF
'
test_expect_success 'of a guest 64 questions wait, and the next are refused; a job has its priority meanwhile' '
	python3 - <<-\EOF
		from asks import *
		client = wire.Client()
		TURNS.flood(client)
		told = subprocess.run([sys.executable, os.environ["WIRE"], "submit", "--simulate", "0.01", "--", "true"],
		                      check=True, capture_output=True, text=True)
		assert wire.wait_event(wire.Client(), told.stdout, "priority") == 0
		assert TURNS.waiting() > 10, TURNS.waiting()
	EOF
'
# Kills: megabytes that wait and that no quota counts.
test_expect_success 'a question that wants no answer does not wait' '
	python3 - <<-\EOF
		from asks import *
		client = wire.Client()
		send(client, *[(GUEST, DIFF)] * 80, flags=wire.NORESPONSE)
		[tag] = send(client, (GUEST, DIFF))
		assert before(client, tag) == 0
	EOF
'
test_expect_success 'the questions of a client that has gone are forgotten' '
	python3 - <<-\EOF
		from asks import *
		TURNS.gone_is_forgotten()
	EOF
'
test_expect_success 'a module that ends refuses those that wait' '
	python3 - <<-\EOF
		from asks import *
		TURNS.end_refuses("job-priority")
	EOF
'
test_expect_success 'it ends' '
	stop_broker here
'
test_done
