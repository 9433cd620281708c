#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='doc/json.md: every command with --json prints what the page says, member by member, and the page says nothing else'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir
use_guest
PAGE=$SHARNESS_TEST_SRCDIR/../doc/json.md
JSON_PAGE=$SHARNESS_TEST_SRCDIR/tools/json_page.py
export PAGE JSON_PAGE

cat >shares.toml <<EOF
"physics"        = { shares = 60, projects = ["qcd", "qed"] }
"physics/@alice" = 2
"physics/@bob"   = 1
"chem"           = { shares = 40, running_jobs_max = 2 }
"chem/@*"        = 1
"pool"           = "parent"
"pool/@dave"     = 1
"dept"           = 1
"dept/empty"     = 1
EOF
cat >memory.json <<EOF
{"weir": {"memory_mib": [{"hosts": "$(uname -n)", "value": 16384}]}}
EOF
cat >site.toml <<EOF
[weir]
update-interval = "1s"
share-tree = "$(pwd)/shares.toml"
[weir.weights]
site = 100
[weir.qos.high]
priority = 10
[weir.queues.batch]
priority = 5
[weir.associations]
"physics" = { priority = 10 }
[weir.resources]
cores = 3
[weir.users]
alice = 5001
bob = 5002
carol = 5003
dave = 5004
erin = 5005
[access]
allow-guest-user = true
[resource]
scheduling = "$(pwd)/memory.json"
[[partition]]
name = "debug"
cores = 2
[[partition]]
name = "wide"
queues = ["batch"]
cores = 4
overflow = ["debug"]
limits = { user-running-jobs-max = 1 }
[[partition]]
name = "short"
queues = ["batch"]
cores = 1
takes = { duration-max = "10m" }
EOF
cp site.toml good.toml
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
mkdir answers
number=100
# told WORDS...: what this command prints with --json, in answers/N.json and answer.json; its words are in answers/N.words
told() {
	number=$((number + 1)) && echo "$*" >answers/$number.words && ${as:-} weir --json "$@" >answers/$number.json &&
		cp answers/$number.json answer.json
}
# kept WORDS FILE: the same of a file that a command has written
kept() {
	number=$((number + 1)) && echo "$1" >answers/$number.words && cp "$2" answers/$number.json
}
# job OPTION...: a job that is simulated for an hour; its id
job() {
	weir submit --json --simulate=1h "$@" x | jq .id
}
# at PARTITION: its instance
at() {
	call job-route.partitions | jq -r ".partitions[] | select(.name == \"$1\") | .instances[0].uri"
}
# waits_in PARTITION ID: its scheduler has the job
waits_in() {
	copy=$(wait_until job-route.locate "{\"id\":$2}" ".child == $(job_of $1) and .id != 0" | jq .id) &&
		FLUX_URI=$(at $1) wait_until sched.why "{\"id\":$copy}" ".place > 0" >/dev/null
}
# with_settings LINE...: the configuration with these lines in [weir], in force
with_settings() {
	sed "/^update-interval/q" good.toml >site.toml && printf "%s\n" "$@" >>site.toml &&
		sed "1,/^update-interval/d" good.toml >>site.toml && weir reload
}

test_expect_success 'an instance with three partitions' '
	start_weir --cores 12 --config site.toml --statedir "$(pwd)/state" && are_up debug wide short && wide=$(at wide) && told version
'
test_expect_success 'jobs that have ended: well, with an exit code, by a signal, canceled' '
	told submit -u alice -q debug -t 5m sh -c "echo hello" && well=$(jq .id answer.json) && ended_well $well && told output $well &&
	failed=$(weir submit --json -q debug -t 90.5s sh -c "exit 3" | jq .id) && wait_event $failed clean &&
	killed=$(weir submit --json -q debug sh -c "kill -9 \$\$" | jq .id) && wait_event $killed clean &&
	canceled=$(job -q debug) && wait_event $canceled start && told cancel -m "wrong input" $canceled && wait_event $canceled clean
'
test_expect_success 'jobs that run, and jobs that wait: for limits, cores, another job, a dependency, a time' '
	runs=$(job -u alice -q batch -t 30m -n3) && wait_event $runs start &&
	limited=$(job -u alice -q batch -t 30m -n2 -N1) && wait_event $limited priority &&
	first=$(job -u bob -q batch -t 20m -n2 --qos high) && waits_in wide $first &&
	second=$(job -u carol -q batch -t 20m -n3) && waits_in wide $second &&
	fills=$(job -u dave -A chem -q batch -t 20m) && wait_event $fills start &&
	brief=$(job -u alice -q batch -t 10m) && wait_event $brief start && either=$(job -u bob -q batch -t 5m) && waits_in short $either &&
	long=$(job -u dave -A chem -q batch -t 40h) && wait_until job-priority.explain "{\"id\":$long}" ".limit != null" >/dev/null &&
	held=$(job -u bob -q batch -t 20m --nice 16) && wait_event $held priority &&
	depends=$(job -u bob -q batch --setattr="dependencies=[{\"scheme\":\"afterok\",\"value\":\"$first\"}]") &&
	wait_event $depends dependency-add &&
	begins=$(job -u bob -q batch --setattr="dependencies=[{\"scheme\":\"begin-time\",\"value\":\"4000000000\"}]") &&
	wait_event $begins dependency-add && told jobs && told jobs -a && told nice $limited 1 && FLUX_URI=$wide told jobs
'
test_expect_success 'why each of them waits' '
	for id in $runs $limited $first $second $either $long $held $depends $begins $well; do told why $id || return 1; done
	weir partition drain wide && told why $limited && jq -e ".limited[0].away == \"is drained\"" answer.json &&
	weir partition resume wide && waits_in wide $first &&
	own=$(FLUX_URI=$wide job -n4 --nice=-15) && copy=$(call job-route.locate "{\"id\":$first}" | jq .id) &&
	FLUX_URI=$wide wait_until sched.why "{\"id\":$copy}" ".behind == $own" >/dev/null && told why $first &&
	jq -e ".is_below and .behind == $own" answer.json && FLUX_URI=$wide weir cancel $own
'
test_expect_success 'priorities' '
	told prio list && FLUX_URI=$wide told prio list && told prio list -p wide &&
	for id in $runs $limited $first $long $held $depends; do told prio explain $id || return 1; done
	FLUX_URI=$wide told prio explain $first && for id in $first $second $either $long; do told prio when $limited $id || return 1; done &&
	told prio site $limited 0.5 && echo "{\"job\": 7, \"value\": 0.5}" >values && told prio site --stdin <values &&
	told prio weights && FLUX_URI=$wide told prio weights
'
test_expect_success 'shares and usage' '
	for who in alice physics chem/@carol pool dept chem; do told share explain $who || return 1; done
	told share after alice -n4 -t 1h && told share compare alice dave && told share compare alice alice &&
	told share show && told share export && told share report && told share report --svg . && told usage show && told usage report &&
	told usage report --by=project,queue,day && told usage report --by=month && told top
'
test_expect_success 'changes of the share tree' '
	told share set -n chem 30 && told share set chem 30 cores_max=64 && told share set pool 5 && told share add bio 3 &&
	told share add bio/@erin && alone=$(job -u erin -q batch -t 20m) && wait_event $alone priority &&
	told share remove --yes bio/@erin && wait_until job-priority.explain "{\"id\":$alone}" ".refusal != null" >/dev/null &&
	told why $alone && told prio explain $alone && weir cancel $alone &&
	weir share export | sed "/^# revision/d; /bio/d; s,^\"physics/@bob\",\"dept/@bob\"," >next.toml && told share apply --yes next.toml &&
	jq -e "any(.changes[]; .op == \"move\")" answer.json && told share diff && told share undo --yes && told share diff 1 && told share history
'
test_expect_success 'changes of partitions' '
	told partition list && told tree && told partition drain debug && told tree && told partition list && told partition resume debug wide &&
	told partition add more --queue debug --cores 2 --takes cores-max=4 --limit cores-max=64 --on-demand &&
	told partition resize more --cores 1 && told partition resize more -N 1 --cores-per-node 1 --memory-per-node 1GiB &&
	told partition restart more --kill && told partition remove more && told log --level debug
'
test_expect_success 'a partition that died, one that is lost' '
	call job-manager.queue-start "{\"name\":\"instances\",\"start\":false}" && kill -9 $(cat run/debug/broker.pid) &&
	partition debug "select(.down)" && told tree && told partition list && told top &&
	call job-manager.queue-start "{\"name\":\"instances\",\"start\":true}" && are_up debug &&
	FLUX_URI=$wide call module.remove "{\"name\":\"job-route\"}" &&
	wait_until job-route.tree "{}" "any(.children[]; .state == \"lost\")" >/dev/null && told tree && told why $first &&
	FLUX_URI=$wide call module.load "{\"path\":\"job-route\",\"args\":[]}" && waits_in wide $first
'
test_expect_success 'other settings: another algorithm, decay and policy; a file that is wrong' '
	with_settings "algorithm = \"classic\"" "decay = \"window\"" && cp good.toml site.toml && told reload && jq -e ".changes != [] and .warnings != []" answer.json &&
	with_settings "algorithm = \"classic\"" "decay = \"window\"" && told prio weights && told usage show && told share explain physics &&
	with_settings "policy = \"moab\"" "moab.service.xfactor = 1" "moab.credential.user = 1" "moab.users.alice.priority = 5" && told prio weights && told prio list && told prio explain $limited && told prio when $limited $first &&
	cp good.toml site.toml && weir reload && cp shares.toml right.toml && echo "wrong" >>shares.toml &&
	wait_until job-priority.stats-get "{}" ".share_tree_problem != \"\"" >/dev/null && told share show && cp right.toml shares.toml
'
test_expect_success GUEST 'what a guest of a private instance is told' '
	guest=$(job -u nobody -A chem -q batch -t 20m) && wait_event $guest priority &&
	sed "s/^allow-guest.*/&\nprivate-mode = true/" good.toml >site.toml && weir reload && as=as_guest &&
	told share show && told prio explain $guest && told prio weights && told share explain nobody && told share explain chem &&
	told usage show && told usage report && told why $guest && told jobs && told tree && told top
	status=$? && as= && test $status = 0
'
test_expect_success 'the page in a browser, at a port and at a socket' '
	start_serve port --port 0 && kept serve port.json && stop_serve port &&
	start_serve socket --socket page.sock && kept serve socket.json && stop_serve socket
'
test_expect_success 'what fails prints no answer, but for those that the page names' '
	test_expect_code 5 weir why --json 1 >out && test_must_be_empty out && test_expect_code 2 weir jobs --json --nosuch >out &&
	test_must_be_empty out && test_expect_code 5 weir cancel --json $well >out && json_is out weir.cancel/1 &&
	test_expect_code 1 weir submit --json --wait -u alice -q debug false >out && json_is out weir.submit/1
'
test_expect_success 'weir cancel leaves out partitions' '
	told cancel --all && jq -e ".left_out | length == 3" answer.json && stop_weir
'
test_expect_success 'the demo' '
	{ told demo --jobs 30 --seconds $((3 * SANITIZER_TIME)) --dir demo; test -s answers/$number.json; }
'

# line JOB SUBMIT RUN CORES REQUESTED USER GROUP [PRECEDING]: a line of a log
line() {
	echo "$1 $2 -1 $3 $4 -1 -1 $4 $5 -1 1 $6 $7 -1 1 -1 ${8:--1} -1"
}
# Job 1 overruns, 3 requests no time, 5 is too large for a partition, 6 longer than its user may run, 7 names job 1; user 5
# has no shares.
{
	echo "; MaxProcs: 8"
	line 1 0 100 3 50 1 1
	line 2 0 60 3 60 4 2
	line 3 1 10 2 -1 2 1
	line 4 2 10 4 10 5 2
	line 5 3 10 5 10 1 1
	line 6 4 7200 1 7200 1 1
	line 7 5 30 2 30 1 1 1
	line 8 6 30 2 30 5 2
} >log.swf
{ cat log.swf && echo "9 9 9" && line 10 7 10 9 10 1 1; } >bad.swf
cat >tree.toml <<EOF
"a" = 1
"a/@u1" = { shares = 1, wall_time_max = "1h" }
"a/@u2" = 1
"b" = 1
"b/@u4" = 1
EOF
printf '[sim]\nscheduler = "easy"\n' >plain.toml
printf '[weir]\nupdate-interval = 0\n' >ordered.toml
printf '[weir]\nupdate-interval = 0\nshare-tree = "tree.toml"\n' >fair.toml
printf '[[partition]]\nname = "%s"\nqueues = ["all"]\ncores = 4\n' left right >parts.toml
test_expect_success 'the simulator: logs with mistakes, partitions, a share tree with limits; and a journal, whose times have decimals' '
	told sim run --lenient bad.swf && told sim run -p parts.toml log.swf && told sim run -p fair.toml log.swf &&
	told sim run --cores 3 -o journal.json state/jobs.journal && kept "sim run" journal.json &&
	journal two.journal 1:1.25:10.5:1:physics:batch 2:2.5:4.25:1:physics:batch &&
	told sim run --cores 1 -o two.json two.journal && kept "sim run" two.json &&
	told sim generate --jobs=300 --accounts=12 --users=40 -o busy.swf.gz
'
test_expect_success 'comparisons: against a tree and against equal shares, of a log on standard input, with a sample of fair starts' '
	told sim compare plain.toml fair.toml parts.toml --trace=log.swf && told sim compare plain.toml --trace=- <log.swf &&
	told sim compare ordered.toml --fair-starts=20 --trace=busy.swf.gz
'

cat >unshown <<EOF
wait is_too_far_back: 2000 jobs would have to wait before it
weir.prio/1 jobs[].inside: no partition here has partitions; t7136 shows it
EOF
# page_says VERB [ARGUMENT...]: the page against what was printed
page_says() {
	verb=$1 && shift && python3 "$JSON_PAGE" $verb "$PAGE" "$@"
}
test_expect_success 'each answer has the members that the page says, of these types, and no other' '
	page_says check answers/*.json
'
test_expect_success GUEST 'each member of the page was seen, as each of its types; what may be absent was absent as well' '
	page_says shown unshown answers/*.json
'
test_expect_success 'the page names the command behind each answer, and each command of the page ran' '
	page_says ran answers/*.json
'
test_expect_success 'the page names every command that has --json, and no other' '
	weir --help | sed -n "/^Commands/,/^$/s/^  \([a-z-]*\( [a-z-]*\)*\)  .*/\1/p" >names && test $(wc -l <names) -gt 40 &&
	while read -r name; do
		if weir $name --help | grep -q -e "--json"; then echo "weir $name"; fi
	done <names >printing && test $(wc -l <printing) -gt 35 && xargs -d "\n" python3 "$JSON_PAGE" commands "$PAGE" <printing
'
test_expect_success 'the page has every schema of the sources, and no other' '
	page_says sources "$SHARNESS_TEST_SRCDIR/../cmd"
'
# finds SED WHAT VERB [ARGUMENT...]: with a page that was changed so, the comparison fails and says this
finds() {
	sed "$1" "$PAGE" >changed.md && ! cmp -s "$PAGE" changed.md && what=$2 && shift 2 && verb=$1 && shift &&
		test_expect_code 1 python3 "$JSON_PAGE" $verb changed.md "$@" >faults && cat faults && grep -e "$what.*changed.md:[0-9]*" faults
}
test_expect_success 'the comparison finds what is wrong, and says where: a row less, a row more, another type, what may be absent, a command, an answer' '
	finds "/^| .jobs\[\].duration?/d" "^weir.jobs/1: jobs\[\].duration: is not in the page" check answers/*.json &&
	finds "/^| .has_more/a| \`has_less\` | bool | none |" "^weir.jobs/1: has_less: is absent from the answer" check answers/*.json &&
	finds "s/^| .has_more. | bool/| \`has_more\` | integer/" "^weir.jobs/1: has_more: is bool, not integer" check answers/*.json &&
	finds "s/.old_urgency. | integer/\`old_urgency\` | text/" "^weir.nice/1: urgency: is integer, not text" check answers/*.json &&
	finds "s/charged_core_us. | integer/charged_core_us\` | text/" "^weir.share/1: nodes\[\].charged_core_us: is integer, not text" check answers/*.json &&
	finds "s/.lost_since?/\`lost_since/" "^weir.tree/1: lost_since: is absent from the answer" check answers/*.json &&
	finds "s/.has_more. /\`has_more?\` /" "^weir.jobs/1: has_more: no answer is without it" shown unshown answers/*.json &&
	finds "s/\`weir.jobs.: weir.jobs/\`weir job\`: weir.jobs/" "weir.jobs/1: weir jobs: the page names" ran answers/*.json &&
	finds "s,: weir.top/1,: weir.tops/1," "^weir.tops/1: no source prints it" sources "$SHARNESS_TEST_SRCDIR/../cmd"
'
test_done
