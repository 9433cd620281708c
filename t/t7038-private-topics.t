#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a private instance: each topic that a guest may call tells him nothing of another user, nor whether a job is there'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >shares.toml <<EOF
"physics" = 2
"physics/lattice" = 1
"physics/lattice/@alice" = 1
"physics/astro" = 1
"physics/astro/@bob" = 1
"chem" = 1
"chem/@carol" = 1
EOF
cat >open.toml <<EOF
[weir]
update-interval = "1s"
[weir.users]
alice = 700000001
bob = 700000002
carol = 700000003
[access]
allow-guest-user = true
EOF
{ cat open.toml && echo "private-mode = true"; } >weir.toml
cat >topics.py <<'EOF'
import json, os, re, sys
import jobctl, wire
uri = os.environ["FLUX_URI"]
users = {"alice": 700000001, "bob": 700000002, "carol": 700000003}
def client(user=None):
    made = jobctl.Client(uri, users[user] if user else None)
    made.sock.settimeout(60)
    return made
owner, alice = client(), client("alice")
nowhere = 888888888883  # no job has this id
ids = {u: [int(word) for word in open("ids." + u)] for u in users}
def f58(number):
    digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    text = ""
    while number:
        number, digit = divmod(number, 58)
        text = digits[digit] + text
    return text
def asked(topic, payload, who=None, streaming=False):
    who = who or alice
    try:
        return who.answer(who.start(topic, payload, wire.STREAMING if streaming else 0))
    except jobctl.Failed as error:
        return error.errnum, error.text
# About one job, and the same about another's and about none.
class Of:
    def __init__(self, payload=None, key="id", streaming=False, silent=False):
        self.payload, self.key, self.streaming, self.silent = payload or {}, key, streaming, silent
    def about(self, topic, job):
        value = [job] if self.key == "ids" else job
        got = json.dumps(asked(topic, {**self.payload, self.key: value}, streaming=self.streaming))
        return got.replace(str(job), "ID").replace("\\u0192" + f58(job), "ID").replace("f" + f58(job), "ID")
    def check(self, topic):
        # A stream of his own has no end, and some accept without an answer.
        for job in [] if self.streaming or self.silent else ids["alice"]:
            hides(topic, self.about(topic, job))
        for job in ids["bob"] + ids["carol"]:
            said, none = self.about(topic, job), self.about(topic, nowhere)
            assert not none.startswith("[71"), f"{topic}: the payload here is not understood: {none}"
            assert said == none, f"{topic} tells that {job} is there:\n{said}\nof no job:\n{none}"
# The same for everybody, and for a guest; this may name accounts on top or users that the site wrote into its configuration.
class Plain:
    def __init__(self, *payloads, streaming=False, but=()):
        self.payloads, self.streaming, self.but = payloads or (None,), streaming, but
    def check(self, topic):
        for payload in self.payloads:
            hides(topic, json.dumps(asked(topic, payload, streaming=self.streaming)), self.but)
# Not answered: there is nothing to read.
class Silent:
    def check(self, topic):
        alice.notify(topic, {"id": ids["bob"][0], "matchtag": 1})
hidden = ["bob", "carol", "astro", "chem", "700000002", "700000003"] + [w for u in ("bob", "carol") for i in ids[u] for w in (str(i), f58(i))]
def hides(topic, text, but=()):
    for word in hidden:
        assert word in but or word not in text, f"{topic} tells {word}:\n{text}"
event = {"jobid": ids["bob"][0], "instance": "x", "session": "x", "number": 1, "body": {}, "seq": 1, "records": [], "events": []}
other, mine = ids["bob"][0], ids["alice"][0]
tree = [{}, {"match": "bob"}]
# Each topic of doc/guests.md, and how it is called here. A new one has to be named: think of what it tells of other users.
TOPICS = {
    "attr.get": Plain({"name": "config.files"}), "attr.list": Plain(), "broker.disconnect": Silent(), "broker.ping": Plain({"seq": 1}),
    "broker.rusage": Plain(), "broker.stats-get": Plain(), "config.disconnect": Silent(),
    "config.get": Plain(but=("bob", "carol", "700000002", "700000003")),
    "event.publish": Plain({"topic": "x", "flags": 0}), "event.subscribe": Plain({"topic": "job-state"}, {"topic": ""}),
    "event.unsubscribe": Plain({"topic": "job-state"}, {"topic": ""}), "groups.disconnect": Silent(), "groups.get": Plain({"name": "broker.online"}),
    "job-exec.kill": Of({"signum": 10}), "job-exec.output": Of(), "job-exec.stats-get": Plain(), "job-info.disconnect": Silent(),
    "job-info.eventlog-watch": Of({"path": "eventlog", "flags": 0}, streaming=True), "job-info.eventlog-watch-cancel": Silent(),
    "job-info.lookup": Of({"keys": ["eventlog"], "flags": 0}), "job-info.update-lookup": Of({"key": "R", "flags": 0}),
    "job-info.update-watch": Of({"key": "R", "flags": 0}, streaming=True), "job-info.update-watch-cancel": Silent(),
    "job-ingest.disconnect": Silent(), "job-ingest.submit": Plain({"J": "x", "urgency": 16, "flags": 0}), "job-list.disconnect": Silent(),
    "job-list.job-stats": Plain({}), "job-list.list": Plain({"max_entries": 0, "attrs": ["all"]}, {"max_entries": 0, "attrs": ["all"], "userid": users["bob"]},
        {"max_entries": 0, "attrs": ["all"], "constraint": {"or": [{"userid": [users["bob"]]}, {"not": [{"userid": [users["bob"]]}]}]}}),
    "job-list.list-attrs": Plain(), "job-list.list-id": Of({"attrs": ["all"]}), "job-list.stats-get": Plain(), "job-manager.alloc-query": Plain(),
    "job-manager.disconnect": Silent(), "job-manager.getattr": Of({"attrs": ["jobspec", "eventlog"]}), "job-manager.getinfo": Plain(),
    "job-manager.history.get": Plain({"slice": "[:]"}), "job-manager.kill": Of({"signum": 10}),
    "job-manager.killall": Plain({"dry_run": True, "userid": users["alice"], "signum": 15}, {"dry_run": True, "userid": 0xFFFFFFFF, "signum": 15}),
    "job-manager.memo": Of({"memo": {}, "volatile": True}), "job-manager.queue-list": Plain(), "job-manager.queue-status": Plain({"name": "batch"}),
    "job-manager.raise": Of({"severity": 7, "type": "x"}),
    "job-manager.raiseall": Plain({"dry_run": True, "userid": users["alice"], "states": 62, "severity": 7, "type": "x"}),
    "job-manager.stats-get": Plain(), "job-manager.update": Of({"updates": {"attributes.system.duration": 60}}), "job-manager.urgency": Of({"urgency": 6}),
    "job-priority.attach": Of(event, key="jobid", streaming=True), "job-priority.disconnect": Silent(), "job-priority.explain": Of(),
    "job-priority.history": Plain({}), "job-priority.list": Plain({}, {"userid": users["bob"]}, {"match": "x"}), "job-priority.metrics": Plain({"depth": 1}, {"depth": 2}, but=("chem",)),
    "job-priority.places": Of(key="ids"), "job-priority.policy": Of({"settings": "x", "tree": 1, "from": "own"}, key="jobid", silent=True), "job-priority.report": Of(event, key="jobid"),
    "job-priority.share-after": Plain({"path": "alice", "cores": 4, "seconds": 60}), "job-priority.share-compare": Plain({"a": "alice", "b": "alice"}),
    "job-priority.share-explain": Plain({"path": "alice"}), "job-priority.share-figures": Plain({"paths": ["physics/@x", "[others]"]}),
    "job-priority.share-rows": Plain({}), "job-priority.stats-get": Plain(), "job-priority.tree-diff": Plain({"a": 1}), "job-priority.tree-get": Plain({}),
    "job-priority.usage": Plain({}), "job-priority.usage-report": Plain({"edges": [0, 4e9], "by": ["account", "user", "queue"]}), "job-priority.weights": Plain({}),
    "job-priority.when": Of({"b": mine}, key="a"),
    "job-route.answer": Of(event, key="jobid"), "job-route.ask": [Of({"topic": t, "payload": {"attrs": ["all"]} if "list" in t else {}}) for t in
        ("job-list.list-id", "job-manager.queue-status", "job-priority.explain", "sched.why", "job-exec.output")],
    "job-route.attach": Of({**event, "serves": [], "known": []}, key="jobid", streaming=True), "job-route.disconnect": Silent(),
    "job-route.ids": Of(key="ids"), "job-route.locate": Of(), "job-route.partitions": Plain({}), "job-route.report": Of(event, key="jobid"),
    "job-route.stats-get": Plain(), "job-route.tree": Plain({}), "kvs.stats-get": Plain(), "log.stats-get": Plain(), "module.disconnect": Silent(),
    "module.list": Plain(), "ping": Plain({"seq": 1}), "resource.disconnect": Silent(), "resource.sched-status": Plain(), "resource.stats-get": Plain(),
    "resource.status": Plain(), "rusage": Plain(), "sched.check": Plain({"jobspec": {}}), "sched.stats-get": Plain(), "sched.why": Of(),
    "overlay.disconnect": Silent(), "overlay.health": Plain(), "overlay.topology": Plain({"rank": 0}),
    "service.add": Plain({"service": "700000001-x"}), "service.remove": Plain({"service": "700000001-x"}), "state-machine.disconnect": Silent(),
    "state-machine.get": Plain(), "state-machine.wait": Plain(), "stats-get": Plain(),
}
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# submit USER OPTION...: sets id, and keeps it
submit() {
	u=$1 && shift && weir submit --json --user $u "$@" >job.json && id=$(field job.json "d[\"id\"]") && echo $id >>ids.$u
}

test_expect_success 'jobs of three users: ended ones, one that runs in a partition, some that wait there and some above it' '
	start_weir --cores 4 --tree shares.toml --config weir.toml &&
	for u in alice bob carol; do
		submit $u -q batch -n1 --simulate=0.1s done-of-$u && wait_event $id clean || return 1
	done &&
	total=$(weir tree --json >tree.json && field tree.json "[c[\"cores\"] for c in d[\"children\"] if \"batch\" in c[\"serves\"]][0]") &&
	submit bob -q batch -n$total -t10h --simulate=10h runs-of-bob && wait_event $id start &&
	submit carol -q batch -n$total -t1h --simulate=1h waits-of-carol &&
	wait_until job-route.ask "{\"id\":$id,\"topic\":\"sched.why\",\"payload\":{}}" ".answer.place == 1" &&
	submit alice -q batch -n$total -t1h --simulate=1h waits-of-alice && weir nice $id 10 && alice=$id &&
	wait_until job-route.ask "{\"id\":$id,\"topic\":\"sched.why\",\"payload\":{}}" ".answer.place == 2 and .answer.behind != null" &&
	for u in bob carol alice; do submit $u -q batch -n1 -t1h --simulate=1h --nice=16 held-of-$u || return 1; done
'
test_expect_success 'each topic that a guest may call is known here, and no other is' '
	python3 - <<-\EOF
	from topics import *
	listed = set(re.findall(r"^\| `([^`]+)`", open(os.environ["SHARNESS_TEST_SRCDIR"] + "/../doc/guests.md").read(), re.M))
	assert listed == set(TOPICS), f"say in TOPICS how to call {sorted(listed - set(TOPICS))}; not there any more: {sorted(set(TOPICS) - listed)}"
	EOF
'
test_expect_success 'each tells of the jobs and the usage of other users nothing, and of their jobs what it tells of none' '
	python3 - <<-\EOF
	from topics import *
	modules = [m["name"] for m in owner.rpc("module.list", {})["mods"]]
	for topic, calls in TOPICS.items():
	    for one in ([topic] if "." in topic else [m + "." + topic for m in modules]):
	        for call in calls if isinstance(calls, list) else [calls]:
	            call.check(one)
	EOF
'
# Users of the machine are ahead of alice: no figure of hers names them, whatever it is computed by.
test_expect_success 'no algorithm tells who is ahead, nor what is in an account that admits every user' '
	cp weir.toml private.toml && weir share add guests 1 && weir share add guests/@bob 1 && weir share add "guests/@*" 1 &&
	for a in fair-tree fair-tree-as-slurm classic depth-oblivious dynamic-user served-share demand-capped targets weighted-tree; do
		sed "s/^update-interval/algorithm = \"$a\"\n&/" private.toml >weir.toml && weir reload && weir share explain alice --json >owner.json &&
		test $(field owner.json "d[\"algorithm\"]") = $a && echo "$a: $(field owner.json "d[\"reason\"]")" >>told &&
		python3 - $a <<-\EOF || return 1
	from topics import *
	for path in ("alice", "physics", "physics/lattice", "physics/lattice/@alice"):
	    got = asked("job-priority.share-explain", {"path": path})
	    assert got["algorithm"] == sys.argv[1], got
	    hides("share-explain", json.dumps(got))
	TOPICS["job-priority.share-after"].check("job-priority.share-after")
	refused = {asked("job-priority.share-explain", {"path": p})[1].replace(p, "it") for p in ("guests/@alice", "guests/@bob", "guests", "chem", "nowhere")}
	assert len(refused) == 1, refused
	EOF
	done &&
	cat told && grep "bob\|carol\|chem" told && cp private.toml weir.toml && weir reload
'
test_expect_success 'the test sees: in an instance that is not private the same words are told' '
	cp weir.toml private.toml && cp open.toml weir.toml && weir reload &&
	python3 - <<-\EOF && cp private.toml weir.toml && weir reload
	from topics import *
	blind = []
	for topic in ("job-list.list", "job-list.list-id", "job-priority.list", "job-priority.tree-get", "job-route.ask", "job-route.locate", "job-route.ids",
	              "job-info.lookup", "job-manager.getattr", "job-manager.raise"):
	    try:
	        for call in TOPICS[topic] if isinstance(TOPICS[topic], list) else [TOPICS[topic]]:
	            call.check(topic)
	        blind.append(topic)
	    except AssertionError:
	        pass
	assert not blind, blind
	EOF
'
test_expect_success 'he is told why his own job waits: its place, not whose job is first; counts of all are refused as in Flux' '
	python3 - <<-\EOF
	from topics import *
	job = ids["alice"][1]
	why = asked("job-route.ask", {"id": job, "topic": "sched.why", "payload": {}})["answer"]
	assert why["place"] == 2 and "behind" not in why and why["behind_start"] > 0, why
	full = asked("job-route.ask", {"id": job, "topic": "job-priority.explain", "payload": {}})["answer"]
	assert full["rank"] == 2 and full["ahead"][0]["id"] is None and full["ahead"][0]["why"], full
	listed = asked("job-list.list", {"max_entries": 0, "attrs": ["userid"]})["jobs"]
	assert sorted(j["id"] for j in listed) == sorted(ids["alice"]) and {j["userid"] for j in listed} == {users["alice"]}, listed
	for topic in ("job-list.job-stats", "job-list.stats-get", "job-manager.getinfo", "job-manager.stats-get"):
	    assert asked(topic, {})[0] == 1, topic
	    assert isinstance(asked(topic, {}, who=owner), dict), topic
	admin = jobctl.Client(uri, users["alice"], rolemask=2 | 8)
	assert isinstance(asked("job-list.job-stats", {}, who=admin), dict), "the role admin sees what the owner sees"
	EOF
'
test_expect_success 'in the answer to a request that waited the rule of that moment counts' '
	cp open.toml weir.toml && weir reload && held=$(tail -n1 ids.bob) &&
	cat >waits.py <<-\EOF &&
	import subprocess
	from topics import *
	job = ids["bob"][-1]
	tag = alice.start("job-list.list-id", {"id": job, "attrs": ["all"], "state": 64})
	stats = alice.start("job-list.job-stats", {}, wire.STREAMING)
	assert alice.answer(stats)["job_states"]["inactive"] == 3
	open("weir.toml", "w").write(open("private.toml").read())
	subprocess.run(["weir", "reload"], check=True, capture_output=True)
	owner.rpc("job-manager.raise", {"id": job, "severity": 0, "type": "cancel"})
	refused = []
	for one in (tag, stats):
	    try:
	        hides("a request that waited", json.dumps(alice.answer(one)))
	    except jobctl.Failed as error:
	        refused.append(error.errnum)
	assert refused == [2, 1], refused
	EOF
	python3 waits.py
'
if test "$(id -u)" = 0 && command -v setpriv >/dev/null && setpriv --reuid=65534 --clear-groups test -x "$WEIR_BUILD_DIR/bin/weir"; then
	test_set_prereq GUEST
fi
as_guest() {
	chmod 711 run && HOME=/ setpriv --reuid=65534 --clear-groups weir "$@"
}
test_expect_success GUEST 'the commands of another user of this machine show him no job and no name, and counts without names' '
	for words in "jobs -a" "tree" "share show" "prio list" "usage" "share history" "metrics"; do
		as_guest $words >out 2>&1 || { echo "weir $words"; cat out; return 1; }
		test_expect_code 1 grep -e "bob\|carol\|alice\|70000000[123]" out || return 1
	done &&
	as_guest tree --json >tree.json && cat tree.json && test $(field tree.json "d[\"jobs\"][\"pending\"]") -gt 0 &&
	test_expect_code 5 as_guest why $alice 2>err && test_expect_code 5 as_guest why 1 2>err1 && sed "s/$alice/1/g" err | cat - err1
'
test_expect_success 'the instance ends' '
	stop_weir
'

test_done
