#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a private instance: the page gives each user his own part and sums without names, by the bytes of the wire'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >shares.toml <<EOF
"physics" = 60
"physics/lattice" = 2
"physics/lattice/@alice" = 1
"physics/lattice/@erin" = 1
"physics/astro" = 1
"physics/astro/@bob" = 1
"chem" = 40
"chem/@carol" = 1
EOF
cat >open.toml <<EOF
[weir]
decay = "none"
update-interval = "1s"
[weir.users]
alice = 5001
bob = 5002
carol = 5003
erin = 5004
EOF
{ cat open.toml && printf '[access]\nprivate-mode = true\n'; } >weir.toml
# The bytes of a user's stream, until all words stand in them, and of any other answer: `from seeing import *`.
cat >seeing.py <<EOF
import json, re
import serve_client as client
page = "unix:page.sock"
def load(name): return json.load(open(name))
def same(a, b): assert a == b, f"{a}\nis not\n{b}"
def stream(user, *words, after=None):
    link, headers = client.connection(page)
    link.request("GET", "/api/events", headers={"X-Remote-User": user} if user else {})
    answer = link.getresponse()
    assert answer.status == 200, answer.status
    got = b""
    while not all(word.encode() in got for word in words):
        line = answer.readline()
        assert line, got
        got += line
        if after and b"event: pictures" in got:
            after = after()
    return got
def answer(user, path):
    status, headers, body = client.get(page, path, ["X-Remote-User: " + user] if user else [])
    return status, body
def tree(got): return json.loads(re.findall(rb"event: tree\ndata: (.*)\n", got)[-1])
def hides(got, *names):
    for name in names:
        assert name.encode() not in got, (name, got)
EOF

test_expect_success 'a private instance in which jobs have run, run and wait' '
	start_weir --cores 8 --tree shares.toml --config weir.toml && FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI &&
	test_expect_code 1 grep "no effect" start.err && start_serve page --socket "$PWD/page.sock" &&
	for u in alice bob carol erin; do
		id=$(weir submit --json --user $u -n 2 --simulate=0.2s done-$u | python3 -c "import json, sys; print(json.load(sys.stdin)[\"id\"])") &&
		wait_event $id clean || return 1
	done &&
	wait_until job-priority.usage "{}" "[.nodes[].running_cores] | add == 0" && weir share show --json >show.json &&
	weir submit --user erin -n 6 --simulate=10h long >long && for u in bob alice carol alice; do weir submit --user $u -n 6 --simulate=1h wait >>jobs.$u || return 1; done &&
	wait_until job-priority.share-rows "{}" "[.rows[] | select(.path == \"physics\")] | .[0].running_cores == 6 and .[0].pending_jobs == 3"
'
test_expect_success 'a user gets his associations with what is above them; the rest of each level is one sum; nobody else is named' '
	python3 - <<-\EOF
	from seeing import *
	shown = {n["path"]: n for n in load("show.json")["nodes"]}
	jobs = {u: open("jobs." + u).read().split() for u in ("alice", "bob", "carol")} | {"erin": open("long").read().split()}
	everybody, accounts = {"alice", "bob", "carol", "erin"}, {"lattice", "astro", "chem"}
	for user, own, others in [("alice", ["physics", "physics/lattice", "physics/lattice/@alice"], {"[others]": ["chem"],
	                           "physics/[others]": ["physics/astro"], "physics/lattice/[others]": ["physics/lattice/@erin"]}),
	                          ("bob", ["physics", "physics/astro", "physics/astro/@bob"], {"[others]": ["chem"], "physics/[others]": ["physics/lattice"]})]:
	    got = stream(user, "event: tree", "event: pictures", "event: past", jobs[user][0])
	    rows = {row[0]: row for row in tree(got)["rows"]}
	    same(sorted(rows), sorted(own + list(others)))
	    for path in own:
	        same(rows[path][1:3], [shown[path]["shares"], shown[path]["entitled"]])
	    for path, summed in others.items():
	        same(rows[path][1:3], [sum(shown[p][k] for p in summed) for k in ("shares", "entitled")])
	    hides(got, *(everybody - {user}), *(accounts - {p.split("/")[1] for p in own if "/" in p}), *(j for u in everybody - {user} for j in jobs[u]))
	    for job in jobs[user]:
	        assert job.encode() in got, (job, got)
	EOF
'
test_expect_success 'what changes is sent by the same rule' '
	python3 - <<-\EOF
	import subprocess
	from seeing import *
	def later():
	    subprocess.run(["weir", "submit", "--user", "carol", "-n", "1", "--simulate=1h", "more"], check=True, capture_output=True)
	    subprocess.run(["weir", "share", "set", "-m", "because of carol", "chem/@carol", "7"], check=True, capture_output=True)
	got = stream("alice", "\"revision\":2", after=later)
	hides(got, "carol", "erin", "bob", "chem", "because")
	EOF
'
test_expect_success 'another user of an account has another part; one without an association sees sums alone' '
	python3 - <<-\EOF
	from seeing import *
	got = stream("erin", "event: tree", "event: pictures")
	same([r[0] for r in tree(got)["rows"] if not r[0].endswith("[others]")], ["physics", "physics/lattice", "physics/lattice/@erin"])
	got = stream("nobody", "event: tree", "event: pictures")
	same([r[0] for r in tree(got)["rows"]], ["[others]"])
	hides(got, "alice", "bob", "carol", "erin", "physics", "chem")
	EOF
'
test_expect_success 'two jobs: the other one has no name; of a job of somebody else nothing is told, not even that it is there' '
	python3 - <<-\EOF
	import urllib.parse
	from seeing import *
	def two(user, job): return answer(user, "/api/two-jobs?job=" + urllib.parse.quote(job))
	alice, bob = open("jobs.alice").read().split(), open("jobs.bob").read().split()
	status, body = two("alice", alice[0])
	same((status, b"another job" in body, alice[0] in json.loads(body)["svg"]), (200, True, True))
	hides(body, "bob", "carol", "erin", *bob)
	status, body = two("alice", bob[0])
	same(status, 404)
	hides(body, "bob", "astro")
	same(two("alice", "999999")[1].split(b" is ")[1], body.split(b" is ")[1])
	EOF
'
test_expect_success 'the metrics have accounts of the top level, queues and partitions, and no user, for everybody' '
	python3 - <<-\EOF &&
	from seeing import *
	for user in ("alice", "", "bob"):
	    status, body = answer(user, "/metrics")
	    same(status, 200)
	    same(sorted(set(re.findall(rb"weir_share_used_ratio\{path=\"([^\"]*)\"", body))), [b"chem", b"physics"])
	    hides(body, "alice", "bob", "carol", "erin", "lattice", "astro")
	    assert b"weir_queue_jobs" in body and b"weir_partition_cores" in body, body
	EOF
	weir metrics >metrics && grep "path=\"chem\"" metrics && test_expect_code 1 grep lattice metrics &&
	test_expect_code 2 weir metrics --users 2>err && grep private-mode err && test_expect_code 2 weir metrics --depth 2 2>err
'
test_expect_success 'the owner sees all' '
	python3 - <<-\EOF
	from seeing import *
	got = stream("", "event: tree", "event: pictures", "bob")
	same(len(tree(got)["rows"]), 8)
	same(len(load("show.json")["nodes"]), 8)
	EOF
'
test_expect_success 'an instance that is private no more shows everybody all; private again, it takes back what it may' '
	cat >reload.py <<-\EOF &&
	import subprocess
	from seeing import *
	def put(name):
	    open("weir.toml", "w").write(open(name).read())
	    subprocess.run(["weir", "reload"], check=True, capture_output=True)
	open("private.toml", "w").write(open("weir.toml").read())
	got = stream("alice", "chem/@carol", after=lambda: put("open.toml"))
	assert b"[others]" in got, got
	got = stream("alice", "chem/@carol", "[others]", after=lambda: put("private.toml"))
	same([r[0] for r in tree(got)["rows"] if "carol" in r[0]], [])
	EOF
	python3 reload.py
'
test_expect_success 'the server and the instance end' '
	stop_serve page && stop_weir
'

test_done
