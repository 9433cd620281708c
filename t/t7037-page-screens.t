#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='how the page looks: pictures of it against stored ones in t/screens; a wrong layout is found. Its pictures are in build/screens'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir
if ! command -v chromium >/dev/null; then
	skip_all='no chromium here: the page is looked at by nobody'
	test_done
fi
SCREENS=$WEIR_BUILD_DIR/screens
STORED=$SHARNESS_TEST_SRCDIR/screens
export SCREENS

write_departments
add_departments
for scheduler in easy fcfs; do printf '[sim]\nscheduler = "%s"\n' $scheduler >$scheduler.toml; done
# What the tests look with: `from looking import *`. shown() is the page when all of it is there.
cat >looking.py <<EOF
import os
from browser import Browser
from compared import *
url = load("page.json")["url"]
def screen(page, name):
    page.screenshot(os.environ["SCREENS"] + "/" + name + ".png")
    page.screenshot(os.environ["SCREENS"] + "/" + name + "-small.png", 0.1)
def shown(browser):
    page = browser.page(url)
    page.until("['forgetting', 'queue', 'instances', 'waits'].every(id => document.getElementById(id)) && document.querySelectorAll('.spacer [role=row]').length === 9 && document.querySelector('.head .past').textContent && document.querySelector('.load canvas')")
    page.run("document.querySelector('.state').textContent = 'Live'")  # it has the clock
    page.run("document.querySelector('.load canvas').style.visibility = 'hidden'")  # it has the time, too
    return page
EOF
# looks_as NAME: as the picture that is stored; UPDATE_SCREENS=1 stores it anew
looks_as() {
	test -z "$UPDATE_SCREENS" || python3 "$SHARNESS_TEST_SRCDIR/tools/screens.py" store "$SCREENS/$1-small.png" "$STORED/$1.txt"
	python3 "$SHARNESS_TEST_SRCDIR/tools/screens.py" compare "$SCREENS/$1-small.png" "$STORED/$1.txt"
}

test_expect_success 'an instance where three jobs of one size have run, and a comparison' '
	weir sim generate --jobs=600 --cores=64 --users=6 --load=0.9 --seed=3 -o load.swf.gz &&
	weir sim compare easy.toml fcfs.toml --trace=load.swf.gz --fair-starts=0 -o policies.json --quiet &&
	start_weir --cores 8 --tree shares.toml --config weir.toml && FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI &&
	for u in alice bob carol; do ended $(weir submit --user $u -n 2 --simulate=2s done-$u) || return 1; done &&
	wait_until job-priority.usage "{}" "[.nodes[].running_cores] | add == 0" &&
	start_serve page --port 0 --compare policies.json
'
test_expect_success 'light, dark, and on a phone' '
	cat >looks.py <<-\EOF &&
	from looking import *
	with Browser() as browser:
	    page = shown(browser)
	    screen(page, "looks-light")
	    page.look(1100, 900, "dark")
	    screen(page, "looks-dark")
	    page.look(390, 844)
	    screen(page, "looks-phone")
	EOF
	python3 looks.py && looks_as looks-light && looks_as looks-dark && looks_as looks-phone
'
test_expect_success 'a wrong layout is found: no bars, pictures too far right, sections in another order, colours of the other scheme, larger rows' '
	cat >wrong.py <<-\EOF &&
	from looking import *
	rules = ["main { display: flex; flex-direction: column-reverse; }", ".row .bar { visibility: hidden; }", ".picture { margin-left: 160px; }",
	         ":root { --c0: #e6e8ea !important; }", ".controls { margin-bottom: 60px !important; }"]
	with Browser() as browser:
	    for i, rule in enumerate(rules):
	        page = shown(browser)
	        page.run("document.styleSheets[1].insertRule(" + json.dumps(rule) + ", document.styleSheets[1].cssRules.length)")
	        screen(page, f"wrong-{i}")
	EOF
	python3 wrong.py &&
	for i in 0 1 2 3 4; do
		test_expect_code 1 python3 "$SHARNESS_TEST_SRCDIR/tools/screens.py" compare "$SCREENS/wrong-$i-small.png" "$STORED/looks-light.txt" || return 1
	done
'
test_expect_success 'another font passes' '
	cat >font.py <<-\EOF &&
	from looking import *
	with Browser() as browser:
	    page = shown(browser)
	    page.run("document.styleSheets[1].insertRule(\":root { font-family: serif !important; }\", document.styleSheets[1].cssRules.length)")
	    screen(page, "serif")
	EOF
	python3 font.py && python3 "$SHARNESS_TEST_SRCDIR/tools/screens.py" compare "$SCREENS/serif-small.png" "$STORED/looks-light.txt"
'
test_expect_success 'the server and the instance end' '
	stop_serve page && stop_weir
'

test_done
