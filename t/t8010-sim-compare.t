#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir sim compare: figures side by side, JSON, one self-contained page, bad input, interruption'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >easy.toml <<EOF
[sim]
scheduler = "easy"
EOF
cat >fcfs.toml <<EOF
[sim]
name = "first come <b>"
scheduler = "fcfs"
EOF
cat >fair.toml <<EOF
[sim]
scheduler = "easy"
[weir]
policy = "multifactor"
half-life = "3d"
update-interval = 0
share-tree = "shares.toml"
[weir.weights]
wait = 0
size = 0
fairshare = 1000000
EOF
cat >shares.toml <<EOF
"physics" = 60
"physics/@u1" = 1
"physics/@u4" = 1
"chem" = 30
"chem/@*" = 1
EOF

# page FILE PYTHON: a check of the page as well-formed XML; `root` its element, `data` the JSON inside
page() {
	python3 - "$@" <<-\EOF
	import json, sys, xml.etree.ElementTree as tree
	root = tree.parse(sys.argv[1]).getroot()
	data = json.loads(root.find(".//script[@id='weir-data']").text)
	ids = [e.get("id") for e in root.iter() if e.get("id")]
	def text(e): return "".join(e.itertext())
	print(eval(sys.argv[2]))
	EOF
}

test_expect_success 'a load to compare on' '
	weir sim generate --jobs=1500 --cores=64 --users=6 --load=0.9 --seed=3 -o load.swf.gz
'
test_expect_success 'two policies side by side: a column each, all figures, the best marked' '
	weir sim compare easy.toml fcfs.toml --trace=load.swf.gz --html=report.html -o out.json >table &&
	head -1 table | grep "^figure  *easy  *first come <b>" && test $(wc -l <table) -ge 35 &&
	grep "^wait, mean .* \*" table && grep "^capacity lost" table && grep "^fair start, measured jobs  *1500  *1500" table
'
test_expect_success 'the JSON has the figures of the table' '
	json_is out.json weir.sim-compare/1 &&
	test "$(field out.json "[p[\"name\"] for p in d[\"policies\"]], d[\"jobs\"], d[\"cores\"], d[\"share_tree\"]")" = \
		"(['"'easy', 'first come <b>'"'], 1500, 64, None)" &&
	grep "^capacity lost  *$(field out.json "\"%.1f\" % (100 * d[\"policies\"][0][\"figures\"][\"capacity_lost\"])") % \*" table &&
	grep "^makespan  *$(field out.json "\"%dd %dh\" % (d[\"policies\"][0][\"figures\"][\"makespan_s\"] // 86400, d[\"policies\"][0][\"figures\"][\"makespan_s\"] % 86400 // 3600)")" table
'
test_expect_success 'its mean wait and utilisation are those of weir sim run' '
	weir sim run --json --scheduler=easy load.swf.gz >run.json &&
	for f in "wait_mean_s [\"wait_s\"][\"mean\"]" "wait_max_s [\"wait_s\"][\"max\"]" "utilization [\"utilization\"]"; do
		set -- $f && test "$(field out.json "\"%.6g\" % d[\"policies\"][0][\"figures\"][\"$1\"]")" = \
			"$(field run.json "\"%.6g\" % d$2")" || return 1
	done
'
test_expect_success 'the JSON in the page is the JSON beside it' '
	page report.html "json.dumps(data, sort_keys=True)" >inside && field out.json "__import__(\"json\").dumps(d, sort_keys=True)" >beside &&
	test_cmp beside inside && weir sim compare -q --json -o same.json easy.toml fcfs.toml --trace=load.swf.gz >printed && test_cmp same.json printed
'
test_expect_success 'the page is well-formed, fetches nothing, runs nothing' '
	test "$(page report.html "len(ids) == len(set(ids)), root.get(\"lang\")")" = "(True, '"'en'"')" &&
	test "$(page report.html "[e.tag for e in root.iter() if e.tag in (\"link\", \"img\", \"iframe\", \"object\", \"base\")]")" = "[]" &&
	test "$(page report.html "[s.get(\"type\") for s in root.iter(\"script\")]")" = "['"'application/json'"']" &&
	test "$(page report.html "[k for e in root.iter() for k in e.keys() if k in (\"src\", \"href\") or k.startswith(\"on\")]")" = "[]" &&
	! grep -i "http\|url(\|@import" report.html
'
test_expect_success 'seven pictures, each with a title and a text that says its numbers' '
	test "$(page report.html "[s.get(\"id\") for s in root.iter(\"svg\")]")" = \
		"['"'frontier', 'shares', 'due', 'distance', 'waits', 'load', 'gantt'"']" &&
	test "$(page report.html "all(s.get(\"role\") == \"img\" and s.get(\"aria-labelledby\") == s.get(\"id\") + \"-t \" + s.get(\"id\") + \"-d\" for s in root.iter(\"svg\"))")" = True &&
	test "$(page report.html "all(any(c.isdigit() for c in text(s.find(\"desc\"))) for s in root.iter(\"svg\"))")" = True &&
	grep "prefers-color-scheme:dark" report.html
'
test_expect_success '--svg: a file for each picture of the page, which stands alone; a folder that is not there is said' '
	mkdir papers && weir sim compare -q --svg papers --fair-starts=0 easy.toml fcfs.toml --trace=load.swf.gz &&
	ls papers >names && printf "%s.svg\n" distance due frontier gantt load shares waits >want && test_cmp want names &&
	python3 - <<-\EOF &&
	import glob, xml.etree.ElementTree as tree
	for name in glob.glob("papers/*.svg"):
	    root = tree.parse(name).getroot()
	    assert root.tag == "{http://www.w3.org/2000/svg}svg" and root.get("role") == "img", name
	    assert "first come <b>" in "".join(root.itertext()), name
	    text = open(name).read()
	    assert "prefers-color-scheme:dark" in text and "url(" not in text and "@import" not in text, name
	EOF
	test_expect_code 5 weir sim compare -q --svg nowhere --fair-starts=0 easy.toml --trace=load.swf.gz 2>err && grep nowhere err
'
# On one processor alone replays go one after the other (nproc and the threads follow the affinity).
test_expect_success 'equal input, equal bytes: table, JSON and page, on one processor or all' '
	one=$(taskset -cp $$ | sed "s/.*: //; s/[-,].*//") && test "$(taskset -c $one nproc)" = 1 &&
	printf "[sim]\nscheduler = \"conservative\"\n" >cons.toml && mkdir -p first again one &&
	set -- easy.toml fcfs.toml cons.toml fair.toml && cp "$@" shares.toml load.swf.gz first && cp "$@" shares.toml load.swf.gz again &&
	cp "$@" shares.toml load.swf.gz one && set -- weir sim compare "$@" --trace=load.swf.gz --fair-starts=20 --html=h --output=j &&
	(cd first && "$@" >table) && (cd again && "$@" >table) && (cd one && taskset -c $one "$@" >table) &&
	for how in again one; do
		cmp first/h $how/h && cmp first/j $how/j && cmp first/table $how/table || return 1
	done
'
test_expect_success 'a log that is not compressed gives the same, but for its own hash' '
	mkdir -p plain && cp easy.toml fcfs.toml cons.toml fair.toml shares.toml plain && gzip -dc load.swf.gz >plain/load.swf.gz &&
	(cd plain && weir sim compare easy.toml fcfs.toml cons.toml fair.toml --trace=load.swf.gz --fair-starts=20 --html=h --output=j >table) &&
	cmp first/table plain/table &&
	for d in first plain; do
		field $d/j "d[\"provenance\"][\"log\"].pop(\"sha256\"), __import__(\"json\").dumps(d)" | cut -c 70- >$d/rest || return 1
	done &&
	cmp first/rest plain/rest && ! cmp -s first/j plain/j
'
test_expect_success 'JSON and page say what it came from: version, command line, hashes of log, policies and tree, seed' '
	test "$(field first/j "d[\"provenance\"][\"weir\"]")" = "$(weir version | sed "s/weir //")" &&
	test "$(field first/j "d[\"provenance\"][\"log\"][\"sha256\"]")" = "$(sha256sum load.swf.gz | cut -d" " -f1)" &&
	test "$(field first/j "d[\"provenance\"][\"seed\"], d[\"provenance\"][\"command\"][-1]")" = "(1, '"'fair.toml'"')" &&
	test "$(field first/j "[f[\"path\"] for f in d[\"policies\"][3][\"files\"]]")" = "['"'fair.toml', 'shares.toml'"']" &&
	for file in fair.toml shares.toml load.swf.gz; do
		grep $(sha256sum $file | cut -d" " -f1) first/h && grep $(sha256sum $file | cut -d" " -f1) first/j || return 1
	done >/dev/null &&
	grep "weir sim compare .*--fair-starts=20 .*--trace=load.swf.gz .*fair.toml" first/h >/dev/null
'
test_expect_success 'all settings in force stand there, defaults too; what differs stands first' '
	test "$(field first/j "[(w[\"half-life\"], w[\"weights\"][\"fairshare\"], w[\"weights\"][\"qos\"], w[\"wait-max\"]) for w in [d[\"policies\"][3][\"settings\"][\"weir\"]]]")" = \
		"[('"'3d', 1000000, 1000.0, '3d'"')]" &&
	test "$(field first/j "[p[\"settings\"][\"sim\"][\"scheduler\"] for p in d[\"policies\"]]")" = "['"'easy', 'fcfs', 'conservative', 'easy'"']" &&
	sed "s/half-life = \"3d\"/half-life = \"4d\"/" fair.toml >other.toml &&
	weir sim compare -q fair.toml other.toml --trace=load.swf.gz --fair-starts=0 --html=two.html &&
	test "$(page two.html "[[text(c) for c in r] for t in root.iter(\"table\") if \"differ\" in text(t) for r in t.iter(\"tr\")][1:]")" = \
		"[['"'weir.half-life', '3d', '4d'"']]"
'
test_expect_success 'names that read alike are refused; one policy under two names is said' '
	{ echo "[sim]" && echo "name = \"fair  share \"" && sed 1d fair.toml; } >blank.toml &&
	{ echo "[sim]" && echo "name = \"fair share\"" && sed 1d fair.toml; } >plain.toml &&
	test_expect_code 2 weir sim compare blank.toml plain.toml --trace=load.swf.gz 2>err && grep "plain.toml: its name .fair share. is the name of blank.toml" err &&
	cp fair.toml copy.toml && weir sim compare -q fair.toml copy.toml --trace=load.swf.gz --fair-starts=0 2>err &&
	grep "copy.toml and fair.toml are the same policy" err
'
test_expect_success 'fair share by a tree: accounts by name, what each got, a sample of fair starts' '
	weir sim compare -q easy.toml fair.toml --trace=load.swf.gz --fair-starts=10 -o tree.json --html=tree.html &&
	test "$(field tree.json "d[\"share_tree\"], d[\"half_life_s\"], [round(e[\"entitled\"], 3) for e in d[\"entitlements\"] if e[\"account\"] in (\"physics\", \"chem\", \"physics/@u1\")]")" = \
		"('"'shares.toml'"', 259200.0, [0.667, 0.333, 0.333])" &&
	test "$(field tree.json "[(p[\"order\"], p[\"fair_start_sampled\"]) for p in d[\"policies\"]]")" = \
		"[('"'submission', True), ('multifactor', True"')]" &&
	test "$(field tree.json "all(sum(a[\"jobs\"] for a in p[\"accounts\"] if \"/\" not in a[\"account\"]) == 1500 for p in d[\"policies\"])")" = True &&
	test "$(field tree.json "d[\"policies\"][1][\"figures\"][\"account_share_deviation\"] < d[\"policies\"][0][\"figures\"][\"account_share_deviation\"]")" = True
'
test_expect_success 'a single account on top of the others changes no figure' '
	mkdir site && cp fair.toml site && { echo "\"site\" = 1" && sed "s/^\"/\"site\//" shares.toml; } >site/shares.toml &&
	weir sim compare -q fair.toml --trace=load.swf.gz --fair-starts=0 -o plain.json && weir sim compare -q site/fair.toml --trace=load.swf.gz --fair-starts=0 -o site.json &&
	for name in plain site; do field $name.json "{k: v and round(v, 9) for k, v in d[\"policies\"][0][\"figures\"].items()}" >$name.figures || return 1; done &&
	test_cmp plain.figures site.figures
'
test_expect_success 'jobs of users who are not in a tree are counted for its policy; a tree with nobody of the log: no figures, exit code 1' '
	printf "\"bio\" = 1\n\"bio/@u1\" = 1\n" >one.toml && printf "[weir]\nshare-tree = \"one.toml\"\n" >most.toml &&
	weir sim compare -q easy.toml most.toml --trace=load.swf.gz --fair-starts=0 -o most.json 2>err &&
	n=$(zcat load.swf.gz | grep -v "^;" | awk "\$12 != 1" | wc -l) && shown=$(echo "$n" | sed "s/.*\(...\)\$/\1/") &&
	grep "$shown of 1.*500 jobs are of users who are not in one.toml, first u[2-6]: they have no shares" err &&
	test "$(field most.json "[(p[\"without_shares\"], p[\"first_without_shares\"] is None) for p in d[\"policies\"]]")" = "[(0, True), ($n, False)]" &&
	printf "\"bio\" = 1\n\"bio/@bob\" = 1\n" >one.toml &&
	test_expect_code 1 weir sim compare -q easy.toml most.toml --trace=load.swf.gz --fair-starts=0 2>err &&
	grep "most.toml: no job of this log is of a user who is in one.toml .*no figures" err
'
# Fair starts of a policy in order of submission can be found for every job, of one with priorities for a sample alone.
test_expect_success 'fair starts are of the same jobs under all policies, with an interval; no star where these overlap' '
	printf "[sim]\nname = \"order\"\n[weir]\npolicy = \"multifactor\"\n[weir.weights]\nwait = 1\nfairshare = 0\n" >order.toml &&
	weir sim compare easy.toml order.toml --trace=load.swf.gz --fair-starts=30 -o sample.json >table &&
	test "$(field sample.json "[(p[\"figures\"][\"fair_start_jobs\"], p[\"fair_start_sampled\"]) for p in d[\"policies\"]]")" = "[(30.0, True), (30.0, True)]" &&
	test "$(field sample.json "all(p[\"intervals_95\"][\"fair_start_missed\"][0] <= p[\"figures\"][\"fair_start_missed\"] < p[\"intervals_95\"][\"fair_start_missed\"][1] for p in d[\"policies\"])")" = True &&
	grep "^fair starts missed .*(.* to .*).*(.* to .*)" table && ! grep "^fair start.*\*" table &&
	grep "^Fair starts: 30 of 1500 jobs" table
'
test_expect_success 'another seed draws another sample; all jobs have no interval' '
	weir sim compare -q easy.toml order.toml --trace=load.swf.gz --fair-starts=30 --seed=2 -o other.json &&
	! cmp -s sample.json other.json &&
	weir sim compare -q easy.toml --trace=load.swf.gz -o all.json &&
	test "$(field all.json "d[\"policies\"][0][\"figures\"][\"fair_start_jobs\"], len(set(d[\"policies\"][0][\"intervals_95\"][\"fair_start_missed\"]))")" = "(1500.0, 1)"
'
test_expect_success 'fair starts can be left out' '
	weir sim compare --json --fair-starts=0 easy.toml --trace=load.swf.gz >none.json &&
	test "$(field none.json "d[\"policies\"][0][\"figures\"][\"fair_start_missed\"]")" = None
'

# job SUBMIT RUN USER: a line of a log
job() {
	echo "1 $1 -1 $2 4 -1 -1 4 $2 -1 1 $3 1 -1 1 -1 -1 -1"
}
test_expect_success UNSANITIZED 'a log over a hundred thousand years, idle or with one job all the time, takes little memory' '
	printf "[weir]\nhalf-life = \"7d\"\n" >half.toml && far=4000000000000 &&
	{ echo "; MaxProcs: 8" && job 0 100 1 && job 5 100 2 && job $far 100 2; } >gap.swf &&
	{ echo "; MaxProcs: 8" && job 0 100 1 && job 5 $far 2 && job 9 $far 1; } >long.swf &&
	for log in gap long; do
		(ulimit -v 2000000 && weir sim compare -q -o $log.json easy.toml half.toml --trace=$log.swf) &&
		test "$(field $log.json "[p[\"figures\"][\"jobs\"] for p in d[\"policies\"]]")" = "[3.0, 3.0]" || return 1
	done
'
test_expect_success UNSANITIZED 'memory that is used up is an error with a sentence, also within a replay' '
	weir sim generate -n 20000 -c 64 --seed=3 -o many.swf &&
	for limit in $(seq 26000 1500 42000); do
		code=0 && (ulimit -v $limit && weir sim compare -q --fair-starts=0 easy.toml half.toml --trace=many.swf) 2>err || code=$?
		test $code = 0 || { test $code = 1 && grep "not enough memory\|temporarily unavailable" err; } || { echo $limit $code && cat err && return 1; }
	done
'

test_expect_success 'bad policies: every mistake with file, line, value and what is right; nothing is written' '
	printf "[sim]\nscheduler = \"esay\"\ncores = 0\n# x\ncolour = 1\n" >bad.toml && printf "[weir]\nhalf-life = \"soon\"\n" >bad2.toml &&
	test_expect_code 2 weir sim compare bad.toml bad2.toml --trace=load.swf.gz --html=never.html 2>err &&
	grep "bad.toml:2: .sim. scheduler = \"esay\": .*did you mean \"easy\"" err &&
	grep "bad.toml:3: .sim. cores = 0: must be a whole number" err && grep "bad.toml:5: .sim. colour = 1: unknown key" err &&
	grep "bad2.toml:2: .weir. half-life = \"soon\"" err && ! test -e never.html
'
test_expect_success 'no TOML, no policy in it, no such file, a bad share tree' '
	echo "[sim" >syntax.toml && test_expect_code 2 weir sim compare syntax.toml --trace=load.swf.gz 2>err && grep "syntax.toml:1:" err &&
	echo "[other]" >empty.toml && test_expect_code 2 weir sim compare empty.toml --trace=load.swf.gz 2>err && grep "empty.toml: no policy" err &&
	test_expect_code 5 weir sim compare nowhere.toml --trace=load.swf.gz 2>err && grep "nowhere.toml" err &&
	printf "\"a\" = -1\n" >badtree.toml && printf "[weir]\nshare-tree = \"badtree.toml\"\n" >treed.toml &&
	test_expect_code 2 weir sim compare treed.toml --trace=load.swf.gz 2>err && grep "badtree.toml:1:" err
'
test_expect_success 'two of one name, two machines, no log, a log that is not there, a folder that is not there' '
	mkdir -p d && cp easy.toml d/ && test_expect_code 2 weir sim compare easy.toml d/easy.toml --trace=load.swf.gz 2>err && grep "d/easy.toml: its name \"easy\" is the name of easy.toml" err &&
	printf "[sim]\ncores = 64\n" >a.toml && printf "[sim]\ncores = 65\n" >b.toml &&
	test_expect_code 2 weir sim compare a.toml b.toml --trace=load.swf.gz 2>err && grep "b.toml: .sim. cores = 65, but a.toml says 64" err &&
	test_expect_code 2 weir sim compare easy.toml 2>err && grep -e "--trace" err &&
	test_expect_code 5 weir sim compare easy.toml --trace=nolog.swf 2>err && grep "nolog.swf" err &&
	test_expect_code 2 weir sim compare 2>err && grep "POLICY.toml" err &&
	! weir sim compare -q easy.toml --trace=load.swf.gz --html=nowhere/x.html 2>err && grep "nowhere" err
'
test_expect_success 'a job larger than the machine is named' '
	test_expect_code 1 weir sim compare easy.toml --cores=2 --trace=load.swf.gz 2>err && grep "load.swf.gz:" err &&
	weir sim compare --json --lenient --cores=2 easy.toml --trace=load.swf.gz >some.json 2>err && grep "left out" err
'

# ---- interruption ----

# at_terminal SIGNAL REGEX COMMAND...: runs it at a terminal, sends it the signal when the terminal shows REGEX; its exit
# code, or 99 when it ended before.
at_terminal() {
	TERM=xterm python3 - "$@" <<-\EOF
	import os, pty, re, signal, sys
	pid, terminal = pty.fork()
	if pid == 0:
	    os.execvp(sys.argv[3], sys.argv[3:])
	shown, is_sent = b"", False
	while True:
	    try:
	        more = os.read(terminal, 65536)
	    except OSError:
	        break
	    shown += more
	    if more == b"":
	        break
	    if not is_sent and re.search(sys.argv[2].encode(), shown):
	        os.kill(pid, getattr(signal, sys.argv[1]))
	        is_sent = True
	code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
	sys.exit(code if is_sent else 99)
	EOF
}
# A queue that grows all the time: each fair start is a replay of thousands of jobs. All of them take minutes.
test_expect_success 'Ctrl-C and SIGTERM while fair starts are looked for: all figures are kept, with those found' '
	weir sim generate -n 12000 -c 128 --load=3 --seed=5 -o deep.swf.gz &&
	for signal in INT TERM; do
		rm -f cut.json && test_expect_code 130 at_terminal SIG$signal "fair starts [1-9]" weir sim compare easy.toml --trace=deep.swf.gz -o cut.json &&
		json_is cut.json weir.sim-compare/1 &&
		test "$(field cut.json "d[\"policies\"][0][\"complete\"], d[\"policies\"][0][\"figures\"][\"jobs\"], 0 < d[\"policies\"][0][\"figures\"][\"fair_start_jobs\"] < 12000")" = "(True, 12000.0, True)" || return 1
	done
'
test_expect_success 'the same where each fair start is a replay from the beginning' '
	rm -f cut.json &&
	test_expect_code 130 at_terminal SIGINT "fair starts [1-9]" weir sim compare order.toml --fair-starts=5000 --trace=deep.swf.gz -o cut.json --html=cut.html &&
	test "$(field cut.json "d[\"policies\"][0][\"complete\"], 0 < d[\"policies\"][0][\"figures\"][\"fair_start_jobs\"] < 5000")" = "(True, True)" &&
	page cut.html "data[\"schema\"]" | grep weir.sim-compare/1
'

test_done
