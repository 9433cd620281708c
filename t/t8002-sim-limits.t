#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir sim with a share tree that has limits: they hold under every policy, and jobs that they keep out are told'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

# line JOB SUBMIT RUN CORES USER: a line of a log
line() {
	echo "$1 $2 -1 $3 $4 -1 -1 $4 $3 -1 1 $5 2 -1 1 -1 -1 -1"
}

# Four cores. User 7 may run one job at a time, and none that asks for more than an hour: jobs 5 and 6 never start.
{
	echo "; MaxProcs: 4"
	line 1 0 100 1 7
	line 2 0 100 1 7
	line 3 0 100 1 7
	line 4 1 100 3 8
	line 5 2 7200 1 7
	line 6 3 7200 1 7
} >log.swf
cat >shares.toml <<EOT
"a" = 1
"a/@u7" = {shares = 1, running_jobs_max = 1, wall_time_max = "1h"}
"a/@u8" = 1
EOT
printf "[sim]\nscheduler = \"fcfs\"\n[weir]\npolicy = \"fcfs\"\nshare-tree = \"shares.toml\"\n" >limited.toml
printf "[sim]\nscheduler = \"fcfs\"\n" >plain.toml

test_expect_success 'policy = "fcfs": the limits of the tree hold, and the order is that of submission' '
	printf "job,start\n1,0\n2,100\n3,200\n4,1\n" >expected &&
	weir sim run -p limited.toml --starts=got log.swf >text && test_cmp expected got && grep "^log.swf under fcfs on 4 cores" text
'
test_expect_success 'the same in a comparison' '
	weir sim compare plain.toml limited.toml --trace=log.swf --json >j &&
	test "$(field j "[(p[\"order\"], p[\"figures\"][\"jobs\"], p[\"figures\"][\"wait_max_s\"]) for p in d[\"policies\"]]")" = \
		"[('"'submission', 6.0, 197.0), ('submission', 4.0, 200.0"')]"
'
test_expect_success 'a tree without limits lets fair starts be found for every job' '
	printf "\"a\" = 1\n\"a/@*\" = 1\n" >free.toml && sed "s/shares.toml/free.toml/" limited.toml >unlimited.toml &&
	weir sim compare plain.toml unlimited.toml --trace=log.swf --fair-starts=2 --json >j &&
	test "$(field j "[p[\"figures\"][\"fair_start_jobs\"] for p in d[\"policies\"]]")" = "[6.0, 6.0]"
'
test_expect_success 'jobs that never start are told, with the first of them' '
	weir sim run -p limited.toml log.swf | grep "^held back    2 jobs never started: a limit keeps them out; first: job 5$" &&
	weir sim run -p limited.toml --json log.swf >j && test "$(field j "d[\"never_started\"], d[\"first_never_started\"]")" = "(2, 5)" &&
	weir sim run --json log.swf >j && test "$(field j "d[\"never_started\"], d[\"first_never_started\"]")" = "(0, None)" &&
	weir sim run log.swf >text && ! grep "never started" text
'
test_expect_success 'the same over partitions' '
	{ cat limited.toml && printf "[[partition]]\nname = \"all\"\ncores = 4\n"; } >parts.toml &&
	weir sim run -p parts.toml --starts=got log.swf >text && test_cmp expected got &&
	grep "^held back    2 jobs never started: a limit keeps them out; first: job 5$" text
'
test_expect_success 'the same in a comparison: table, page and JSON; none is the best where one ran fewer jobs' '
	weir sim compare plain.toml limited.toml --trace=log.swf --html=page.html -o j >table &&
	grep "^limited: 2 jobs never started: a limit keeps them out; first: job 5$" table && grep "limited: 2 jobs never started" page.html &&
	test "$(field j "[(p[\"never_started\"], p[\"first_never_started\"]) for p in d[\"policies\"]]")" = "[(0, None), (2, 5)]" &&
	! grep " \*" table
'
test_expect_success 'a policy under which no job starts is told' '
	sed "s/1h/1s/; s/u8\" = 1/u8\" = {shares = 1, wall_time_max = \"1s\"}/" shares.toml >closed.toml && sed "s/shares.toml/closed.toml/" limited.toml >none.toml &&
	weir sim compare plain.toml none.toml --trace=log.swf 2>err >table && grep "^figure  *plain *$" table &&
	grep "^none: no job started, so that it has no figures: 6 jobs never started: a limit keeps them out; first: job 1$" err &&
	test_expect_code 1 weir sim compare none.toml --trace=log.swf 2>err && grep "no job started under any policy" err && ! grep interrupted err
'
# The log comes through a pipe, so that the replay is in its middle when Ctrl-C comes.
test_expect_success 'Ctrl-C before any job started: there are no figures, and the command says so' '
	mkfifo pipe.swf &&
	{ weir sim run -p none.toml pipe.swf >out 2>err & } && pid=$! &&
	exec 7>pipe.swf &&
	{ echo "; MaxProcs: 8" && for i in $(seq 1 2000); do line $i $i 10 1 8; done; } >&7 &&
	kill -INT $pid &&
	{ (for i in $(seq 2001 12000); do line $i $i 10 1 8; done) >&7 2>/dev/null || :; } &&
	{ exec 7>&-; wait $pid; test $? -eq 130; } &&
	grep "interrupted before any job started: there are no results" err && test_must_be_empty out
'
test_done
