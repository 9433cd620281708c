#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='what the child instances of guests send, however much, holds up neither jobs into partitions nor the owner nor another guest'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[access]
allow-guest-user = true
[queues.own]
[weir.users]
alice = 5001
[[partition]]
name = "batch"
cores = 2
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# A running job of alice attaches as a child that knows as many jobs as it may: 2.3 MB.
cat >asks.py <<\EOF
import json, os, wire
from burst import *

JOB = int(open("job").read())
HEAD = {"jobid": JOB, "session": "s"}
ATTACH = ("job-route.attach", json.dumps({**HEAD, "serves": ["own"], "cores": 1, "known": [[10**12 + i, True, 16, False] for i in range(65536)]}))
STATS, TREE = ("job-route.stats-get", {}), ("job-route.tree", {})
MANY = 25


def waiting():
    return json.loads(wire.Client().rpc(*STATS))["guests_waiting"]

def attaches(client, *behind):
    """Many in one piece, and behind them other requests, whose matchtags it returns."""
    return send(client, *[(GUEST, ATTACH)] * MANY, *behind, flags=wire.STREAMING)[MANY:]

def attached_before(client, is_last):
    """How many of them were attached before that message."""
    count = 0
    while not is_last(message := client.receive()):
        count += "attached" in message.text
    assert not message.aux1, message.text
    return count

def flood():
    """A client whose attaches have all come, and how many of them wait."""
    client = wire.Client()
    [tag] = attaches(client, (OWNER, STATS))
    while (message := client.receive()).aux2 != tag:
        pass
    return client, json.loads(message.text)["guests_waiting"]

def is_early(asker, asked):
    """The request behind those of a guest is answered before nearly all of them, and these are answered."""
    client = wire.Client()
    [tag] = attaches(client, (asker, asked))
    first = attached_before(client, lambda message: message.aux2 == tag)
    assert first <= 8, first
    rest = 0
    while first + rest < MANY:
        rest += "attached" in client.receive().text

def refused(client, tag):
    try:
        return client.answer(tag)
    except wire.Failed as failed:
        return str(failed)
EOF
# in_python: runs the standard input, behind the functions above
in_python() {
	{ cat asks.py && cat; } >asked.py && timeout 120 python3 asked.py
}

test_expect_success 'a partition, and a job of a guest that runs in the parent itself' '
	start_weir --cores 4 --config site.toml && are_up batch &&
	weir submit --json -q own --user alice --simulate=1h x | jq .id >job && wait_event $(cat job) start
'
# Kills: each attach is served when it comes.
test_expect_success 'the owner is answered before the attaches that a guest has sent before his, and these are answered' '
	echo "is_early(OWNER, STATS)" | in_python
'
test_expect_success 'so is another guest' '
	echo "is_early(OTHER, TREE)" | in_python
'
test_expect_success 'a job reaches the partition and starts there while they wait' '
	in_python <<-\EOF
		client, _ = flood()
		options = wire.submit_words(["--simulate=1", "--setattr", "queue=batch", "--", "true"])
		signed = wire.signed(os.getuid(), wire.jobspec(options))
		ran = json.loads(wire.Client().rpc("job-ingest.submit", {"J": signed, "urgency": 16, "flags": 0}))["id"]
		assert wire.wait_event(wire.Client(), ran, "start") == 0
		assert waiting() >= 5, waiting()
	EOF
'
test_expect_success 'the requests of a client that has gone are forgotten' '
	in_python <<-\EOF
		client, last = flood()
		client.sock.close()
		while now := waiting():
		    last = now
		assert last >= 5, last
	EOF
'
test_expect_success 'who has no job that runs here, or no session, is refused at once' '
	in_python <<-\EOF
		client = wire.Client()
		report = ("job-route.report", {**HEAD, "seq": 1, "events": []})
		tags = send(client, (OTHER, ATTACH), flags=wire.STREAMING) + send(client, (OTHER, report))
		said = [refused(client, tag) for tag in tags]
		assert "no job of yours runs here" in said[0] and "attach again" in said[1], said
	EOF
'
test_expect_success 'a report of a guest has at most 256 events' '
	in_python <<-\EOF
		client = wire.Client()
		client.answer(send(client, (GUEST, ("job-route.attach", {**HEAD, "serves": ["own"], "known": [], "cores": 1})), flags=wire.STREAMING)[0])
		def report(first, count):
		    events = [{"id": 10**12 + i, "name": "start"} for i in range(count)]
		    return refused(client, send(client, (GUEST, ("job-route.report", {**HEAD, "seq": first, "events": events})))[0])
		said = [report(1, 257), report(1, 256), report(257, 1)]
		assert "at most 256 events, not 257" in said[0], said
		assert [json.loads(one)["seq_acked"] for one in said[1:]] == [256, 257], said
	EOF
'
# Kills: megabytes that wait and that no quota counts.
test_expect_success 'answers to no question do not wait' '
	in_python <<-\EOF
		client, last = flood()
		answer = ("job-route.answer", {**HEAD, "number": 1, "body": "x" * (1 << 20)})
		send(client, *[(GUEST, answer)] * 20, flags=wire.NORESPONSE)
		[tag] = send(client, (OWNER, STATS))
		while (message := client.receive()).aux2 != tag:
		    pass
		assert json.loads(message.text)["guests_waiting"] <= last, (last, message.text)
	EOF
'
test_expect_success 'a module that ends refuses those that wait' '
	in_python <<-\EOF
		client, _ = flood()
		wire.Client().rpc("module.remove", {"name": "job-route"})
		while "job-route was removed" not in client.receive().text:
		    pass
	EOF
'
test_expect_success 'it ends' '
	call module.load "{\"path\":\"job-route\",\"args\":[]}" && are_up batch && stop_weir && test -z "$(leftovers)"
'
test_done
