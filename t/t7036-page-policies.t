#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir serve --compare: what policies do on one log, on the page, by the pictures of the comparison'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir
use_browser

write_departments
for scheduler in easy fcfs; do printf '[sim]\nscheduler = "%s"\n' $scheduler >$scheduler.toml; done

test_expect_success 'a comparison of two policies on a generated load' '
	weir sim generate --jobs=600 --cores=64 --users=6 --load=0.9 --seed=3 -o load.swf.gz &&
	weir sim compare easy.toml fcfs.toml --trace=load.swf.gz --fair-starts=0 --html=report.html -o policies.json --quiet
'
test_expect_success 'the JSON has the distance at each look, and when the log begins and ends' '
	python3 - <<-\EOF
	from compared import *
	out = load("policies.json")
	assert out["begin_s"] < out["end_s"], out
	for policy in out["policies"]:
	    same(len(policy["distance"]), len(policy["looks_s"]))
	    there = [value for value in policy["distance"] if value is not None]
	    assert there and all(0 <= value <= 1 for value in there), there
	EOF
'
test_expect_success 'what is no comparison is refused before anything is served' '
	echo "{}" >none.json && echo "{\"schema\":\"weir.sim-compare/1\",\"policies\":[{}]}" >old.json &&
	for file in none.json old.json; do
		test_expect_code 2 weir serve --compare $file 2>err && grep "$file: this .*comparison" err || return 1
	done &&
	test_expect_code 2 weir serve --compare nowhere.json 2>err && grep "nowhere.json" err
'
test_expect_success 'the page gets the pictures of the comparison'\''s own page, to the byte; an instance inside has none' '
	start_weir --tree shares.toml --config weir.toml && start_serve page --port 0 --compare policies.json &&
	python3 - <<-\EOF
	import re
	import serve_client as client
	from compared import *
	had = client.until(load("page.json")["url"], lambda name, data, seen: name == "pictures" and "policies" in data)
	part, report = had[-1][1]["policies"], open("report.html").read()
	assert "600 jobs of load.swf.gz on 64 cores." in part, part[:300]
	drawn = re.findall(r"<svg id=\"(?:distance|waits)\".*?</svg>", part, re.S)
	same(len(drawn), 2)
	for svg in drawn:
	    assert svg in report, svg[:200]
	EOF
'
test_expect_success CHROMIUM 'a browser shows them, with names of the policies that no line crosses, and nothing complains' '
	cat >looking.py <<-\EOF &&
	import os
	from browser import Browser
	from compared import *
	with Browser() as browser:
	    page = browser.page(load("page.json")["url"])
	    page.until("document.querySelector(\x27#distance\x27) && document.querySelector(\x27#waits\x27) && document.querySelector(\x27#instances\x27)")
	    same(page.run("document.querySelector(\x27#policies-title\x27).textContent"), "What policies do on one log")
	    crossed = page.run("""[...document.querySelectorAll("#distance text, #waits text")].filter(words => {
	        const box = words.getBBox();
	        return [...words.ownerSVGElement.querySelectorAll("path.curve, line.rule")].some(line => {
	            const length = line.getTotalLength();
	            for (let i = 0; i <= 400; i++) {
	                const p = line.getPointAtLength(length * i / 400);
	                if (p.x > box.x && p.x < box.x + box.width && p.y > box.y + 2 && p.y < box.y + box.height - 2) return true;
	            }
	            return false;
	        });
	    }).map(words => words.textContent)""")
	    same(crossed, [])
	    same(page.run("[...document.querySelectorAll(\x27#waits text\x27)].map(e => e.textContent).filter(t => t === \x27easy\x27 || t === \x27fcfs\x27)"), ["easy", "fcfs"])
	    page.screenshot(os.environ["SCREENS"] + "/policies.png")
	    page.look(390, 844)
	    page.until("document.documentElement.scrollWidth === 390")
	    same(page.console, [])
	EOF
	python3 looking.py
'
test_expect_success 'the server and the instance end' '
	stop_serve page && stop_weir
'

test_done
