#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir share report: one page and files for papers, with the numbers of weir --json to the digit'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

write_departments
add_departments

# The functions of Python with which a page, or a picture that stands alone, is read.
cat >reading.py <<EOF
import json, sys, xml.etree.ElementTree as tree
from compared import *
def tag(e): return e.tag.rsplit("}", 1)[-1]
class Page:
    def __init__(self, name):
        self.root = tree.fromstring(open(name, "rb").read())
        self.pictures = [e for e in self.root.iter() if tag(e) == "svg"]
    def rows(self, key):
        "data-* attributes of the groups that have data-KEY"
        groups = [e for e in self.root.iter() if tag(e) == "g" and "data-" + key in e.attrib]
        return [{**{k[5:]: v for k, v in g.attrib.items()}, "title": next((c.text for c in g if tag(c) == "title"), "")} for g in groups]
EOF

# allocated JOB: returns when it has its cores
allocated() {
	id=$(weir jobs --json | python3 -c "import json, sys; print([j[\"id\"] for j in json.load(sys.stdin)[\"jobs\"] if j[\"job\"] == sys.argv[1]][0])" "$1") &&
	FLUX_URI=local://$WEIR_RUNDIR/local-0 wait_event "$id" alloc
}

test_expect_success 'an instance with ended, running and pending jobs' '
	start_weir --tree shares.toml --config weir.toml &&
	for u in alice bob carol; do
		id=$(weir submit --user $u -n 2 --simulate=0.2s done-$u) && ended $id || return 1
	done &&
	weir submit --user carol -n 4 --simulate=1000s -t 1h long >running && allocated $(cat running) &&
	for u in alice bob carol; do
		weir submit --user $u -n 6 --simulate=10s -t 30m wait-$u >wait.$u || return 1
	done &&
	weir prio list --json >waiting.json && test $(field waiting.json "len(d[\"jobs\"])") -ge 3
'
queue_in() {
	field "$1" "[j[\"id\"] for j in d[\"jobs\"]]"
}
# reported: report.html, and prio.json of the same queue: a pass may change its order at any time
reported() {
	for try in 1 2 3 4 5 6 7 8 9 10; do
		weir prio list --json >prio.json && weir share report --user bob -o report.html >out && weir prio list --json >after.json || return 1
		test "$(queue_in prio.json)" = "$(queue_in after.json)" && return 0
	done
	return 1
}
test_expect_success 'the page is one well-formed file below 60 kB, without script and without another host' '
	reported && grep "^report.html$" out && test $(wc -c <report.html) -lt 60000 &&
	test_expect_code 1 grep -i "<script\|http:\|https:\|@import\|url(" report.html &&
	grep "prefers-color-scheme:dark" report.html && grep "color-scheme:light dark" report.html
'
test_expect_success 'it has four pictures, each with role, title and description' '
	python3 - <<-\EOF
	from reading import *
	pictures = Page("report.html").pictures
	same([p.get("id") for p in pictures], ["share-tree", "forgetting", "queue", "instances"])
	for p in pictures:
	    same((p.get("role"), p.get("aria-labelledby"), [tag(c) for c in p][:2]), ("img", p.get("id") + "-t " + p.get("id") + "-d", ["title", "desc"]))
	    assert p[0].text and p[1].text, p.get("id")
	EOF
'
test_expect_success 'the queue is that of weir prio list --json: order, place, priority; the jobs of one user are marked' '
	python3 - <<-\EOF
	from reading import *
	drawn, listed = Page("report.html").rows("place"), load("prio.json")["jobs"]
	same([(int(r["place"])) for r in drawn], [j["rank"] for j in listed])
	same([r["title"].split(" of ")[1].split(":")[0].replace(" (yours)", "") for r in drawn], [j["user"] for j in listed])
	same(["(yours)" in r["title"] for r in drawn], [j["user"] == "bob" for j in listed])
	assert all(abs(int(r["priority"]) - j["priority"]) <= max(100, j["priority"] // 1000) for r, j in zip(drawn, listed)), (drawn, listed)
	EOF
'
test_expect_success 'once nothing runs, every number of the share tree is that of weir share show --json, to the digit' '
	weir cancel --all --user carol && weir cancel --all --user alice && weir cancel --all --user bob &&
	for id in $(cat running wait.*); do ended $id || return 1; done &&
	FLUX_URI=local://$WEIR_RUNDIR/local-0 wait_until job-priority.usage "{}" "[.nodes[].running_cores] | add == 0" &&
	weir share report -o idle.html && weir share show --json >show.json &&
	python3 - <<-\EOF
	from reading import *
	drawn, shown = Page("idle.html").rows("usage-core-s"), load("show.json")["nodes"]
	same({(r["path"], float(r["entitled"]), float(r["used"]), float(r["usage-core-s"])) for r in drawn},
	     {(n["path"], n["entitled"], n["used"], n["usage_core_s"]) for n in shown})
	assert sum(n["usage_core_s"] > 0 for n in shown) == 7, shown
	same([r["path"] for r in drawn][:3], ["physics", "physics/lattice", "physics/lattice/@alice"])
	EOF
'
test_expect_success 'an empty queue says so' '
	grep "No job is pending" idle.html
'
test_expect_success 'the instances are those of weir tree --json' '
	weir tree --json >tree.json &&
	python3 - <<-\EOF
	from reading import *
	drawn, top = Page("idle.html").rows("busy"), load("tree.json")
	same(drawn[0]["instance"], "top")
	facts = lambda i: (i["cores"], i["cores_busy"], i["jobs"]["pending"], i["jobs"]["running"])
	read = lambda r: tuple(int(r[k]) for k in ("cores", "busy", "waiting", "running"))
	same(sorted(map(read, drawn)), sorted(map(facts, [top] + top["children"])))
	EOF
'
test_expect_success '--svg: a file for each picture, which stands alone' '
	mkdir papers && weir share report --svg papers >out && test $(wc -l <out) -eq 4 &&
	python3 - <<-\EOF &&
	from reading import *
	for name in ("share-tree", "forgetting", "queue", "instances"):
	    page = Page(f"papers/{name}.svg")
	    same((page.root.tag, len(page.pictures)), ("{http://www.w3.org/2000/svg}svg", 1))
	    assert "prefers-color-scheme:dark" in open(f"papers/{name}.svg").read()
	EOF
	weir share report --svg papers --json >j && json_is j weir.share-report/1 && test $(field j "len(d[\"files\"])") -eq 4
'
test_expect_success '--job: why another job is ahead; the gap adds up' '
	allocated $(weir submit --user carol -n 6 --simulate=1000s -t 1h fill) && weir submit --user alice -n 6 --simulate=10s a &&
	weir submit --user carol -n 6 --simulate=10s c && weir prio list --json >prio.json &&
	weir share report --job $(field prio.json "d[\"jobs\"][-1][\"id\"]") -o why.html &&
	python3 - <<-\EOF
	import re
	from reading import *
	pair = [r for r in Page("why.html").rows("priority") if "place" not in r]
	jobs = load("prio.json")["jobs"]
	same([r["title"].split(" of ")[1].split(",")[0] for r in pair], [jobs[0]["user"], jobs[-1]["user"]])
	text = next(p[1].text for p in Page("why.html").pictures if p.get("id") == "two-jobs")
	gap, parts = re.search(r"The gap of ([\d ]+) is ([^.]*)\.", text).groups()
	number = lambda s: int(s.replace(" ", ""))
	same(number(gap), int(pair[0]["priority"]) - int(pair[1]["priority"]))
	same(sum(number(re.search(r"-?[\d ]+$", p).group(0)) for p in parts.split(",")), number(gap))
	EOF
'
test_expect_success 'what cannot be: a job that is not there, a folder that is not there' '
	test_expect_code 5 weir share report --job f1 2>err && cat err && test_expect_code 2 weir share report --job "?" 2>err &&
	test_must_fail weir share report -o nowhere/report.html 2>err && grep nowhere err && ! test -e weir-report.html
'
test_expect_success 'the instance ends' '
	stop_weir
'

test_done
