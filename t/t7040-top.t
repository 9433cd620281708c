#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir top: the picture, its keys, its sizes and its ends, on a terminal'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

# Debian's package is for Debian's interpreter; another one may come first in PATH.
for TERMINAL_PYTHON in python3 /usr/bin/python3 none; do
	"$TERMINAL_PYTHON" -c 'import pyte' 2>/dev/null && break
done
if test "$TERMINAL_PYTHON" = none; then
	skip_all="the screen of a terminal is not installed (python3-pyte)"
	test_done
fi

write_departments 'update-interval = "1s"'
URI=local://$WEIR_RUNDIR/local-0
SOCKETS=$(mktemp -d) # a short path: sockets' names are
terminals=0
terminal() { "$TERMINAL_PYTHON" "$SHARNESS_TEST_SRCDIR/tools/terminal.py" "$SOCKETS/$terminals" "$@"; }
keys() { terminal keys "$@"; }
screen() { terminal screen; }
screen_has() { terminal has "$1"; }
screen_has_not() { terminal gone "$1"; }
trap 'top_test_code=$?; terminal end >/dev/null; rm -rf "$SOCKETS"; end_test_brokers; (exit $top_test_code); die' EXIT

# shell_of COLUMNSxLINES SHELL [NAME=VALUE...]: a new terminal in which this shell waits for a line.
shell_of() {
	terminal end >/dev/null
	terminals=$((terminals + 1)) && size=$1 && shell=$2 && shift 2 &&
		terminal start $size env PS1="ready: " "$@" $shell && screen_has "^ready:$"
}
# top [NAME=VALUE...]: `weir top` on 80x24; the shell says how it ended.
top() {
	shell_of 80x24 sh "$@" && keys "stty -g >before; weir top; echo \"rc=\$?.\"; stty -g >after" Enter && screen_has "^weir  .*running"
}
# The terminal is as it was: modes, cursor, screen.
is_restored() {
	screen_has "^rc=$1[.]" && keys "echo said" Enter && screen_has "^said" && cmp before after && test "$(terminal modes)" = "main shown"
}
top_pid() {
	pgrep -x weir -P "$(terminal pid)"
}

test_expect_success 'an instance in which jobs run and wait' '
	start_weir --tree shares.toml --config weir.toml &&
	id=$(weir submit --json --user carol -n 2 --simulate=0.2s x | python3 -c "import json, sys; print(json.load(sys.stdin)[\"id\"])") &&
	FLUX_URI=$URI wait_event $id clean &&
	weir submit --user alice -n 6 --simulate=10h long && for i in 1 2 3; do weir submit --user bob -n 6 --simulate=1h wait || return 1; done &&
	FLUX_URI=$URI wait_until job-priority.share-rows "{}" "[.rows[] | select(.path == \"physics\")] | .[0].running_cores == 6 and .[0].pending_jobs == 3"
'
test_expect_success 'a pipe gets one picture without escapes: shares, partitions, queue with what priorities are made of' '
	weir top >once && test_expect_code 1 grep -q "$(printf "\033")" once && grep "^physics  *60.0 %" once && grep "@alice" once &&
	grep "^batch.*cores.*running" once && grep "^ *1  ƒ.*bob.*physics/astro" once && grep "made of: .*F fairshare" once &&
	weir top --once --order name | grep -A1 "^account" | grep "^chem"
'
test_expect_success '--json has the figures of weir share show, weir tree and weir prio list, to the digit' '
	weir top --json >top.json && json_is top.json weir.top/1 && weir share show --json >show.json && weir tree --json >tree.json &&
	weir prio list --json >list.json && python3 - <<-\EOF
	import json
	top, show, tree, listed = (json.load(open(f + ".json")) for f in ("top", "show", "tree", "list"))
	rows = {r["path"]: r for r in top["shares"]}
	for node in show["nodes"]:
	    for key in ("entitled", "running_cores", "pending_jobs"):
	        assert rows[node["path"]][key] == node[key], (node, rows[node["path"]])
	assert len(rows) == top["nodes"] == len(show["nodes"]) and top["revision"] == show["revision"]
	parts = {p["name"]: p for p in top["partitions"]}
	for child in tree["children"]:
	    p = parts[" and ".join(child["serves"])]
	    assert (p["cores"], p["running"], p["pending"]) == (child["cores"], child["jobs"]["running"], child["jobs"]["pending"]), p
	    assert p["scheduler"] in ("fcfs", "easy"), p
	assert [j["id"] for j in top["queue"]] == [j["id"] for j in listed["jobs"]] and len(top["queue"]) == 3
	EOF
'
test_expect_success 'at 80x24 all is there, and no line is wider' '
	top && screen_has "^>physics " && screen_has "@alice" && screen_has "^batch.*running" && screen_has "^ *1  ƒ.*bob" &&
	screen_has "^q quit  h help" && screen >first && test $(wc -l <first) = 24 &&
	python3 -c "assert max(len(l.rstrip(chr(10))) for l in open(\"first\")) <= 80" && grep "│" first
'
test_expect_success 'it is live: what is submitted is seen, and rates are told' '
	weir submit --user carol -n 6 --simulate=1h more && screen_has "@carol.* 1$" && screen_has "a minute: .* submitted"
'
test_expect_success 'an account is closed and opened; the mark stays at it' '
	keys Left && screen_has "^>physics +[+]" && screen_has_not lattice && keys Right && screen_has lattice && screen_has "^>physics "
'
test_expect_success 'siblings are sorted, and names filtered' '
	keys s && screen_has "s order: name" && screen_has "^.chem .*\n(.*\n)*.physics" && keys s && screen_has "s order: used" &&
	screen_has "^.physics .*\n(.*\n)*.chem" && keys s s && screen_has "s order: running" && screen_has "^.physics .*\n(.*\n)*.chem" &&
	keys / && keys ali && screen_has "names with: ali_" && screen_has_not carol && screen_has "@alice" && keys Enter &&
	screen_has "filter: ali" && keys Escape && screen_has "@carol"
'
test_expect_success 'the mark moves, an account and a job are explained' '
	keys j && screen_has "^>.*(lattice|astro)" && keys e && screen_has "1 of 3 associations are below it" && keys Escape && screen_has "^q quit" &&
	keys Tab && screen_has "^> *1  ƒ" && keys Down && screen_has "^> *2  ƒ" && keys Enter && screen_has "place 2 of" &&
	screen_has "fairshare +" && keys q && screen_has "^q quit" && keys h && screen_has "Keys of weir top" && keys Escape && screen_has "^q quit"
'
test_expect_success 'another size is another picture, at once' '
	terminal resize 140x40 && screen_has "^.{110,}$" && terminal resize 60x12 && screen_has_not "^.{61,}$" &&
	screen_has "^weir" && screen_has "^q quit" && screen_has "^batch"
'
test_expect_success 'q ends it, and the terminal is as it was' '
	keys q && is_restored 0
'
for signal in TERM HUP INT QUIT ABRT; do
	test_expect_success "the terminal is as it was after SIG$signal" '
		top && pid=$(top_pid) && kill -$signal $pid && case $signal in ABRT) is_restored 134 ;; *) is_restored 0 ;; esac
	'
done
test_expect_success 'Ctrl-C ends it; Ctrl-Z gives the shell back, fg the picture' '
	top && keys C-c && is_restored 0 && shell_of 80x24 "bash --norc -i" && keys "weir top" Enter && screen_has "^weir  .*running" &&
	keys C-z && screen_has "Stopped" && test "$(terminal modes)" = "main shown" &&
	keys fg Enter && screen_has "^q quit" && keys q && screen_has_not "^q quit"
'
test_expect_success 'without UTF-8 there is ASCII alone, with NO_COLOR no colour' '
	top LC_ALL=C && screen >ascii && test_expect_code 1 grep -P "[^\x00-\x7f]" ascii && grep "physics.*#" ascii && keys q && is_restored 0 &&
	top && terminal colours >coloured && grep -E "cyan|brown" coloured && top NO_COLOR=1 && screen >plain && grep physics plain &&
	echo default >one && terminal colours | test_cmp one - && keys q && is_restored 0
'
test_expect_success 'TERM=dumb is told what it lacks, and gets one picture' '
	shell_of 100x40 sh && keys "env TERM=dumb weir top; echo \"rc=\$?.\"" Enter && screen_has "^rc=0[.]" &&
	screen_has "cannot move its cursor" && screen_has "^physics"
'
test_expect_success 'wrong options are refused, an instance that is not there is told' '
	test_expect_code 2 weir top --order size 2>err && grep "tree, name, used" err && test_expect_code 2 weir top --rows 0 2>err &&
	test_expect_code 3 env WEIR_RUNDIR=/nowhere weir top 2>err && grep -i "no instance\|start" err
'
test_expect_success 'an instance that ends is told; what was seen stays; it is found again' '
	top && stop_weir && screen_has_not "tree revision" && screen_has "physics" && screen >gone && sed -n 2p gone &&
	start_weir --tree shares.toml --config weir.toml && screen_has "tree revision" && keys q && is_restored 0
'
test_expect_success 'the instance ends' '
	stop_weir
'

test_done
