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

DIFF, STATS = ("job-priority.tree-diff", {"a": 1, "b": 2}), ("job-priority.stats-get", {})

def waiting():
    return json.loads(wire.Client().rpc(*STATS))["questions_waiting"]

def flood(client):
    """Returns when as many questions wait as may."""
    send(client, *[(GUEST, DIFF)] * 80)
    text = refusal(client)
    assert "64 of your requests to job-priority wait" in text, text
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
		client = wire.Client()
		tags = send(client, *[(GUEST, DIFF)] * 60, (OWNER, STATS))
		first = before(client, tags[-1])
		assert first <= 10, first
		assert before(client, tags[-2]) == 59 - first
	EOF
'
test_expect_success 'another guest need not wait for all of them' '
	python3 - <<-\EOF
		from asks import *
		client = wire.Client()
		tags = send(client, *[(GUEST, DIFF)] * 60, (OTHER, STATS))
		first = before(client, tags[-1])
		assert first <= 10, first
	EOF
'
test_expect_success 'of a guest 64 questions wait, and the next are refused; a job has its priority meanwhile' '
	python3 - <<-\EOF
		from asks import *
		client = wire.Client()
		flood(client)
		told = subprocess.run([sys.executable, os.environ["WIRE"], "submit", "--simulate", "0.01", "--", "true"],
		                      check=True, capture_output=True, text=True)
		assert wire.wait_event(wire.Client(), told.stdout, "priority") == 0
		assert waiting() > 10, waiting()
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
		client = wire.Client()
		flood(client)
		last = waiting()
		client.sock.close()
		while now := waiting():
		    last = now
		assert last > 10, last
	EOF
'
test_expect_success 'a module that ends refuses those that wait' '
	python3 - <<-\EOF
		from asks import *
		client = wire.Client()
		flood(client)
		wire.Client().rpc("module.remove", {"name": "job-priority"})
		while (message := client.receive()).aux1 in (0, AGAIN):
		    pass
		assert "job-priority was removed" in message.text, message.text
	EOF
'
test_expect_success 'it ends' '
	stop_broker here
'
test_done
