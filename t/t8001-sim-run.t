#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir sim run and generate: schedules worked out by hand, formats, bad logs, interruption, reference starts'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

# line JOB SUBMIT RUN CORES REQUESTED: a line of a log
line() {
	echo "$1 $2 -1 $3 $4 -1 -1 $4 $5 -1 1 7 2 -1 1 -1 -1 -1"
}

# Ten cores. Job 1 holds 6 until 100. Job 2 wants 8: under FCFS it and all behind it wait. EASY keeps 100 for it, with 2
# cores to spare: job 3 (2 cores, believed to end at 302) fits into those; job 4 (2 cores, believed to end at 63)
# ends before; job 5 (1 core for long) would need a third spare core. At 63 job 4's cores are free: job 6 starts, which
# ends at 93. At 100 job 2 starts on 8 cores until 150, job 5 after it. Job 3 overruns nothing: it ends at 202.
{
	echo "; Computer: ten cores"
	echo "; MaxProcs: 10"
	line 1 0 100 6 100
	line 2 1 50 8 60
	line 3 2 200 2 300
	line 4 3 60 2 60
	line 5 4 500 1 500
	line 6 5 30 2 30
} >hand.swf

test_expect_success 'where the simulator is not built, weir sim says how to build it; its help is there' '
	mkdir -p alone/bin && cp "$WEIR_BUILD_DIR/bin/weir" alone/bin && alone/bin/weir sim run --help | grep "^weir sim run:" &&
	test_expect_code 1 alone/bin/weir sim run hand.swf 2>err && grep "cmake --build .*/alone --target weir-sim$" err
'
test_expect_success 'fcfs: the schedule that was worked out by hand' '
	printf "job,start\n1,0\n2,100\n3,100\n4,150\n5,150\n6,150\n" >expected &&
	weir sim run --scheduler=fcfs --starts=got hand.swf && test_cmp expected got
'
test_expect_success 'easy: the schedule that was worked out by hand' '
	printf "job,start\n1,0\n2,100\n3,2\n4,3\n5,150\n6,63\n" >expected &&
	weir sim run --starts=got hand.swf && test_cmp expected got
'
test_expect_success 'the figures: waits of 0, 99, 0, 0, 146, 58 seconds' '
	weir sim run --json hand.swf >j && json_is j weir.sim-run/1 &&
	test "$(field j "d[\"jobs\"], d[\"cores\"], d[\"complete\"]")" = "(6, 10, True)" &&
	test "$(field j "round(d[\"wait_s\"][\"mean\"] * 6), d[\"wait_s\"][\"max\"]")" = "(303, 146.0)" &&
	test "$(field j "d[\"makespan_s\"], round(d[\"utilization\"] * 6500)")" = "(650.0, 2080)" &&
	weir sim run hand.swf >text && grep "^jobs         6 in 10m 50s" text && grep "longest 2m 26s" text
'
# Job 1 takes 6 cores for 100 s and asked for 50; job 2 wants 8. At 45 job 3 (4 cores, 40 s) would delay job 2, which is
# believed to start at 50. At 60 job 1 is overdue: it may end at any moment, and then 2 cores are to spare: job 4 starts.
{
	echo "; MaxProcs: 10"
	line 1 0 100 6 50
	line 2 1 50 8 50
	line 3 45 40 4 40
	line 4 60 500 2 500
} >overrun.swf
test_expect_success 'a job that runs longer than it requested: known when the request is over, and not lost in what is written' '
	printf "job,start\n1,0\n2,100\n3,150\n4,60\n" >expected &&
	weir sim run --starts=late -o late.csv overrun.swf >text && test_cmp expected late && grep "^requests     1 ran longer than requested" text &&
	grep "^1,7,2,1,0,6,0,0,100,0,100,50$" late.csv && weir sim run --json overrun.swf >j && test "$(field j "d[\"overran\"]")" = 1 &&
	printf "job,start\n1,0\n2,100\n3,45\n4,85\n" >expected &&
	weir sim run -q --requests=at-least-run --starts=known overrun.swf && test_cmp expected known &&
	test_expect_code 2 weir sim run --requests=clairvoyant overrun.swf 2>err && grep "as-written.*at-least-run.*clairvoyant" err
'
test_expect_success 'without a request a job is believed never to end: nobody starts who would hold its place in the way' '
	{ echo "; MaxProcs: 10" && line 1 0 100 6 -1 && line 2 1 50 8 50 && line 3 2 10 4 10; } >none.swf &&
	printf "job,start\n1,0\n2,100\n3,2\n" >expected &&
	weir sim run --starts=got2 -o none.csv none.swf >text && test_cmp expected got2 && grep "1 requested no time" text && grep "^1,.*,-1$" none.csv
'
test_expect_success 'preceding jobs and think times (fields 17 and 18) are ignored, but counted' '
	{ cat hand.swf && echo "7 6 -1 10 1 -1 -1 1 10 -1 1 7 2 -1 1 -1 6 30"; } >chain.swf &&
	weir sim run chain.swf | grep "^not replayed 1 name a preceding job or a think time" &&
	weir sim run --json chain.swf >j && test "$(field j "d[\"jobs\"], d[\"with_preceding\"]")" = "(7, 1)"
'
test_expect_success 'csv, json and swf hold the same outcome' '
	weir sim run -q --output=out.csv hand.swf && weir sim run -q -o out.json hand.swf && weir sim run -q -o out.swf hand.swf &&
	head -1 out.csv | grep "^job,user,group,queue,partition,cores,submit,start,end,wait,run,requested$" &&
	grep "^6,7,2,1,0,2,5,63,93,58,30,30$" out.csv &&
	json_is out.json weir.sim-jobs/1 &&
	test "$(field out.json "[(j[\"job\"], j[\"start\"]) for j in d[\"jobs\"]][4:], d[\"complete\"]")" = "([(5, 150), (6, 63)], True)" &&
	grep "^6 5 58 30 2 -1 -1 2 30 -1 1 7 2 -1 1 -1 -1 -1$" out.swf && grep "; Computer: ten cores" out.swf
'
test_expect_success 'a log of an editor that writes a byte order mark is the same log' '
	{ printf "\357\273\277" && cat hand.swf; } >marked.swf && weir sim run hand.swf | tail -n +2 >want && weir sim run marked.swf | tail -n +2 >plain &&
	test_cmp want plain && weir sim run --lenient marked.swf | tail -n +2 >lenient && test_cmp want lenient
'
test_expect_success 'a log that was written is replayed to the same starts, compressed or not' '
	weir sim run -q --starts=again out.swf && test_cmp got again &&
	weir sim run -q -o out.swf.gz hand.swf && gzip -t out.swf.gz && weir sim run -q --starts=again.csv.gz out.swf.gz &&
	gzip -dc again.csv.gz >again && test_cmp got again
'
test_expect_success 'a log on standard input is named -: from a pipe or a file, plain or compressed; messages call it standard input' '
	cat hand.swf | weir sim run -q --starts=- - >again && test_cmp got again && weir sim run -q --starts=- - <hand.swf >again && test_cmp got again &&
	gzip -c hand.swf | weir sim run -q --starts=again - && test_cmp got again &&
	weir sim run --json hand.swf | sed "s/hand.swf/standard input/" >want && weir sim run --json - <hand.swf >j && test_cmp want j &&
	sed "5s/ 200 / 2oo /" hand.swf | test_expect_code 1 weir sim run - 2>err && grep "standard input:5: field 4" err &&
	printf "[sim]\n" >easy.toml && cat hand.swf | weir sim compare -q easy.toml --trace=- -o j &&
	test "$(field j "d[\"log\"], d[\"jobs\"], d[\"provenance\"][\"log\"]")" = "('"'standard input', 6, {'path': '-', 'sha256'"': None})" &&
	cp hand.swf in.swf && test_expect_code 2 weir sim run --starts=in.swf - <in.swf 2>err && grep "in.swf is the same file as the log -, which would be lost" err &&
	cp hand.swf ./- && weir sim run -q --starts=again ./- && test_cmp got again && test_expect_code 1 weir sim run - </dev/null 2>err && grep "standard input: no job in it" err
'
test_expect_success '--quiet says nothing; no progress where there is no terminal' '
	weir sim run -q hand.swf >out 2>err && test_must_be_empty out && test_must_be_empty err &&
	weir sim run hand.swf 2>err && ! grep "$(printf "\033")" err
'
test_expect_success 'a scheduler that is none: the nearest one, exit code 2' '
	test_expect_code 2 weir sim run -s eazy hand.swf 2>err && grep "eazy.*did you mean \"easy\"?" err
'

test_expect_success 'one log at a time: logs of two machines have no common time' '
	test_expect_code 2 weir sim run hand.swf hand.swf 2>err && grep "hand.swf.* is one too many" err
'
test_expect_success 'on a terminal a bar tells how far it is, and is gone in the end' '
	weir sim generate -n 10000 -c 256 --load=1.1 --seed=5 -o long.swf.gz 2>/dev/null &&
	TERM=xterm python3 -c "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)" weir sim run -s conservative long.swf.gz >tty.out </dev/null &&
	grep -a "long.swf.gz conservative .* %.* jobs" tty.out && grep -a "$(printf "\r\033\\[K")" tty.out
'

# ---- bad logs: nothing is written, the line is named ----

refused() {
	rm -f refused.csv
	test_expect_code 1 weir sim run --starts=refused.csv "$@" 2>err && ! test -e refused.csv && test -z "$(ls | grep refused)"
}
test_expect_success 'a broken line: file, line, field, value and what would be right' '
	sed "5s/ 200 / 2oo /" hand.swf >bad.swf && refused bad.swf &&
	grep "bad.swf:5: field 4 (run time) is \"2oo\": it must be an integer, -1 when not known" err && grep -e "--lenient" err
'
test_expect_success '--lenient leaves it out, counts it and shows the first' '
	echo "9 9 9" >>bad.swf && weir sim run --lenient --json bad.swf >j &&
	test "$(field j "d[\"jobs\"], d[\"skipped\"]")" = "(5, 2)" && field j "d[\"first_skip\"]" | grep "bad.swf:5: field 4" &&
	weir sim run --lenient bad.swf | grep "left out     2 (no job line), first: bad.swf:5:"
'
test_expect_success 'impossible jobs are named: larger than the machine, without run time, before the one above' '
	{ cat hand.swf && line 7 6 10 11 10; } >large.swf && refused large.swf &&
	grep "large.swf:9: job 7 wants 11 cores; the machine has 10" err &&
	{ cat hand.swf && line 7 6 -1 1 10; } >time.swf && refused time.swf && grep "time.swf:9: job 7 .*run time" err &&
	{ cat hand.swf && line 7 4 10 1 10; } >order.swf && refused order.swf && grep "order.swf:9: job 7 was submitted before" err &&
	for log in large time order; do
		weir sim run --lenient --json $log.swf >j && test "$(field j "d[\"jobs\"], d[\"skipped\"]")" = "(6, 1)" || return 1
	done
'
test_expect_success 'a machine of unknown size wants --cores' '
	grep -v MaxProcs hand.swf >unsized.swf && refused unsized.swf && grep -e "--cores=N" err &&
	weir sim run --cores=10 -q --starts=again unsized.swf && test_cmp got again
'
test_expect_success 'an empty log, a log without a job, a log where no job is left' '
	: >empty.swf && refused empty.swf && grep "empty.swf: no job in it" err &&
	grep "^;" hand.swf >none.swf && refused none.swf && grep "none.swf: no job in it" err &&
	grep -v "^5 " hand.swf >big.swf && refused --lenient --cores=1 big.swf && grep "first problem: big.swf:3: job 1 wants 6 cores" err
'
test_expect_success '--lenient names every reason, with how many and the first of each' '
	{ cat bad.swf && line 7 6 10 11 10 && line 8 7 10 12 10 && line 9 8 -1 1 10 && line 10 4 10 1 10; } >many.swf &&
	weir sim run --lenient many.swf >text && grep "left out     2 (no job line), first: many.swf:5:" text &&
	grep "left out     2 (larger than the machine), first: many.swf:10: job 7 wants 11" text &&
	grep "left out     1 (without processors or times), first: many.swf:12: job 9" text &&
	grep "left out     1 (not in order of submission), first: many.swf:13: job 10" text &&
	weir sim run --lenient --json many.swf >j &&
	test "$(field j "d[\"skipped\"], [k[\"count\"] for k in d[\"skips\"]]")" = "(6, [2, 2, 1, 1])"
'
test_expect_success 'a gzip stream that is cut off is refused; --lenient replays what came before and counts the cut' '
	{ cat hand.swf && for i in $(seq 7 3000); do line $i $i 1 1 1; done; } >whole.swf &&
	gzip -c whole.swf >whole.swf.gz && head -c $(($(wc -c <whole.swf.gz) / 2)) whole.swf.gz >cut.swf.gz &&
	refused cut.swf.gz && grep "cut.swf.gz: .*ends too early" err && grep -e "--lenient" err &&
	weir sim run --lenient --starts=part --json cut.swf.gz >j &&
	test "$(field j "d[\"skipped\"], d[\"skips\"][0][\"why\"], 100 < d[\"jobs\"] < 2994")" = "(1, '"'behind the end of what can be read'"', True)" &&
	field j "d[\"first_skip\"]" | grep "cut.swf.gz: after line [0-9]*: the gzip stream ends too early" &&
	head -c 15 whole.swf.gz >stub.swf.gz && refused --lenient stub.swf.gz && grep "stub.swf.gz: .*ends too early" err
'
test_expect_success 'data behind a gzip stream that is no gzip member is refused; --lenient counts it; zero bytes fill a block' '
	{ cat whole.swf.gz && tail -n 2 whole.swf; } >mixed.swf.gz && refused mixed.swf.gz && bytes=$(tail -n 2 whole.swf | wc -c) &&
	grep "mixed.swf.gz: after line 3002: $bytes bytes behind the gzip stream are no gzip member" err && grep -e "--lenient" err &&
	weir sim run --lenient --json mixed.swf.gz >j && test "$(field j "d[\"jobs\"], d[\"skipped\"], d[\"skips\"][0][\"why\"]")" = "(3000, 1, '"'behind the end of what can be read'"')" &&
	{ cat whole.swf.gz && head -c 1000 /dev/zero; } >padded.swf.gz && weir sim run --json padded.swf.gz >j && test "$(field j "d[\"jobs\"], d[\"skipped\"]")" = "(3000, 0)"
'
test_expect_success 'a log that is not there: exit code 5; a folder: an error' '
	test_expect_code 5 weir sim run nowhere.swf 2>err && grep "nowhere.swf: No such file" err &&
	mkdir folder && test_must_fail weir sim run folder 2>err && grep "folder" err
'
test_expect_success 'an output that cannot be written or has no known format' '
	test_must_fail weir sim run -o nowhere/out.csv hand.swf 2>err && grep "nowhere/out.csv: cannot write: No such file" err &&
	test_must_fail weir sim run -o /dev/full/x.csv hand.swf 2>err &&
	test_expect_code 2 weir sim run -o out.txt hand.swf 2>err && grep ".swf, .csv or .json" err
'
test_expect_success 'a disk that is full: an error, and the file that was there stays' '
	test_must_fail weir sim run --starts=/dev/full hand.swf 2>err && grep "No space left" err
'

# ---- priorities ----

# One core, jobs of 100 seconds. User 7 submits four at 0, user 8 two at 1. By fair share user 8, who has used nothing,
# goes before what is left of user 7: at 100 user 8 has 0 against 100 core-seconds; at 200 they are even and 7 submitted
# first, or has the charge that is older and so smaller.
{
	echo "; MaxProcs: 1"
	for job in 1 2 3 4; do echo "$job 0 -1 100 1 -1 -1 1 100 -1 1 7 1 -1 1 -1 -1 -1"; done
	for job in 5 6; do echo "$job 1 -1 100 1 -1 -1 1 100 -1 1 8 1 -1 1 -1 -1 -1"; done
} >users.swf
cat >fair.toml <<EOF
[sim]
scheduler = "fcfs"
[weir]
policy = "multifactor"
update-interval = "0s"
[weir.weights]
wait = 0
fairshare = 10000
qos = 0
queue = 0
size = 0
user = 0
EOF
test_expect_success 'by fair share users take turns, by submission they do not' '
	printf "job,start\n1,0\n2,200\n3,400\n4,500\n5,100\n6,300\n" >expected &&
	weir sim run --priority=fair.toml --starts=turns --json users.swf >j && test_cmp expected turns &&
	field j "d[\"scheduler\"]" | grep "^fcfs, multifactor order$" &&
	printf "job,start\n1,0\n2,100\n3,200\n4,300\n5,400\n6,500\n" >expected &&
	weir sim run -s fcfs --starts=turns users.swf && test_cmp expected turns
'
test_expect_success 'the same run gives the same bytes, whatever it writes, from a compressed log and from a plain one' '
	mkdir -p packed && gzip -c hand.swf >packed/hand.swf &&
	for end in csv json swf; do
		weir sim run -p fair.toml -o one.$end --starts=one.starts hand.swf >one.text &&
		for log in hand.swf packed/hand.swf; do
			weir sim run -p fair.toml -o two.$end --starts=two.starts $log >two.text && cmp one.$end two.$end &&
			cmp one.starts two.starts && cmp one.text two.text || return 1
		done
	done && weir sim run --json hand.swf >one.j && weir sim run --json packed/hand.swf >two.j && cmp one.j two.j
'
test_expect_success 'a share tree says who goes first: user 8 has nine parts in ten' '
	sed "s/^\[weir\]/&\nshare-tree = \"s.toml\"/" fair.toml >tree.toml &&
	printf "\"a\" = 1\n\"a/@u7\" = 10\n\"a/@u8\" = 90\n" >s.toml &&
	printf "job,start\n1,0\n2,300\n3,400\n4,500\n5,100\n6,200\n" >expected &&
	weir sim run --priority=tree.toml --starts=turns users.swf && test_cmp expected turns
'
test_expect_success 'jobs of users who are not in the tree are counted, and the first is named' '
	printf "\"a\" = 1\n\"a/@alice\" = 1\n" >half.toml && { sed "s/s.toml/half.toml/" tree.toml && printf "[weir.users]\nalice = 7\n"; } >part.toml &&
	weir sim run --priority=part.toml --json users.swf >j 2>err && part=$(awk "\$12 == 8" users.swf | wc -l) &&
	grep "$part of 6 jobs are of users who are not in half.toml, first u8: .*.weir.users. gives" err &&
	test "$(field j "d[\"without_shares\"], d[\"first_without_shares\"]")" = "($part, '"'u8'"')" &&
	weir sim run --priority=tree.toml --json users.swf >j 2>err && ! grep "not in" err &&
	test "$(field j "d[\"without_shares\"], d[\"first_without_shares\"]")" = "(0, None)"
'
test_expect_success 'a tree with none of the log: no figures, exit code 1' '
	sed "s/s.toml/half.toml/" tree.toml >none.toml && test_expect_code 1 weir sim run --priority=none.toml users.swf >out 2>err &&
	test_must_be_empty out && grep "no job of this log is of a user who is in half.toml .*first is of u7.*no figures" err
'
test_expect_success 'a policy file that does not hold names file, key and what is right; nothing is written' '
	sed "s/multifactor/multifacter/" fair.toml >bad.toml && rm -f refused.csv &&
	test_expect_code 2 weir sim run --priority=bad.toml --starts=refused.csv users.swf 2>err && ! test -e refused.csv &&
	grep "bad.toml.*multifacter" err &&
	test_expect_code 5 weir sim run --priority=nowhere.toml users.swf 2>err && grep nowhere.toml err
'

# ---- interruption ----

# The log comes through a pipe, so that the replay is in its middle when Ctrl-C comes. Job N is submitted at N and runs
# for a second alone: each starts at once.
test_expect_success 'Ctrl-C: what was replayed is kept whole, and said; exit code 130' '
	mkfifo pipe.swf &&
	{ weir sim run --starts=part.csv -o part.json pipe.swf 2>err & } && pid=$! &&
	exec 7>pipe.swf &&
	{ echo "; MaxProcs: 1" && for i in $(seq 1 2000); do line $i $i 1 1 1; done; } >&7 &&
	kill -INT $pid &&
	{ (for i in $(seq 2001 12000); do line $i $i 1 1 1; done) >&7 2>/dev/null || :; } &&
	{ exec 7>&-; wait $pid; test $? -eq 130; } &&
	grep "interrupted" err && json_is part.json weir.sim-jobs/1 &&
	test "$(field part.json "d[\"complete\"], 0 < len(d[\"jobs\"]) < 12000")" = "(False, True)" &&
	awk -F, "NR > 1 && (\$1 != NR - 1 || \$2 != NR - 1) { exit 1 } END { exit NR < 2 }" part.csv &&
	test -z "$(ls | grep "^part\..*\.")"
'

# ---- generated logs ----

test_expect_success 'a generated log has the jobs, load and people that were asked for, and replays' '
	weir sim generate -n 2000 -c 256 --load=0.8 -u 20 -a 4 --seed=5 --json -o gen.swf.gz >j && json_is j weir.sim-generate/1 &&
	test "$(field j "d[\"jobs\"], round(d[\"load\"], 3)")" = "(2000, 0.8)" &&
	gzip -dc gen.swf.gz >gen && test $(grep -vc "^;" gen) -eq 2000 && grep "; MaxProcs: 256" gen &&
	grep -v "^;" gen | awk "{ if (\$12 > 20 || \$13 != 1 + (\$12 - 1) % 4 || \$5 > 256 || \$9 < \$4) exit 1 }" &&
	weir sim run --json gen.swf.gz >j && test "$(field j "d[\"jobs\"]")" = 2000
'
test_expect_success 'its header says how to make it again, byte by byte' '
	$(sed -n "s/^; Note: //p" gen) >again && test_cmp gen again
'
test_expect_success 'nonsense is refused' '
	test_expect_code 2 weir sim generate --cores=1 2>err && grep -e "--cores" err &&
	test_expect_code 2 weir sim generate --load=-1 2>err && test_expect_code 2 weir sim generate -o x.csv 2>err
'

# ---- what our own cluster ran ----

test_expect_success 'an instance runs jobs one after the other on two cores' '
	start_instance "cores = 2" &&
	a=$(job submit -r 0.2 -n 2 -t 10) && b=$(job submit -r 0.1) && c=$(job submit -u 0) &&
	job wait $b clean && job rpc job-manager.raise "{\"id\":$c,\"severity\":0,\"type\":\"cancel\"}" && job wait $c clean &&
	d=$(job submit -r 100000) && job wait $d start &&
	kill -9 $BROKER_PID; wait $BROKER_PID; test -s state/jobs.journal
'
test_expect_success 'its journal replays: the second waited for the first, as it did there' '
	weir sim run --cores=2 -s fcfs --json -o own.csv state/jobs.journal >j &&
	{ printf "\357\273\277" && cat state/jobs.journal; } >marked.journal && weir sim run -q --cores=2 -s fcfs -o marked.csv marked.journal &&
	test_cmp own.csv marked.csv &&
	test "$(field j "d[\"jobs\"]")" = 2 &&
	test "$(field j "d[\"not_replayed\"]")" = "1 never got resources and 1 had not ended when the journal was read" &&
	awk -F, "NR == 2 { if (\$1 != a || \$6 != 2 || \$12 != 10 || \$10 > 0.1) exit 1; end = \$9 }
		NR == 3 { if (\$1 != b || \$8 < end || \$11 < 0.1 || \$12 != -1) exit 1 } END { exit NR != 3 }" a=$a b=$b own.csv
'
test_expect_success 'a journal wants --cores; a broken line in it is named; a torn end is none' '
	refused state/jobs.journal && grep "journal.*--cores=N" err &&
	sed "3s/event/evnet/" state/jobs.journal >bad.journal && refused --cores=2 bad.journal && grep "bad.journal:3: .*\"event\" is missing" err &&
	{ cat state/jobs.journal && printf "{\"id\":1,\"ev"; } >torn.journal && weir sim run -q --cores=2 torn.journal
'

# ---- real logs, which are not part of the project ----

TRACES=${WEIR_SHARED:-$SHARNESS_TEST_SRCDIR/../../shared}/traces
test ! -d "$TRACES/starts" || test_set_prereq TRACES
test_expect_success TRACES 'reference starts are equal byte by byte' '
	for policy in fcfs easy easy-sjf conservative conservative-fw; do
		file=$TRACES/starts/KTH-SP2-1996.$(echo $policy | sed "s/conservative/cons/; s/-fw/fw/").csv.gz &&
		weir sim run -q -s $policy --starts=got.csv "$TRACES/KTH-SP2-1996.swf.gz" && gzip -dc "$file" >expected &&
		cmp expected got.csv && echo "$policy: $(wc -l <expected) lines" || return 1
	done
'
test_done
