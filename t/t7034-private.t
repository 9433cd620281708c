#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a private instance: job-priority and the page give each user his part and sums without names, by the wire'

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
    for line in client.lines(answer):
        got += line
        if after and not line.strip() and b"event: tree" in got and b"event: pictures" in got:
            after = after()
        if not line.strip() and all(word.encode() in got for word in words):
            return got
    raise AssertionError(got)
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
	weir submit --user erin -n 6 --simulate=10h long >long && wait_until job-priority.usage "{}" "[.nodes[] | select(.path == \"physics/lattice/@erin\") | .running_cores] == [6]" && for u in bob alice carol alice; do weir submit --user $u -n 6 --simulate=1h wait >>jobs.$u || return 1; done &&
	wait_until job-priority.share-rows "{}" "[.rows[] | select(.path == \"physics\")] | .[0].running_cores == 6 and .[0].pending_jobs == 3"
'
cat >asking.py <<EOF
# What job-priority tells users who ask it themselves: from asking import *.
import os, re
import jobctl
from seeing import *
userids = {"alice": 5001, "bob": 5002, "carol": 5003, "erin": 5004}
owner = jobctl.Client(os.environ["FLUX_URI"])
ids = {u: [j["id"] for j in owner.rpc("job-priority.list", {})["jobs"] if j["user"] == u] for u in userids}
def as_user(user): return jobctl.Client(os.environ["FLUX_URI"], userids[user])
def asked(user, topic, payload):
    try:
        return as_user(user).rpc("job-priority." + topic, payload)
    except jobctl.Failed as error:
        return error.errnum, error.text
# Those that a guest may send, by the module's table.
def open_topics():
    with open(os.environ["SHARNESS_TEST_SRCDIR"] + "/../modules/job-priority/module/module_requests.cpp") as file:
        return set(re.findall(r"{request,\s.([a-z-]+).,[^{}]*\sFLUX_ROLE_(?:USER|ALL)}", file.read()))
# Questions of u about v, whose answers would name v in an instance that is not private.
def questions(u, v):
    return {"tree-get": [{}], "history": [{}], "usage": [{}], "list": [{}, {"userid": userids[v]}, {"match": v}], "weights": [{}],
            "usage-report": [{"edges": [0, 4e9], "by": ["account", "user", "queue", "project"]}], "stats-get": [{}],
            "places": [{"ids": ids[v]}], "explain": [{"id": i} for i in ids[u] + ids[v]], "metrics": [{"depth": 1}],
            "share-explain": [{"path": p} for p in ("chem", v, u, "physics", "physics/astro/@bob", "physics/lattice")],
            "share-after": [{"path": p, "cores": 4, "seconds": 3600} for p in (u, v, "chem", "physics/astro/@bob")],
            "share-compare": [{"a": u, "b": v}, {"a": v, "b": v}], "when": [{"a": a, "b": b} for a in ids[u] + ids[v] for b in ids[v]],
            "share-figures": [{"paths": ["physics/lattice/@alice", "physics/astro/@bob", "chem/@carol", "chem", "[others]"]}], "share-rows": [{}, {"match": v}, {"limit": 2}], "tree-diff": [{"a": 1}]}
EOF
test_expect_success 'job-priority itself tells a guest his part of everything that it answers, and names nobody else' '
	python3 - <<-\EOF
	from asking import *
	told = set()
	for user, other, own in (("alice", "bob", ["physics", "lattice"]), ("bob", "carol", ["physics", "astro"])):
	    hidden = [n for n in ("alice", "bob", "carol", "erin") if n != user] + [n for n in ("lattice", "astro") if n not in own]
	    for topic, payloads in questions(user, other).items():
	        told.add(topic)
	        for payload in payloads:
	            got = json.dumps(asked(user, topic, payload))
	            for word in payload.values():  # what he said himself comes back in a refusal
	                got = got.replace(json.dumps(json.dumps(word))[1:-1], "")
	            hides(got.encode(), *hidden, *(str(i) for i in ids[other]), *([] if topic == "metrics" else ["chem"]))
	same(open_topics() - told, {"attach", "policy", "report", "disconnect"})
	EOF
'
test_expect_success 'his part has the figures that the owner sees, and tells where he stands' '
	python3 - <<-\EOF
	from asking import *
	shown = {n["path"]: n for n in owner.rpc("job-priority.tree-get", {})["nodes"]}
	tree = as_user("alice").rpc("job-priority.tree-get", {})
	got = {n["path"]: n for n in tree["nodes"]}
	for path in ("physics", "physics/lattice", "physics/lattice/@alice"):
	    for key in ("shares", "entitled", "running_cores", "pending_jobs"):
	        same((path, got[path][key]), (path, shown[path][key]))
	same(got["[others]"]["charged_core_us"], shown["chem"]["charged_core_us"])
	same(got["physics/[others]"]["pending_jobs"], shown["physics/astro"]["pending_jobs"])
	same(("toml" in tree, tree["author"], tree["reason"]), (False, "", ""))
	listed = as_user("alice").rpc("job-priority.list", {})
	same(([j["id"] for j in listed["jobs"]], listed["of"]), (ids["alice"], 4))
	same(as_user("alice").rpc("job-priority.explain", {"id": ids["alice"][0]})["of"], 4)
	same(*[asked("alice", "explain", {"id": i}) for i in (ids["bob"][0], 1)])
	same(asked("alice", "metrics", {"depth": 2})[0], 1)
	assert as_user("alice").rpc("job-priority.share-explain", {"path": "alice"})["levels"], "no levels"
	EOF
'
test_expect_success 'a child instance of a guest hears his factors alone' '
	python3 - <<-\EOF
	from asking import *
	running = [j["id"] for a in owner.stream("job-list.list", {"max_entries": 0, "attrs": ["userid", "state"]})
	           for j in a["jobs"] if j["userid"] == 5004 and j["state"] == 16]
	first = next(as_user("erin").stream("job-priority.attach", {"jobid": running[0], "instance": "hers"}))
	assert len(first["factors"]) == 1 and "erin" in json.dumps(first["factors"]), first
	hides(json.dumps(first).encode(), "alice", "bob", "carol", "chem", "astro")
	EOF
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
test_expect_success 'his load of the last hour is that of the boxes that he sees' '
	python3 - <<-\EOF
	from seeing import *
	for user in ("alice", "nobody", ""):
	    got = stream(user, "event: tree", "data-instance=", "event: load")
	    load = json.loads(re.findall(rb"event: load\ndata: (.*)\n", got)[-1])
	    drawn = json.loads(re.findall(rb"event: pictures\ndata: (.*data-instance=.*)\n", got)[-1])["instances"]
	    boxes = {name: tuple(map(int, rest)) for name, *rest in re.findall("data-instance=\"([^\"]*)\" data-cores=\"(\\d+)\" data-busy=\"(\\d+)\" data-waiting=\"(\\d+)\"", drawn)}
	    cores, busy, waiting = boxes.pop("top")
	    same((user, load["points"][-1][1:]), (user, [busy - sum(c - b for c, b, w in boxes.values()), cores, waiting]))
	    same({len(point) for point in load["points"]}, {4})
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
	from asking import *
	def put(name):
	    open("weir.toml", "w").write(open(name).read())
	    subprocess.run(["weir", "reload"], check=True, capture_output=True)
	open("private.toml", "w").write(open("weir.toml").read())
	got = stream("alice", "chem/@carol", after=lambda: put("open.toml"))
	assert b"[others]" in got, got
	assert all(n in json.dumps(asked("alice", "tree-get", {})) for n in ("chem/@carol", "astro")), "the question tells nothing"
	got = stream("alice", "chem/@carol", "[others]", after=lambda: put("private.toml"))
	same([r[0] for r in tree(got)["rows"] if "carol" in r[0]], [])
	EOF
	python3 reload.py
'
test_expect_success 'the server and the instance end' '
	stop_serve page && stop_weir
'

test_done
