#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='instances inside instances on the page: a box leads into its instance, the line on top leads back; guests of a private one stay out'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir
use_browser

write_departments
printf '[[partition]]\nname = "batch"\ncores = 4\n[[partition]]\nname = "debug"\ncores = 2\n' >>weir.toml
# What the tests look with: `from inside import *`. until() is all events of a way, up to the first that holds.
cat >inside.py <<EOF
import json, os, subprocess
import serve_client as client
from browser import Browser
from compared import *
url, batch = load("page.json")["url"], open("batch").read().strip()
def screen(page, name): page.screenshot(os.environ["SCREENS"] + "/" + name + ".png")
def weir(*words): return json.loads(subprocess.run(["weir", *words, "--json"], check=True, capture_output=True, text=True).stdout)
def rows(page, selector): return page.run("[...document.querySelectorAll(" + json.dumps(selector) + ")].map(e => ({...e.dataset}))")
def until(url, way, holds, user=None):
    had = []
    for name, data in client.events(url, "/api/events?in=" + way, ["X-Remote-User: " + user] if user else []):
        had.append((name, data))
        if holds(name, data):
            return had
    raise OSError("the stream has ended")
EOF
# child NAME FIELD: of a partition's instance, as job-route tells it
child() {
	call job-route.tree | jq -r ".children[] | select(.partition == \"$1\").$2"
}

test_expect_success 'an instance with two partitions, a job that runs in one of them and jobs that wait there' '
	start_weir --cores 8 --tree shares.toml --config weir.toml && FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI &&
	partition batch "select(.state == \"up\")" && partition debug "select(.state == \"up\")" &&
	first=$(weir submit --json -q batch --user alice -n 4 --simulate=10h runs | jq .id) && wait_event $first start &&
	for u in bob carol; do weir submit -q batch --user $u -n 4 --simulate=1h waits || return 1; done &&
	child batch jobid >batch && child batch uri >batch.uri && child debug jobid >debug &&
	FLUX_URI=$(cat batch.uri) wait_until job-priority.list "{}" ".of == 2" >/dev/null &&
	start_serve page --port 0 --edit
'
test_expect_success 'its events have the tree, the queue and the boxes of that instance, and the way to it; it is only read' '
	python3 - <<-\EOF
	import re
	from inside import *
	had = until(url, batch, lambda name, data: name == "pictures" and "instances" in data)
	last = dict(had)
	same(last["place"]["names"], ["top", "batch"])
	same(last["hello"]["may_edit"], False)
	shown = {n["path"]: n["shares"] for n in weir("--uri", open("batch.uri").read().strip(), "share", "show")["nodes"]}
	same({r[0]: r[1] for r in last["tree"]["rows"]}, shown)
	assert "physics/lattice/@alice" in shown
	pictures = {name: svg for event, data in had if event == "pictures" for name, svg in data.items()}
	same(re.findall("data-instance=\"([^\"]*)\" data-cores=\"([0-9]+)\" data-busy=\"([0-9]+)\"", pictures["instances"]), [("batch", "4", "4")])
	EOF
'
test_expect_success 'its metrics are its own' '
	python3 - <<-\EOF
	from inside import *
	status, headers, inner = client.get(url, "/metrics?in=" + batch)
	same(status, 200)
	assert b"weir_share_used_ratio" in inner and b"weir_partition_cores{" not in inner, inner
	assert b"weir_partition_cores{" in client.get(url, "/metrics")[2]
	EOF
'
test_expect_success 'a way that is none is refused; an instance that is not there is told' '
	python3 - <<-\EOF
	from inside import *
	for wrong in ("x", "1/", "/1", "1//2", "-1", "1%2F" * 16 + "1", "99999999999999999999"):
	    same((wrong, client.get(url, "/api/events?in=" + wrong)[0]), (wrong, 400))
	for way in ("12345", batch + "/12345"):
	    had = until(url, way, lambda name, data: name == "trouble")
	    assert "no instance runs" in had[-1][1]["text"], had
	EOF
'
test_expect_success 'at most sixteen instances are looked at at a time; each that is left makes room' '
	python3 - <<-\EOF
	from inside import *
	links = []
	def look(way):
	    link, headers = client.connection(url)
	    link.request("GET", f"/api/events?in={way}", headers=headers)
	    answer = link.getresponse()
	    links.append((link, answer))
	    return answer.status
	same([look(job) for job in range(1, 17)], [200] * 16)
	same(look(17), 503)
	for link, answer in links:
	    answer.close()
	    link.close()
	same(look(batch), 200)
	EOF
'
test_expect_success CHROMIUM 'a click on a box goes into its instance, the line on top leads back; Enter goes too, and the browser goes back' '
	cat >descend.py <<-\EOF &&
	from inside import *
	with Browser() as browser:
	    page = browser.page(url)
	    box = "#instances a[href=\"?in=" + batch + "\"]"
	    found = "document.querySelector(" + json.dumps(box) + ")"
	    heading = "document.querySelector(\x27h1\x27).textContent"
	    page.until(found + " && document.querySelector(\x27.spacer [role=row]\x27)")
	    same(page.run("document.querySelector(\x27#instances\x27).getAttribute(\x27role\x27)"), "group")
	    names = [n["name"]["value"] for n in page.call("Accessibility.getFullAXTree")["nodes"] if n.get("role", {}).get("value") == "link"]
	    assert any(name.startswith("Into batch: 100 % busy") for name in names), names
	    screen(page, "boxes")
	    page.click(box + " > .box")
	    there = heading + " === \x27Fair share in batch\x27 && document.querySelectorAll(\x27#queue g[data-place]\x27).length === 2 && document.querySelector(\x27#instances\x27)"
	    page.until(there)
	    same(rows(page, "#instances g[data-busy]")[0]["instance"], "batch")
	    same(page.run("[...document.querySelectorAll(\x27nav a\x27)].map(e => e.textContent)"), ["top"])
	    same(page.run("document.querySelector(\x27[aria-current]\x27).textContent"), "batch")
	    same(page.run("document.querySelector(\x27.editor\x27)"), None)
	    page.run("""(() => { const s = document.querySelector("select[name=job]"); s.selectedIndex = 1;
	                s.dispatchEvent(new Event("change", { bubbles: true })); })()""")
	    page.run("[...document.querySelectorAll(\x27button\x27)].find(b => b.textContent === \x27Compare\x27).click()")
	    page.until("document.querySelectorAll(\x27#two-jobs g[data-priority]\x27).length === 2")
	    screen(page, "inside")
	    page.look(390, 844)
	    page.until("document.documentElement.scrollWidth === 390")
	    page.look(1100, 900)
	    page.click("nav a")
	    page.until(heading + " === \x27Fair share\x27 && " + found)
	    page.run(found + ".focus()")
	    page.press("Enter")
	    page.until(there)
	    page.run("history.back()")
	    page.until(heading + " === \x27Fair share\x27 && document.querySelectorAll(\x27#instances g[data-busy]\x27).length === 3")
	    same(page.console, [])
	EOF
	python3 descend.py
'
test_expect_success 'the death of an instance is told to who looks into it; the one that comes in its place has another way' '
	python3 - >ended <<-\EOF &&
	import signal
	from inside import *
	debug = open("debug").read().strip()
	def holds(name, data):
	    if name == "tree":
	        os.kill(int(open("run/debug/broker.pid").read()), signal.SIGKILL)
	    return name == "trouble" and data["text"] != ""
	print(until(url, debug, holds)[-1])
	EOF
	partition debug "select(.state == \"up\")" && child debug jobid >new && ! test_cmp debug new
'
test_expect_success 'of an instance that is open a guest sees what is inside; of a private one its owner alone does, and boxes lead nowhere' '
	start_serve beside --socket "$PWD/page.sock" &&
	cat >guests.py <<-\EOF &&
	from inside import *
	sock = "unix:page.sock"
	def picture(user):
	    return until(sock, "", lambda name, data: name == "pictures" and "instances" in data, user)[-1][1]["instances"]
	def is_refused(name, data): return name == "trouble" and "Only its owner" in data["text"]
	until(sock, batch, lambda name, data: name == "tree", "alice")
	assert "?in=" + batch in picture("alice")
	open("weir.toml", "a").write("[access]\nprivate-mode = true\n")
	def made_private(name, data):
	    if name == "tree":
	        subprocess.run(["weir", "reload"], check=True, capture_output=True)
	    return is_refused(name, data)
	until(sock, batch, made_private, "alice")
	until(sock, "", lambda name, data: name == "tree" and any("[others]" in row[0] for row in data["rows"]), "alice")
	assert "?in=" not in picture("alice") and "?in=" + batch in picture(None)
	had = until(sock, batch, is_refused, "bob")
	same([name for name, data in had if name not in ("hello", "trouble")], [])
	for path in ("/metrics?in=" + batch, "/api/two-jobs?job=f1&in=" + batch):
	    same(client.get(sock, path, ["X-Remote-User: bob"])[0], 403)
	until(sock, batch, lambda name, data: name == "tree")
	EOF
	python3 guests.py && stop_serve beside
'
test_expect_success 'the server and the instance end' '
	stop_serve page && stop_weir
'

test_done
