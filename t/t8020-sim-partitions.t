#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir sim over partitions, at any depth: schedules worked out by hand, one partition against one pool, figures, bad files, interruption'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

# line JOB SUBMIT RUN CORES QUEUE: a line of a log
line() {
	echo "$1 $2 -1 $3 $4 -1 -1 $4 $3 -1 1 7 2 -1 $5 -1 -1 -1"
}
# whole FILE CORES: a file of one partition that has the whole machine and gets all jobs
whole() {
	printf "[[partition]]\nname = \"all\"\ncores = %s\n" "$2" >"$1"
}

# Eight cores. Jobs 1 and 2 take three cores of a partition of four each. Job 3 wants two, and though two are free, no
# partition has them before 60. Job 4 wants a whole partition: that of job 2 is free when job 3 ends. Job 5 is too large.
{
	echo "; MaxProcs: 8"
	line 1 0 100 3 1
	line 2 0 60 3 1
	line 3 1 10 2 1
	line 4 2 10 4 1
	line 5 3 10 5 1
} >hand.swf
cat >two.toml <<EOT
[[partition]]
name = "left"
queues = ["all"]
cores = 4
[[partition]]
name = "right"
queues = ["all"]
nodes = 2
cores-per-node = 2
EOT

test_expect_success 'two partitions: the schedule that was worked out by hand; what none can hold is refused and named' '
	printf "job,start\n1,0\n2,0\n3,60\n4,70\n" >expected &&
	weir sim run --priority=two.toml --starts=got hand.swf >text && test_cmp expected got &&
	grep "^hand.swf under easy in 2 partitions on 8 cores" text && grep "^jobs         4 in" text &&
	grep "^refused      1 (larger than every partition of its queue), first: job 5 wants 5 cores; the largest partition of queue all has 4" text &&
	grep "^left  *4  *1  *0s  *0s" text && grep "^right  *4  *3 " text
'
test_expect_success 'the figures of each partition and of the whole, as JSON and in every job'"'"'s line' '
	weir sim run --priority=two.toml --json -o out.csv hand.swf >j && json_is j weir.sim-run/1 &&
	test "$(field j "d[\"jobs\"], d[\"scheduler\"], d[\"refused\"][0][\"count\"]")" = "(4, '"'easy in 2 partitions'"', 1)" &&
	test "$(field j "[(p[\"name\"], p[\"cores\"], p[\"jobs\"], round(p[\"utilization\"] * 400)) for p in d[\"partitions\"]]")" = \
		"[('"'left'"', 4, 1, 300), ('"'right'"', 4, 3, 240)]" &&
	test "$(field j "round(d[\"utilization\"] * 800)")" = 540 &&
	test "$(cut -d, -f1,5 out.csv | tail -n +2 | tr "\n" " ")" = "1,1 2,2 3,2 4,2 "
'
cat >queues.toml <<EOT
[sim]
scheduler = "fcfs"
default-queue = "batch"
[sim.queues]
3 = "debug"
[[partition]]
name = "batch"
cores = 4
[[partition]]
name = "debug"
cores = 4
scheduler = "easy"
overflow = ["batch"]
EOT
test_expect_success 'queues of the log are names of the file; a partition lends to another queue what its own jobs leave' '
	{ echo "; MaxProcs: 8" && line 1 0 100 4 1 && line 2 1 50 4 1 && line 3 2 10 4 3; } >queues.swf &&
	printf "job,start\n1,0\n2,1\n3,51\n" >expected &&
	weir sim run -p queues.toml --starts=got2 queues.swf >text && test_cmp expected got2 && grep "under fcfs and easy in 2" text &&
	grep -v overflow queues.toml >own.toml && printf "job,start\n1,0\n2,100\n3,2\n" >expected &&
	weir sim run -p own.toml --starts=got3 -q queues.swf && test_cmp expected got3 &&
	grep -v default-queue own.toml >some.toml && weir sim run -p some.toml queues.swf >text && grep "^jobs         1 in" text &&
	grep "^refused      2 (of a queue that no partition serves), first: job 1 is of queue 1" text &&
	{ echo "; MaxProcs: 8" && line 1 0 100 4 7; } >other.swf &&
	test_expect_code 1 weir sim run -p some.toml other.swf 2>err && cat err && grep "no partition took a job of this log" err
'
test_expect_success 'a partition takes what its rules say; a rule of which the log does not tell is refused' '
	sed "s/^name = \"left\"/&\ntakes = { duration-max = \"1m\" }/" two.toml >rules.toml &&
	{ echo "; MaxProcs: 8" && line 1 0 100 4 1 && line 2 0 100 4 1; } >rules.swf && printf "job,start\n1,0\n2,100\n" >expected &&
	weir sim run -q -p rules.toml --starts=got6 rules.swf && test_cmp expected got6 &&
	sed "s/^takes.*/takes = { qos = [\"high\"] }/" rules.toml >qos.toml &&
	test_expect_code 2 weir sim run -p qos.toml rules.swf 2>err && cat err &&
	grep "only rules by duration, cores, account and user are replayed" err
'
test_expect_success 'a link takes five messages from a submission to a start, and a partition reports at intervals' '
	{ echo "; MaxProcs: 8" && line 1 0 100 4 1 && line 2 4 100 4 1; } >short.swf &&
	{ printf "[sim]\nlink-delay = \"200ms\"\n" && cat two.toml; } >slow.toml && printf "job,start\n1,1\n2,5\n" >expected &&
	weir sim run -p slow.toml -q --starts=got4 short.swf && test_cmp expected got4 &&
	{ printf "[sim]\nreport-interval = \"15s\"\n" && cat two.toml; } >rare.toml && printf "job,start\n1,0\n2,15\n" >expected &&
	weir sim run -p rare.toml -q --starts=got5 short.swf && test_cmp expected got5
'

# ---- partitions of partitions ----

cat >deep.toml <<EOT
[[partition]]
name = "long"
queues = ["all"]
cores = 4
[[partition.partition]]
name = "l1"
queues = ["all"]
cores = 2
[[partition.partition]]
name = "l2"
queues = ["all"]
scheduler = "fcfs"
cores = 2
[[partition]]
name = "short"
queues = ["all"]
cores = 4
EOT
# Job 1 wants four cores: long has as many, but no partition of it. So it runs in short, and jobs 2 and 3 take l1 and l2.
# Job 4 is submitted when all is full, and gets the cores of job 3. Job 5 is too large.
{
	echo "; MaxProcs: 8"
	line 1 0 100 4 1
	line 2 0 60 2 1
	line 3 0 50 2 1
	line 4 1 10 2 1
	line 5 1 10 5 1
} >deep.swf
test_expect_success 'partitions of a partition: the schedule that was worked out by hand; figures of each, by path, and of the outer one' '
	printf "job,start\n1,0\n2,0\n3,0\n4,50\n" >expected &&
	weir sim run -p deep.toml --starts=got -o out.csv deep.swf >text && test_cmp expected got && cat text &&
	grep "^deep.swf under easy and fcfs in 3 partitions on 8 cores" text &&
	grep "^refused      1 (larger than every partition of its queue), first: job 5 wants 5 cores; the largest partition of queue all has 4" text &&
	grep "^long  *4  *3 " text && grep "^long/l1  *2  *1 " text && grep "^long/l2  *2  *2 " text && grep "^short  *4  *1 " text &&
	test "$(cut -d, -f1,5 out.csv | tail -n +2 | tr "\n" " ")" = "1,4 2,2 3,3 4,3 "
'
test_expect_success 'the same as JSON: an outer one has no scheduler, and its figures are the sums' '
	weir sim run -p deep.toml --json deep.swf >j && json_is j weir.sim-run/1 &&
	test "$(field j "[(p[\"name\"], p[\"scheduler\"], p[\"jobs\"], round(p[\"utilization\"] * 100 * p[\"cores\"])) for p in d[\"partitions\"]]")" = \
		"[('"'long', '', 3, 240), ('long/l1', 'easy', 1, 120), ('long/l2', 'fcfs', 2, 120), ('short', 'easy', 1, 400)"']" &&
	test "$(field j "sum(p[\"jobs\"] for p in d[\"partitions\"] if p[\"scheduler\"]) == d[\"jobs\"]")" = True
'
test_expect_success 'each level takes three messages more; a comparison names the partitions, and has their settings' '
	{ echo "; MaxProcs: 8" && line 1 0 100 2 1 && line 2 4 100 4 1; } >few.swf && { printf "[sim]\nlink-delay = \"20ms\"\n" && cat deep.toml; } >slow.toml &&
	weir sim run -p slow.toml -q -o slow.csv few.swf && test "$(cut -d, -f1,5,8 slow.csv | tail -n +2 | tr "\n" " ")" = "1,2,0.16 2,4,4.1 " &&
	weir sim compare --fair-starts=0 two.toml deep.toml --trace=deep.swf -o both.json >table && grep "^long/l2 *2 " table &&
	test "$(field both.json "[q[\"name\"] for q in d[\"policies\"][1][\"settings\"][\"partitions\"][\"partition\"][0][\"partition\"]]")" = "['"'l1', 'l2'"']"
'
test_expect_success 'rules and limits of an inner partition hold' '
	sed "s/^name = \"l2\"/&\ntakes = { duration-max = \"55s\" }\nlimits = { running-jobs-max = 1 }/" deep.toml >inner.toml &&
	{ echo "; MaxProcs: 8" && line 1 0 100 4 1 && line 2 0 60 2 1 && line 3 0 60 2 1 && line 4 1 10 1 1 && line 5 1 10 1 1; } >inner.swf &&
	printf "job,start\n1,0\n2,0\n3,60\n4,1\n5,11\n" >expected && weir sim run -q -p inner.toml --starts=got inner.swf && sort -n got >sorted && test_cmp expected sorted
'

# ---- against one pool ----

# inside FILE CORES: the same as a partition of a partition of a partition
inside() {
	for above in "" "partition." "partition.partition."; do
		printf "[[${above}partition]]\nname = \"all\"\ncores = %s\n" "$2" || return 1
	done >"$1"
}
test_expect_success 'a partition that has the whole machine, at whatever depth, starts every job when one pool does, to the byte' '
	weir sim generate --jobs=1500 --cores=64 --users=6 --load=0.9 --seed=3 -o load.swf.gz && whole whole.toml 64 && inside inside.toml 64 &&
	for scheduler in fcfs first-fit easy easy-sjf hybrid conservative; do
		weir sim run -q -s $scheduler --starts=pool.csv load.swf.gz &&
		weir sim run -q -s $scheduler -p whole.toml --starts=tree.csv load.swf.gz && cmp pool.csv tree.csv &&
		weir sim run -q -s $scheduler -p inside.toml --starts=deep.csv load.swf.gz && cmp pool.csv deep.csv || return 1
	done
'
test_expect_success 'the same by fair share' '
	printf "[weir]\npolicy = \"multifactor\"\nhalf-life = \"1d\"\nupdate-interval = \"30s\"\n" >fair.toml &&
	weir sim run -q -p fair.toml --starts=pool.csv load.swf.gz && for file in whole inside; do
		cat fair.toml $file.toml >both.toml && weir sim run -q -p both.toml --starts=tree.csv load.swf.gz && cmp pool.csv tree.csv || return 1
	done
'
cat >each.toml <<EOT
[sim]
cores = 128
queues = { 1 = "one", 2 = "two" }
[weir.route]
hand-down = 1
[[partition]]
name = "one"
cores = 64
[[partition]]
name = "two"
cores = 64
EOT
test_expect_success 'two queues with a partition each start every job when two pools do, whatever the depth is' '
	zcat load.swf.gz | awk "/^;/ { print } !/^;/ { \$15 = \$1 % 2 + 1; print }" >both.swf &&
	for queue in 1 2; do
		awk "/^;/ || \$15 == $queue" both.swf >$queue.swf &&
		weir sim run -q --starts=pool$queue.csv $queue.swf || return 1
	done &&
	{ cat pool1.csv && tail -n +2 pool2.csv; } | sort -n >pools.csv && test $(wc -l <pools.csv) -eq 1501 &&
	weir sim run -q -p each.toml --starts=tree.csv both.swf && sort -n tree.csv | cmp pools.csv -
'
logs=${WEIR_SHARED:-$(dirname "$SHARNESS_TEST_FILE")/../../shared}/traces
test -f "$logs/CTC-SP2-1996.swf.gz" && test_set_prereq LOGS
test_expect_success LOGS 'the same on logs of real machines' '
	for log in KTH-SP2-1996 CTC-SP2-1996; do
		weir sim run --json --starts=pool.csv "$logs/$log.swf.gz" >j && whole one.toml $(field j "d[\"cores\"]") &&
		weir sim run -q -p one.toml --starts=tree.csv "$logs/$log.swf.gz" && cmp pool.csv tree.csv || return 1
	done
'
cat >parts.toml <<EOT
[weir.route]
hand-down = 2
[sim]
link-delay = "5ms"
report-interval = "100ms"
[[partition]]
name = "a"
queues = ["all"]
cores = 40
[[partition]]
name = "b"
queues = ["all"]
cores = 24
EOT
test_expect_success 'two runs give the same bytes' '
	{ cat parts.toml && for part in 1 2; do printf "[[partition.partition]]\nname = \"b$part\"\nqueues = [\"all\"]\ncores = 12\n"; done; } >inner-parts.toml &&
	for file in parts inner-parts; do
		for run in 1 2; do
			weir sim run -p $file.toml --starts=$run.starts -o $run.csv --json load.swf.gz 2>/dev/null >$run.json || return 1
		done &&
		cmp 1.starts 2.starts && cmp 1.csv 2.csv && cmp 1.json 2.json || return 1
	done
'

# ---- comparisons ----

test_expect_success 'one queue against partitions: columns, and a table of each policy with partitions' '
	printf "[sim]\nname = \"one queue\"\n" >queue.toml &&
	weir sim compare queue.toml parts.toml --fair-starts=20 --trace=load.swf.gz -o out.json --html=out.html >table &&
	head -1 table | grep "^figure  *one queue  *parts" && grep "^Partitions of parts" table && grep "^a  *40 " table && grep "^b  *24 " table &&
	grep "^refused: [0-9]* (larger than every partition of its queue), first: job" table && ! grep "Partitions of one" table
'
test_expect_success 'the JSON has each partition, and the settings that were in force' '
	json_is out.json weir.sim-compare/1 && field out.json "d[\"policies\"][1]" >p &&
	test "$(field out.json "[q[\"name\"] for q in d[\"policies\"][1][\"partitions\"]], d[\"policies\"][1][\"scheduler\"]")" = \
		"(['"'a', 'b'"'], '"'easy in 2 partitions'"')" &&
	test "$(field out.json "sum(q[\"jobs\"] for q in d[\"policies\"][1][\"partitions\"]) == d[\"policies\"][1][\"figures\"][\"jobs\"]")" = True &&
	test "$(field out.json "d[\"policies\"][1][\"settings\"][\"partitions\"][\"hand-down\"], \"partitions\" in d[\"policies\"][0]")" = "(2, False)"
'

test_expect_success 'partitions with other rules or limits are another policy; what differs is in the record' '
	for end in "1m" "2m"; do sed "s/^name = \"left\"/&\ntakes = { duration-max = \"$end\" }/" two.toml >rule$end.toml || return 1; done &&
	for most in 1 2; do sed "s/^name = \"left\"/&\nlimits = { user-running-jobs-max = $most }/" two.toml >limit$most.toml || return 1; done &&
	cp rule1m.toml copy.toml && weir sim compare -q --fair-starts=0 rule1m.toml rule2m.toml limit1.toml limit2.toml copy.toml --trace=hand.swf -o rules.json 2>err &&
	grep "same policy" err >said && echo "copy.toml and rule1m.toml are the same policy under two names." >want && test_cmp want said &&
	test "$(field rules.json "[[q.get(k) for k in (\"takes\", \"limits\")] for p in d[\"policies\"] for q in p[\"settings\"][\"partitions\"][\"partition\"][:1]][:3:2]")" = \
		"[[{'"'duration-max': '1m'}, None], [None, {'user-running-jobs-max'"': 1}]]"
'

# ---- bad files ----

bad() {
	test_expect_code $1 weir sim run -p bad.toml hand.swf 2>err && test_expect_code $1 weir sim compare bad.toml --trace=hand.swf 2>err2
}
test_expect_success 'a bad file: every mistake with its line' '
	cat >bad.toml <<-EOT &&
	[sim]
	queues = {x = "a"}
	link-delay = 5
	default-queue = ""
	[weir.route]
	hand-down = 0
	[[partition]]
	name = "a"
	cores = 0
	EOT
	bad 2 && grep "bad.toml:9: \[partition a\] cores = 0: must be a whole number" err && grep "bad.toml:6: \[weir.route\] hand-down: must be" err &&
	grep "bad.toml:3: \[sim\] link-delay: must be a duration" err && grep "bad.toml:2: \[sim.queues\] x: must be the number of a queue" err &&
	grep "bad.toml:4: \[sim\] default-queue: must be the name" err && test_cmp err err2
'
test_expect_success 'partitions that are larger than the machine, or than the one around them; a scheduler that is none; the same of inner ones' '
	sed "s/cores = 4/cores = 5/" two.toml >bad.toml && bad 1 && grep "bad.toml: the partitions have 9 cores, the machine has 8" err &&
	sed "2a scheduler = \"eazy\"" two.toml >bad.toml && bad 2 && grep "bad.toml:3: \[partition left\] scheduler: .*eazy" err &&
	sed "8s/2/5/" deep.toml >bad.toml && bad 2 && grep "bad.toml:[0-9]*: \[partition long\] partition: its partitions have 7 cores, and it has 4" err &&
	sed "s/fcfs/fcsf/" deep.toml >bad.toml && bad 2 && grep "bad.toml:12: \[partition long.partition l2\] scheduler: .*fcsf" err &&
	sed "s/^scheduler.*/takes = { qos = [\"high\"] }/" deep.toml >bad.toml && bad 2 &&
	grep "bad.toml:12: \[partition long.partition l2\] takes: only rules by duration, cores, account and user are replayed" err &&
	sed "s/^scheduler.*/overflow = [\"al\"]/" deep.toml >bad.toml && bad 2 &&
	grep "bad.toml:12: \[partition long.partition l2\] overflow: no partition beside it serves the queue al; did you mean \"all\"" err
'
test_expect_success 'overflow to a queue that does not exist is refused, as by an instance: file, line and the nearest name' '
	printf "[sim.queues]\n1 = \"all\"\n2 = \"batch\"\n" >names && { sed "3a overflow = [\"btach\"]" two.toml && cat names; } >bad.toml && bad 2 &&
	grep "bad.toml:4: \[partition left\] overflow: there is no queue btach; did you mean \"batch\"?" err &&
	sed "s/btach/zzz/" bad.toml >other && cp other bad.toml && bad 2 && grep "no queue zzz; the queues of this file are all and batch" err &&
	for queue in batch 7 ours; do
		{ sed "s/zzz/$queue/" other && echo "[queues.ours]"; } >good.toml && weir sim run -q -p good.toml hand.swf || return 1
	done
'
test_expect_success 'what has no effect is said' '
	printf "[sim]\nlink-delay = \"1s\"\n" >none.toml && weir sim run -p none.toml hand.swf 2>err >text && grep "link-delay has no effect without \[\[partition\]\]" err &&
	sed "2a start = \"on-demand\"" two.toml >demand.toml && weir sim run -p demand.toml hand.swf 2>err >text && grep "partition left.*no effect" err &&
	sed "2a scheduler = \"fcfs\"" deep.toml >outer.toml && weir sim run -p outer.toml hand.swf 2>err >text && grep "partition long\] scheduler has no effect" err &&
	sed "2a memory-per-node = \"8GiB\"" two.toml >memory.toml && weir sim run -p memory.toml hand.swf 2>err >text && grep "partition left.*no effect" err
'

# The log comes through a pipe, so that the replay is in its middle when Ctrl-C comes.
test_expect_success 'Ctrl-C: what was replayed is kept whole, and said; exit code 130' '
	mkfifo pipe.swf &&
	{ weir sim run -p two.toml --starts=part.csv --json pipe.swf >part.json 2>err & } && pid=$! &&
	exec 7>pipe.swf &&
	{ echo "; MaxProcs: 8" && for i in $(seq 1 2000); do line $i $i 1 1 1; done; } >&7 &&
	kill -INT $pid &&
	{ (for i in $(seq 2001 12000); do line $i $i 1 1 1; done) >&7 2>/dev/null || :; } &&
	{ exec 7>&-; wait $pid; test $? -eq 130; } &&
	grep "interrupted" err && test "$(field part.json "d[\"complete\"], 0 < d[\"jobs\"] < 12000, sum(p[\"jobs\"] for p in d[\"partitions\"]) == d[\"jobs\"]")" = "(False, True, True)" &&
	awk -F, "NR > 1 && (\$1 != NR - 1 || \$2 != NR - 1) { exit 1 } END { exit NR < 2 }" part.csv
'
test_done
