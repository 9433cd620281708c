#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the page of weir serve in a browser: pictures, figures, keys, changes, ten thousand rows; pictures of it in build/screens'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir
if ! command -v chromium >/dev/null; then
	skip_all='no chromium here: the page is looked at by nobody'
	test_done
fi
SCREENS=$WEIR_BUILD_DIR/screens
export SCREENS

write_departments
add_departments
# What the tests look with: `from looking import *`. `rows` is the data-* attributes of what the selector finds.
cat >looking.py <<EOF
import json, os, subprocess, time
from browser import Browser
from compared import *
def screen(page, name): page.screenshot(os.environ["SCREENS"] + "/" + name + ".png")
url = load("page.json")["url"]
ready = "document.querySelectorAll('.spacer [role=row]').length > 0 && document.querySelector('#queue') && document.querySelector('#instances')"
def rows(page, selector): return page.run("[...document.querySelectorAll(" + json.dumps(selector) + ")].map(e => ({...e.dataset}))")
def weir(*words): return subprocess.run(["weir", *words], check=True, capture_output=True, text=True).stdout
EOF

test_expect_success 'an instance where jobs have run' '
	start_weir --cores 8 --tree shares.toml --config weir.toml && FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI &&
	for u in alice bob carol; do ended $(weir submit --user $u -n 2 --simulate=0.2s done-$u) || return 1; done &&
	wait_until job-priority.usage "{}" "[.nodes[].running_cores] | add == 0" &&
	start_serve page --port 0 --edit && weir share show --json >show.json && weir tree --json >tree.json
'
test_expect_success 'the tree has the figures of weir share show --json, to the digit; nothing comes from elsewhere, nothing complains' '
	cat >first.py <<-\EOF &&
	from looking import *
	with Browser() as browser:
	    page = browser.page(url)
	    page.until(ready)
	    for attempt in range(100):  # usage decays: a pass may come between the two looks
	        drawn = rows(page, ".spacer [role=row]")
	        figures = {(r["path"], int(r["shares"]), float(r["entitled"]), float(r["used"]), float(r["usageCoreS"])) for r in drawn}
	        nodes = json.loads(weir("share", "show", "--json"))["nodes"]
	        shown = {(n["path"], n["shares"], n["entitled"], n["used"], n["usage_core_s"]) for n in nodes}
	        if figures == shown:
	            break
	    same(figures, shown)
	    same(sum(float(r["usageCoreS"]) > 0 for r in drawn), 7)
	    same([r["path"] for r in drawn][:3], ["physics", "physics/lattice", "physics/lattice/@alice"])
	    boxes, top = rows(page, "#instances g[data-busy]"), load("tree.json")
	    same(sorted((int(b["cores"]), int(b["waiting"]), int(b["running"])) for b in boxes),
	         sorted((i["cores"], i["jobs"]["pending"], i["jobs"]["running"]) for i in [top] + top["children"]))
	    screen(page, "light")
	    page.look(1100, 900, "dark")
	    screen(page, "dark")
	    page.look(390, 844)
	    page.until("document.documentElement.scrollWidth === 390")
	    screen(page, "phone")
	    same((page.console, page.hosts), ([], {url.split("/")[2]}))
	    same(page.run("location.href.includes(\x27#\x27)"), False)
	EOF
	python3 first.py
'
test_expect_success 'who reads by ear or by keys: names, roles, levels; arrows move, open and close; search keeps the accounts above' '
	cat >keys.py <<-\EOF &&
	from looking import *
	with Browser() as browser:
	    page = browser.page(url)
	    page.until(ready)
	    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
	    roles = [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in nodes if not n["ignored"]]
	    for wanted in [("treegrid", "Share tree: used against entitled"), ("heading", "The queue"), ("searchbox", "Search"), ("combobox", "Order")]:
	        assert wanted in roles or (wanted[0].replace("searchbox", "textbox"), wanted[1]) in roles, (wanted, roles[:40])
	    assert all(name for role, name in roles if role in ("button", "textbox", "searchbox", "combobox", "slider")), roles
	    seen = lambda: [r["path"] for r in rows(page, ".spacer [role=row]")]
	    page.run("document.querySelector(\x27.grid\x27).focus()")
	    chosen = "document.querySelector(\x27.row.chosen\x27)?.dataset.path"
	    page.press("ArrowDown")
	    page.until(chosen + " === \x27physics\x27")
	    page.press("ArrowLeft")
	    page.until("document.querySelectorAll(\x27.spacer [role=row]\x27).length === 4")
	    same(seen(), ["physics", "chem", "chem/@carol", "bio"])
	    page.press("ArrowRight")
	    page.until("document.querySelectorAll(\x27.spacer [role=row]\x27).length > 4")
	    page.press("End")
	    page.until(chosen + " === \x27bio\x27")
	    same(page.run("document.querySelector(\x27.grid\x27).getAttribute(\x27aria-activedescendant\x27)"), page.run("document.querySelector(\x27.row.chosen\x27).id"))
	    page.type("input[type=search]", "erin")
	    page.until("document.querySelectorAll(\x27.spacer [role=row]\x27).length === 3")
	    same(seen(), ["physics", "physics/lattice", "physics/lattice/@erin"])
	    same(page.run("[...document.querySelectorAll(\x27.spacer [role=row]\x27)].map(e => e.ariaLevel)"), ["1", "2", "3"])
	    same(page.console, [])
	EOF
	python3 keys.py
'
test_expect_success 'a job that starts is seen within two seconds, without a reload' '
	cat >live.py <<-\EOF &&
	from looking import *
	with Browser() as browser:
	    page = browser.page(url)
	    page.until(ready)
	    page.run("window.mark = 1")
	    job = weir("submit", "--user", "erin", "-n", "2", "--simulate=1000s", "-t", "1h", "live").strip()
	    begin = time.monotonic()
	    page.until("document.querySelector(\x27[data-path=\"physics/lattice/@erin\"] .jobs\x27).textContent.includes(\x272 cores\x27)")
	    took = time.monotonic() - begin
	    print(f"seen after {took:.2f} s")
	    assert took < patience_s() and page.run("window.mark") == 1, took
	    weir("cancel", job)
	    page.until("!document.querySelector(\x27[data-path=\"physics/lattice/@erin\"] .jobs\x27).textContent.includes(\x27cores\x27)")
	    same(page.console, [])
	EOF
	python3 live.py
'
test_expect_success 'the load of the last hour: cores in use and waiting jobs are those of weir tree --json within two seconds; keys and the mouse read it' '
	cat >load.py <<-\EOF &&
	import jobctl
	from looking import *
	def figures():
	    top = json.loads(weir("tree", "--json"))
	    in_use = lambda one: one["cores_busy"] - sum(child["cores"] - in_use(child) for child in one["children"])
	    return in_use(top), top["cores"], top["jobs"]["pending"]
	with Browser() as browser:
	    page = browser.page(url)
	    page.until(ready + " && document.querySelector(\x27.load canvas\x27)")
	    read = lambda: (lambda d: tuple(int(d[k]) for k in ("busy", "cores", "waiting")))(rows(page, ".load-words")[0])
	    at = lambda: float(rows(page, ".load-words")[0]["at"])
	    def shown(busy, waiting):
	        page.until(f"(d => d.busy === \x27{busy}\x27 && d.waiting === \x27{waiting}\x27)(document.querySelector(\x27.load-words\x27).dataset)")
	        same(read(), figures())
	    shown(0, 0)
	    assert abs(at() - jobctl.Client(os.environ["FLUX_URI"]).rpc("job-priority.tree-get", {})["now"]) < patience_s()
	    job = weir("submit", "--user", "erin", "-n", "6", "--simulate=1000s", "-t", "1h", "load").strip()
	    begin = time.monotonic()
	    shown(6, 0)
	    took = time.monotonic() - begin
	    print(f"seen after {took:.2f} s")
	    assert took < patience_s(), took
	    behind = weir("submit", "--user", "erin", "-n", "4", "--simulate=1000s", "-t", "1h", "behind").strip()
	    shown(6, 1)
	    words = "document.querySelector(\x27.load-words\x27).textContent"
	    same(page.run(words), "Now: 6 of 8 cores in use, 1 job waiting.")
	    page.run("document.querySelector(\x27.load\x27).focus()")
	    page.press("ArrowLeft")
	    page.until(words + ".startsWith(\x27At \x27)")
	    same(read(), (6, 8, 1))
	    last = at()
	    page.press("ArrowLeft")
	    page.until(f"Number(document.querySelector(\x27.load-words\x27).dataset.at) < {last}")
	    same(read(), (6, 8, 0))
	    same(page.run("document.querySelector(\x27.load\x27).ariaValueText"), page.run(words))
	    assert page.run("document.querySelector(\x27.load .u-cursor-x\x27).getBoundingClientRect().x > document.querySelector(\x27.load .u-over\x27).getBoundingClientRect().x")
	    page.press("Home")
	    page.until("document.querySelector(\x27.load-words\x27).dataset.busy === \x270\x27")
	    first = at()
	    page.press("ArrowRight")
	    page.until(f"Number(document.querySelector(\x27.load-words\x27).dataset.at) > {first}")
	    page.press("End")
	    page.until(words + ".startsWith(\x27Now\x27)")
	    box = page.run("(r => [r.x, r.y, r.width, r.height])(document.querySelector(\x27.load .u-over\x27).getBoundingClientRect())")
	    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + 2, y=box[1] + 20)
	    page.until(words + ".endsWith(\x27not known.\x27)")
	    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + box[2] - 1, y=box[1] + 20)
	    page.until(words + ".includes(\x276 of 8 cores in use, 1 job\x27)")
	    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
	    page.until(words + ".startsWith(\x27Now\x27)")
	    inked = """((canvas, name) => {
	        const style = getComputedStyle(document.documentElement).getPropertyValue(name), wanted = [1, 3, 5].map(i => parseInt(style.slice(i, i + 2), 16));
	        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
	        copy.drawImage(canvas, 0, 0);
	        const pixels = copy.getImageData(0, 0, canvas.width, canvas.height).data;
	        let count = 0;
	        for (let i = 0; i < pixels.length; i += 4) count += wanted.every((level, c) => Math.abs(pixels[i + c] - level) < 9) && pixels[i + 3] > 200;
	        return count; })(document.querySelector(".load canvas"), "%s")"""
	    for scheme in ("light", "dark"):
	        page.look(1100, 900, scheme)
	        for name in ("--c0", "--c1", "--fg"):
	            page.until(inked % name + " > 8")
	    page.look(390, 844)
	    page.until("document.querySelector(\x27.load canvas\x27).clientWidth < 380")
	    page.until("document.documentElement.scrollWidth === 390")
	    page.look(1100, 900)
	    page.until("document.querySelector(\x27.load canvas\x27).clientWidth > 1000")
	    screen(page, "load")
	    weir("cancel", job, behind)
	    shown(0, 0)
	    same(page.console, [])
	EOF
	python3 load.py
'
test_expect_success 'an hour of load that the test makes up: a value is drawn until the next, and nothing where nobody knows it' '
	cat >gap.py <<-\EOF &&
	import http.server, threading
	from looking import *
	import serve_client as client
	now = 1764100000.5
	points = [[now - 3000, 4, 16, 0], [now - 1800, None, None, None], [now - 900, 12, 16, 3]]
	done = threading.Event()
	class Handler(http.server.BaseHTTPRequestHandler):
	    def do_GET(self):
	        self.send_response(200)
	        if self.path.startswith("/api/events"):
	            self.send_header("Content-Type", "text/event-stream")
	            self.end_headers()
	            for name, data in [("hello", {"user": "alice", "viewer": 1, "may_edit": False}), ("load", {"now": now, "whole": True, "points": points})]:
	                self.wfile.write(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())
	            done.wait()
	            return
	        headers, body = client.get(url, self.path)[1:]
	        for name, value in headers:
	            if name.lower() in ("content-type", "content-security-policy"):
	                self.send_header(name, value)
	        self.end_headers()
	        self.wfile.write(body)
	    def log_message(self, *ignored): pass
	server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
	server.daemon_threads = True
	threading.Thread(target=server.serve_forever, daemon=True).start()
	height = """(part => {
	    const canvas = document.querySelector(".load canvas"), plot = document.querySelector(".load .u-over").getBoundingClientRect();
	    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
	    copy.drawImage(canvas, 0, 0);
	    const pixels = copy.getImageData(Math.round(plot.x - canvas.getBoundingClientRect().x + plot.width * part), 0, 1, canvas.height).data;
	    let count = 0;
	    for (let i = 0; i < pixels.length; i += 4) count += pixels[i + 3] > 60 && pixels[i + 2] > pixels[i] + 60;
	    return count / plot.height; })"""
	with Browser() as browser:
	    page = browser.page(f"http://127.0.0.1:{server.server_port}/#x")
	    page.until("document.querySelector(\x27.load canvas\x27) && " + height + "(0.9) > 0.5")
	    drawn = {minutes: round(page.run(height + f"({1 - minutes / 60})") * 16 * 1.06) for minutes in (55, 45, 33, 28, 18, 12, 2)}
	    same(drawn, {55: 0, 45: 4, 33: 4, 28: 0, 18: 0, 12: 12, 2: 12})
	    page.run("document.querySelector(\x27.load\x27).focus()")
	    told = []
	    for key in ("ArrowLeft", "ArrowLeft", "ArrowLeft", "PageDown"):
	        before = page.run("document.querySelector(\x27.load-words\x27).dataset.at")
	        page.press(key)
	        page.until(f"document.querySelector(\x27.load-words\x27).dataset.at !== \x27{before}\x27")
	        told.append((round(now - float(rows(page, ".load-words")[0]["at"])), page.run("document.querySelector(\x27.load-words\x27).textContent").split(": ")[1]))
	    same(told, [(900, "12 of 16 cores in use, 3 jobs waiting."), (1800, "not known."), (3000, "4 of 16 cores in use, 0 jobs waiting."), (2700, "4 of 16 cores in use, 0 jobs waiting.")])
	    at = page.run("(r => r.x + r.width)(document.querySelector(\x27.load .u-cursor-x\x27).getBoundingClientRect())")
	    plot = page.run("(r => [r.x, r.width])(document.querySelector(\x27.load .u-over\x27).getBoundingClientRect())")
	    assert abs((at - plot[0]) / plot[1] - 0.25) < 0.02, (at, plot)
	    screen(page, "load-gap")
	    same(page.console, [])
	done.set()
	EOF
	python3 gap.py
'
test_expect_success 'the queue is that of weir prio list --json, in its order' '
	weir submit --user carol -n 6 --simulate=1000s -t 1h fill >fill &&
	for u in alice bob carol; do weir submit --user $u -n 6 --simulate=10s -t 30m wait-$u || return 1; done &&
	wait_until job-priority.list "{}" ".of == 3" &&
	cat >queue.py <<-\EOF &&
	from looking import *
	with Browser() as browser:
	    page = browser.page(url)
	    page.until("document.querySelectorAll(\x27#queue g[data-place]\x27).length === 3")
	    drawn, listed = rows(page, "#queue g[data-place]"), json.loads(weir("prio", "list", "--json"))["jobs"]
	    same([int(r["place"]) for r in drawn], [j["rank"] for j in listed])
	    titles = page.run("[...document.querySelectorAll(\x27#queue g[data-place] > title\x27)].map(e => e.textContent)")
	    same([t.split(" of ")[1].split(":")[0] for t in titles], [j["user"] for j in listed])
	    assert all(abs(int(r["priority"]) - j["priority"]) <= max(100, j["priority"] // 1000) for r, j in zip(drawn, listed)), (drawn, listed)
	    same(page.console, [])
	EOF
	python3 queue.py
'
test_expect_success 'two jobs: the gap is that of the priorities, and adds up' '
	cat >two.py <<-\EOF &&
	import re
	from looking import *
	with Browser() as browser:
	    page = browser.page(url)
	    page.until(ready)
	    page.run("""(() => { const s = document.querySelector("select[name=job]"); s.selectedIndex = s.options.length - 1;
	                s.dispatchEvent(new Event("change", { bubbles: true })); })()""")
	    page.run("[...document.querySelectorAll(\x27button\x27)].find(b => b.textContent === \x27Compare\x27).click()")
	    text = page.until("document.querySelector(\x27#two-jobs desc\x27)?.textContent")
	    number = lambda s: int(s.replace(" ", ""))
	    gap, parts = re.search(r"The gap of ([\d ]+) is ([^.]*)\.", text).groups()
	    pair = rows(page, "#two-jobs g[data-priority]")
	    same(number(gap), int(pair[0]["priority"]) - int(pair[1]["priority"]))
	    same(sum(number(re.search(r"-?[\d ]+$", p).group(0)) for p in parts.split(",")), number(gap))
	    screen(page, "two-jobs")
	    page.look(390, 844)
	    page.run("document.querySelector(\x27select[name=job]\x27).add(new Option(\x27x\x27.repeat(200)))")  # of a user with a long name
	    page.until("document.documentElement.scrollWidth === 390")
	    same(page.console, [])
	EOF
	python3 two.py
'
test_expect_success 'what would my factor be after this job: as job-priority says, to the digit, for whose row is chosen' '
	cat >after.py <<-\EOF &&
	from looking import *
	import jobctl
	with Browser() as browser:
	    page = browser.page(url)
	    page.until(ready)
	    page.run("document.querySelector(\x27.spacer [data-path=\"physics/lattice/@alice\"]\x27).click()")
	    page.until("document.querySelector(\x27.after-job strong\x27).textContent === \x27physics/lattice/@alice\x27")
	    page.run("for (const [name, value] of [[\x27after-cores\x27, 64], [\x27after-hours\x27, 2.5]]) { const box = document.querySelector(`[name=${name}]`); box.value = value; box.dispatchEvent(new Event(\x27input\x27, { bubbles: true })); }")
	    page.run("document.querySelector(\x27.after-job button\x27).click()")
	    told = page.until("(e => e && {...e.dataset})(document.querySelector(\x27.after-job-answer [data-factor]\x27))")
	    says = jobctl.Client(os.environ["FLUX_URI"]).rpc("job-priority.share-after", {"path": "alice", "cores": 64, "seconds": 9000})
	    same((told["path"], float(told["factor"]), float(told["factorAfter"])), tuple(says[k] for k in ("path", "factor", "factor_after")))
	    assert says["factor_after"] < says["factor"], says
	    screen(page, "after-job")
	    same(page.console, [])
	EOF
	python3 after.py
'
test_expect_success 'shares are changed: the plan stands beside, then it is in force with its reason, and undone' '
	cat >edit.py <<-\EOF &&
	from looking import *
	with Browser() as browser:
	    page = browser.page(url)
	    page.until(ready)
	    page.click("[data-path=chem] .shares")
	    page.type("input[name=shares]", "60")
	    planned = page.until("(e => e && Number(e.dataset.entitled))(document.querySelector(\x27.plan tr[data-path=chem]\x27))")
	    would = json.loads(weir("share", "set", "--dry-run", "--json", "chem", "60"))
	    same({r["path"]: float(r["entitled"]) for r in rows(page, ".plan tbody tr")}, {c["path"]: c["entitled_to"] for c in would["changes"]})
	    same(json.loads(weir("share", "show", "--json"))["revision"], load("show.json")["revision"])
	    screen(page, "plan")
	    page.type("input[name=reason]", "a new grant")
	    page.run("[...document.querySelectorAll(\x27.editor button\x27)].find(b => b.textContent === \x27Apply\x27).click()")
	    page.until("document.querySelector(\x27[data-path=chem]\x27).dataset.shares === \x2760\x27 && document.querySelector(\x27.state\x27).textContent.includes(\x27a new grant\x27)")
	    same(json.loads(weir("share", "history", "--json"))["revisions"][-1]["reason"], "a new grant")
	    same(float(rows(page, "[data-path=chem]")[0]["entitled"]), planned)
	    page.run("document.querySelector(\x27button[name=undo]\x27).click()")
	    page.until("document.querySelector(\x27[data-path=chem]\x27).dataset.shares === \x2740\x27")
	    page.until("document.querySelector(\x27.editor [role=status]\x27).textContent.includes(\x27Undone\x27)")
	    same(page.console, [])
	EOF
	python3 edit.py
'
test_expect_success 'ten thousand rows: only those in sight are elements, the last is one key away, and scrolling draws at once' '
	python3 -c "
for a in range(100):
    print(f\"\\\"a{a:03}\\\" = {a + 1}\")
    for u in range(99):
        print(f\"\\\"a{a:03}/@u{a:03}x{u:02}\\\" = {u + 1}\")
" >large.toml && weir share apply -m large large.toml --yes >/dev/null &&
	cat >large.py <<-\EOF &&
	from looking import *
	with Browser() as browser:
	    page = browser.page(url)
	    page.until("document.querySelector(\x27.note\x27).textContent.includes(\x27of 10 000 rows\x27)")
	    page.run("[...document.querySelectorAll(\x27button\x27)].find(b => b.textContent === \x27Open all\x27).click()")
	    page.until("document.querySelector(\x27.grid\x27).getAttribute(\x27aria-rowcount\x27) === \x2710000\x27")
	    page.run("document.querySelector(\x27.grid\x27).focus()")
	    page.press("End")
	    page.until("document.querySelector(\x27.row.chosen\x27)?.dataset.path === \x27a099/@u099x98\x27")
	    elements = page.run("document.querySelectorAll(\x27.spacer [role=row]\x27).length")
	    assert elements < 60, elements
	    slowest = page.run("""new Promise(done => {
	        const grid = document.querySelector(".grid"), all = grid.scrollHeight;
	        let step = 0, last = performance.now(), spans = [];
	        const frame = now => {
	            spans.push(performance.now() - last);
	            last = performance.now();
	            const first = document.querySelector(".spacer [role=row]");
	            if (++step > 60) { spans.sort((a, b) => a - b); done([spans[30], spans[60], first.dataset.path]); return; }
	            grid.scrollTop = all * (1 - step / 60);
	            requestAnimationFrame(frame);
	        };
	        requestAnimationFrame(frame);
	    })""")
	    print(f"a frame of scrolling takes {slowest[0]:.0f} ms, the slowest {slowest[1]:.0f} ms")
	    same(slowest[2], "a000")
	    page.type("input[type=search]", "u042x07")
	    page.until("document.querySelectorAll(\x27.spacer [role=row]\x27).length === 2")
	    screen(page, "large")
	    same(page.console, [])
	EOF
	python3 large.py
'
test_expect_success 'without the token the page says what to do' '
	cat >refused.py <<-\EOF &&
	from looking import *
	with Browser() as browser:
	    page = browser.page(url.split("#")[0])
	    page.until("document.querySelector(\x27.state\x27)?.dataset.state === \x27refused\x27 && document.querySelector(\x27.state\x27).textContent.includes(\x27token\x27)")
	EOF
	python3 refused.py
'
test_expect_success 'the end' '
	stop_serve page && stop_weir
'

test_done
