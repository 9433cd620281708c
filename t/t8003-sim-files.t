#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir sim: outputs that would destroy something are refused, and messages name file, line, value and what is right'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

# line JOB SUBMIT RUN CORES: a line of a log
line() {
	echo "$1 $2 -1 $3 $4 -1 -1 $4 $3 -1 1 7 2 -1 1 -1 -1 -1"
}
{ echo "; MaxProcs: 4" && line 1 0 100 3 && line 2 1 100 3; } >log.swf
cp log.swf kept.swf
printf "[sim]\nscheduler = \"easy\"\n[weir]\nshare-tree = \"shares.toml\"\n" >easy.toml && cp easy.toml kept.toml
printf "\"a\" = 1\n\"a/@*\" = 1\n" >shares.toml && cp shares.toml kept-shares.toml
printf "[sim]\nscheduler = \"fcfs\"\n" >fcfs.toml

# refused REGEX COMMAND...: exit code 2, the message, and every file as it was
refused() {
	regex=$1 && shift && ls >before &&
	test_expect_code 2 "$@" >out 2>err && grep -e "$regex" err && test_must_be_empty out &&
	ls | grep -v "^out$\|^err$" >after && grep -v "^out$\|^err$" before | cmp - after &&
	cmp log.swf kept.swf && cmp easy.toml kept.toml && cmp shares.toml kept-shares.toml
}

# ---- outputs ----

: >before && : >after && : >out && : >err
test_expect_success 'an output that is the log, by whatever name' '
	mkdir -p sub && ln -s ../log.swf sub/link.swf && ln log.swf hard.swf &&
	refused "--starts=log.swf is the same file as the log log.swf, which would be lost" weir sim run --starts=log.swf log.swf &&
	refused "--output=hard.swf is the same file as the log" weir sim run -o hard.swf log.swf &&
	refused "--output=log.swf is the same file as the log" weir sim run -o log.swf sub/link.swf &&
	refused "--html=./log.swf is the same file as the log log.swf" weir sim compare fcfs.toml --trace=log.swf --html=./log.swf &&
	refused "--output=sub/../log.swf is the same file as the log" weir sim compare fcfs.toml --trace=log.swf -o sub/../log.swf
'
test_expect_success 'an output that is a policy file or its share tree' '
	refused "--starts=easy.toml is the same file as the policy.s file easy.toml" weir sim run -p easy.toml --starts=easy.toml log.swf &&
	refused "--html=easy.toml is the same file as the policy.s file easy.toml" weir sim compare fcfs.toml easy.toml --trace=log.swf --html=easy.toml &&
	refused "--output=shares.toml is the same file as the policy.s file shares.toml" weir sim compare easy.toml --trace=log.swf -o shares.toml
'
test_expect_success 'two outputs of one name, there or not' '
	refused "--starts=new.csv and --output=./new.csv are the same file" weir sim run --starts=new.csv -o ./new.csv log.swf &&
	: >old.csv && refused "--output=old.csv and --html=sub/../old.csv are the same file" weir sim compare fcfs.toml --trace=log.swf -o old.csv --html=sub/../old.csv &&
	weir sim run -q --starts=/dev/null -o a.csv log.swf && weir sim compare -q fcfs.toml --trace=log.swf -o /dev/null --html=/dev/null
'
test_expect_success 'an output on stdout, where the figures or the JSON go; --quiet leaves room for one' '
	refused "--starts=- and the figures cannot both go to stdout.*--quiet" weir sim run --starts=- log.swf &&
	refused "--starts=- and --json cannot both go to stdout" weir sim run -q --json --starts=- log.swf &&
	refused "--output=- and the figures cannot both go to stdout" weir sim compare fcfs.toml --trace=log.swf -o - &&
	refused "--html=- and --json cannot both go to stdout" weir sim compare fcfs.toml --trace=log.swf --json --html=- &&
	refused "--output=- and --html=- are the same file" weir sim compare -q fcfs.toml --trace=log.swf -o - --html=- &&
	refused "--html=/dev/stdout and --output=- cannot both go to stdout. Name a file.$" weir sim compare -q fcfs.toml --trace=log.swf -o - --html=/dev/stdout &&
	weir sim run -q --starts=- log.swf >got && printf "job,start\n1,0\n2,100\n" >want && test_cmp want got &&
	weir sim compare -q -o - fcfs.toml --trace=log.swf >got && json_is got weir.sim-compare/1
'
test_expect_success '/dev/stdout is stdout, and stays what it is; so is the file to which the shell directs it' '
	ls -l /dev/stdout >link && test_expect_code 2 weir sim run --starts=/dev/stdout log.swf >x.csv 2>err && grep "starts=/dev/stdout and the figures" err &&
	test_expect_code 2 weir sim run --starts=x.csv log.swf >x.csv 2>err && grep "starts=x.csv and the figures" err &&
	weir sim run -q --starts=/dev/stdout log.swf >got && test_cmp want got && ls -l /dev/stdout | cmp link -
'
test_expect_success 'compare: an output that cannot be written is told before the replays; the table is shown before a late error' '
	mkfifo pipe.swf && for output in --output=nowhere/x.json --html=nowhere/x.html --svg=nowhere; do
		test_expect_code 5 weir sim compare fcfs.toml --trace=pipe.swf $output 2>err && grep "nowhere.*: No such file" err || return 1
	done &&
	test_expect_code 1 weir sim compare fcfs.toml --trace=pipe.swf --svg=log.swf 2>err && grep "svg=log.swf: .*Not a directory" err &&
	test_expect_code 1 weir sim compare fcfs.toml --trace=log.swf -o /dev/full >table 2>err && grep "^wait, mean" table && grep "No space left" err
'
test_expect_success 'compare: a log that comes through a named pipe is read once, and has no hash' '
	{ cat log.swf >pipe.swf & } && timeout -s KILL 60 weir sim compare fcfs.toml --trace=pipe.swf --json >j &&
	test "$(field j "d[\"jobs\"], d[\"provenance\"][\"log\"]")" = "(2, {'"'path': 'pipe.swf', 'sha256'"': None})"
'

# ---- usage ----

test_expect_success 'bad options and policy files are usage in run and compare alike; --cores overrides the policies' '
	printf "[sim]\nscheduler = \"esay\"\n" >bad.toml &&
	test_expect_code 2 weir sim run --requests=foo log.swf && test_expect_code 2 weir sim compare --requests=foo fcfs.toml --trace=log.swf &&
	test_expect_code 2 weir sim run -p bad.toml log.swf && test_expect_code 2 weir sim compare bad.toml --trace=log.swf &&
	printf "[sim]\ncores = 4\n" >four.toml && printf "[sim]\ncores = 5\n" >five.toml &&
	test_expect_code 2 weir sim compare four.toml five.toml --trace=log.swf 2>err && grep "cores = 5, but four.toml says 4.*--cores=N" err &&
	weir sim compare --cores=6 --json four.toml five.toml --trace=log.swf >j && test "$(field j "d[\"cores\"]")" = 6 &&
	weir sim run --help | grep "130 interrupted"
'
test_expect_success 'the recipe in a generated log can be run, whatever its numbers' '
	refused "--longest takes one second at least" weir sim generate -n 50 --longest=0.5s -o gen.swf &&
	weir sim generate -n 50 --load=0.00001 --longest=60s -o gen.swf && grep -e "--load=0.00001 --longest=60s" gen.swf &&
	$(sed -n "s/^; Note: //p" gen.swf) >again && test_cmp gen.swf again
'

# ---- messages ----

test_expect_success 'bytes of a log do not reach the terminal as they are, and are not endless' '
	{ cat log.swf && printf "3 2 -1 \033[31mred\000\377\t3 -1 -1 1 1 -1 1 7 2 -1 1 -1 -1 -1\n"; } >bytes.swf &&
	test_expect_code 1 weir sim run bytes.swf 2>err && grep -F "bytes.swf:4: field 4 (run time) is \"\\x1b[31mred\\x00\\xff\": it must be an integer" err &&
	{ cat log.swf && printf "3 2 -1 %0100dx\n" 0; } >long.swf && test_expect_code 1 weir sim run long.swf 2>err && grep "is \"0\{40\}\.\.\.\": it must" err &&
	printf "1,\033[31m\n" >site.csv && printf "[sim]\nsite-values = \"site.csv\"\n" >site.toml &&
	test_expect_code 2 weir sim run -p site.toml log.swf 2>err && grep -F "site.csv:1: " err && ! grep "$(printf "\033")" err
'
test_expect_success 'a MaxProcs that is no number, a job that cannot be replayed: the value that is wrong' '
	sed "s/; MaxProcs: 4/; Note: x\n; MaxProcs: foo/" log.swf >size.swf && test_expect_code 1 weir sim run size.swf 2>err &&
	grep "size.swf:2: MaxProcs is \"foo\": it must be an integer from 1 on.*--cores=N" err && weir sim run -q --cores=4 size.swf &&
	{ cat log.swf && echo "3 2 -1 10 1 -1 -1 1 5000000000000 -1 1 7 2 -1 1 -1 -1 -1"; } >time.swf && test_expect_code 1 weir sim run time.swf 2>err &&
	grep "time.swf:4: job 3 cannot be replayed: its requested time is 5000000000000; it must be from 0 to 4000000000000" err &&
	{ cat log.swf && line 3 2 10 0; } >none.swf && test_expect_code 1 weir sim run none.swf 2>err &&
	grep "none.swf:4: job 3 cannot be replayed: its number of processors is 0; it must be from 1 to 4294967295" err
'
test_expect_success 'a policy file: a value of another kind, a file that is not there, a mistyped table' '
	printf "[sim]\nscheduler = 3\n" >kind.toml && test_expect_code 2 weir sim run -p kind.toml log.swf 2>err &&
	grep "kind.toml:2: .sim. scheduler = 3: must be the name of a scheduler in quotes" err &&
	printf "[sim]\n[weir]\nshare-tree = \"nofile.toml\"\n" >file.toml && test_expect_code 5 weir sim run -p file.toml log.swf 2>err &&
	grep "file.toml:3: .weir. share-tree = \"nofile.toml\": nofile.toml: No such file" err &&
	printf "[sim]\nsite-values = \"nofile.csv\"\n" >file.toml && test_expect_code 5 weir sim run -p file.toml log.swf 2>err &&
	grep "file.toml:2: .sim. site-values = \"nofile.csv\": nofile.csv: No such file" err &&
	printf "[sim]\n[wier]\npolicy = \"fcfs\"\n[resource]\n" >table.toml && weir sim run -q -p table.toml log.swf 2>err &&
	echo "table.toml:2: [wier] has no effect: unknown here; did you mean [weir]?" >want && test_cmp want err &&
	weir sim compare -q table.toml --trace=log.swf 2>err && test_cmp want err &&
	sed 1d table.toml >only.toml && test_expect_code 2 weir sim run -p only.toml log.swf 2>err && grep "only.toml:1: .wier. has no effect" err && grep "only.toml: no policy" err
'
test_expect_success 'a job that the rules of all partitions refuse' '
	printf "[[partition]]\nname = \"a\"\ncores = 4\ntakes = { duration-max = \"1m\" }\n" >rules.toml &&
	weir sim run -p rules.toml log.swf | grep "^refused  *2 .*first: job 1 is refused: no partition of the queue .* takes this job: a takes"
'
test_done
