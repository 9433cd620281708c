#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir sim on a job journal: its names of accounts and queues count, in a run and in a comparison'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

# starts FILE: the starts of all jobs of the first policy in a comparison's JSON, as weir sim run --starts writes them
starts() {
	echo job,start && field "$1" "\"\n\".join(\"%d,%d\" % (j[\"job\"], j[\"start_s\"]) for j in sorted(d[\"policies\"][0][\"window\"][\"jobs\"], key=lambda j: j[\"job\"]))"
}

# ---- accounts ----

# One core. Alice's default account is physics. She submits three jobs for chemistry, then bob two for physics and she
# one for physics. Chemistry and physics have equal shares, so that they take turns.
cat >shares.toml <<EOF
"physics" = 1
"physics/@alice" = 1
"physics/@bob" = 1
"chemistry" = 1
"chemistry/@alice" = 1
EOF
cat >fair.toml <<EOF
[sim]
scheduler = "fcfs"
[weir]
update-interval = 0
share-tree = "shares.toml"
[weir.users]
alice = 5001
bob = 5002
[weir.weights]
wait = 0
fairshare = 100000
size = 0
EOF
test_expect_success 'a comparison charges each job to its own account, and starts it when a run does' '
	journal accounts.journal 1:0:100:5001:chemistry: 2:0:100:5001:chemistry: 3:0:100:5001:chemistry: \
		4:1:100:5002:physics: 5:1:100:5002:physics: 6:2:100:5001:physics: &&
	printf "job,start\n1,0\n2,200\n3,400\n4,100\n5,500\n6,300\n" >expected &&
	weir sim run -q -c 1 -p fair.toml --starts=got accounts.journal && test_cmp expected got &&
	weir sim compare -q -c 1 fair.toml --trace=accounts.journal -o fair.json && starts fair.json >got && test_cmp expected got &&
	test "$(field fair.json "[(a[\"account\"], a[\"jobs\"]) for a in d[\"policies\"][0][\"accounts\"] if \"/\" not in a[\"account\"]]")" = \
		"[('"'physics', 3), ('chemistry'"', 3)]"
'
test_expect_success 'who has no shares in the account of a job is counted by a comparison as by a run' '
	grep -v "chemistry/@alice" shares.toml >some && cp some shares.toml && weir sim run --json -c 1 -p fair.toml accounts.journal >run.json &&
	weir sim compare -q -c 1 fair.toml --trace=accounts.journal -o some.json &&
	test "$(field run.json "d[\"without_shares\"]")" = 3 && test "$(field some.json "d[\"policies\"][0][\"without_shares\"]")" = 3
'
# ---- names of queues and accounts ----

# One core: while job 1 runs, job 2 and job 3 wait. Job 3 is of another user, account and queue, and every policy below
# puts that first. The same as a journal, as a log of numbers, and as a log whose numbers have names.
journal names.journal 1:0:100:1:physics:batch 2:1:10:1:physics:batch 3:2:10:2:science/bio:debug
{
	echo "; MaxProcs: 1"
	echo "1 0 -1 100 1 -1 -1 1 100 -1 1 1 1 -1 1 -1 -1 -1"
	echo "2 1 -1 10 1 -1 -1 1 10 -1 1 1 1 -1 1 -1 -1 -1"
	echo "3 2 -1 10 1 -1 -1 1 10 -1 1 2 2 -1 3 -1 -1 -1"
} >numbers.swf
# policies DEBUG BATCH BIO: four files in which the queues and the second account have these names
policies() {
	printf "[weir]\nupdate-interval = 0\n[weir.weights]\nfairshare = 0\nwait = 0\nsize = 0\n" >queue.toml &&
	printf "[weir.queues.$1]\npriority = 10\n[weir.queues.$2]\npriority = 1\n" >>queue.toml &&
	printf "[weir]\npolicy = \"lsf\"\n[weir.queues.$1]\npriority = 90\n[weir.queues.$2]\npriority = 10\n" >lsf.toml &&
	printf "[weir]\npolicy = \"moab\"\n[weir.moab.credential]\nclass = 1\n[weir.moab.classes.$1]\npriority = 1000\n" >class.toml &&
	printf "[weir]\npolicy = \"moab\"\n[weir.moab.credential]\naccount = 1\n[weir.moab.accounts.$3]\npriority = 1000\n" >account.toml
}
# debug_first LOG POLICY...: job 3 starts before job 2, in a run and in a comparison; all names are known
debug_first() {
	log=$1 && shift && printf "job,start\n1,0\n2,110\n3,100\n" >expected &&
	for policy in "$@"; do
		weir sim run -q -c 1 -s fcfs -p $policy.toml --starts=got $log 2>err && test_cmp expected got && ! grep "no job of" err &&
		{ echo "[sim]" && echo "scheduler = \"fcfs\"" && grep -v "^.sim.$" $policy.toml; } >one.toml &&
		weir sim compare -q -c 1 --fair-starts=0 one.toml --trace=$log -o one.json 2>err && starts one.json >got &&
		test_cmp expected got && ! grep "no job of" err || return 1
	done
}
test_expect_success 'settings of a queue or an account heed the names in a journal' '
	policies debug batch bio && debug_first names.journal queue lsf class account &&
	policies debug batch \"science/bio\" && debug_first names.journal account
'
test_expect_success 'they heed the numbers of a log' '
	policies 3 1 g2 && debug_first numbers.swf queue lsf class account && policies 3 1 2 && debug_first numbers.swf account
'
test_expect_success 'they heed the names that [sim] gives the queues of a log, with partitions and without' '
	policies debug batch g2 && for policy in queue lsf class; do
		{ printf "[sim]\ndefault-queue = \"batch\"\nqueues = { 3 = \"debug\" }\n" && cat $policy.toml; } >named && cp named $policy.toml || return 1
	done && debug_first numbers.swf queue lsf class &&
	for policy in queue lsf class; do
		printf "[[partition]]\nname = \"all\"\nqueues = [\"debug\", \"batch\"]\ncores = 1\n" >>$policy.toml || return 1
	done && debug_first numbers.swf queue lsf class
'
test_expect_success 'policies that differ in the names of queues are not the same' '
	policies debug batch g2 && { printf "[sim]\nqueues = { 3 = \"debug\" }\n" && cat queue.toml; } >a.toml &&
	sed "s/{ 3/{ 1/" a.toml >b.toml && weir sim compare -q a.toml b.toml --trace=numbers.swf -o ab.json 2>err && ! grep "same policy" err &&
	test "$(field ab.json "[p[\"settings\"][\"sim\"][\"queues\"] for p in d[\"policies\"]]")" = "[{'"'3': 'debug'}, {'1': 'debug'"'}]"
'
test_expect_success 'a queue and an account that no job has are said to have no effect' '
	policies degub batch bip && for log in names.journal numbers.swf; do
		for command in "run -c 1 -p queue.toml" "compare -c 1 queue.toml --trace"; do
			weir sim $command $log 2>err >out && cat err && case $log in
			*.swf) grep "^queue.toml: .weir.queues.batch. and .weir.queues.degub. have no effect: no job of the log is of these queues; its queues are 1 and 3; .sim.queues. gives them names" err ;;
			*) grep "^queue.toml: .weir.queues.degub. has no effect: no job of the log is of this queue; its queues are batch and debug$" err ;;
			esac || return 1
		done
	done &&
	weir sim run -q -c 1 -p account.toml names.journal 2>err &&
	grep "^account.toml: .weir.moab.accounts.bip. has no effect: no job of the log is of this account; its accounts are physics and science/bio$" err
'
test_expect_success 'names of queues have no effect where nothing goes by queues' '
	printf "[sim]\nqueues = { 3 = \"debug\" }\n" >plain.toml && weir sim run -q -p plain.toml numbers.swf 2>err &&
	grep "plain.toml: .sim. queues has no effect without \[\[partition\]\] or an order of the queue in .weir." err
'
test_done
