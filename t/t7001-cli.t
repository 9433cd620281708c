#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the weir command: help, errors that name the remedy, exit codes, JSON'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

test_expect_success 'help begins with examples and lists every command' '
	weir --help >help && sed -n 3p help | grep "^Examples" &&
	for c in demo start submit jobs cancel output nice why "prio list" "prio explain" "prio when" "prio site" "share show" "share explain" "share after" "share compare" "share apply" "share diff" "share undo" "share report" usage tree metrics reload shutdown log; do
		grep "^  $c " help || return 1
	done
'
test_expect_success 'every command has its own help with three examples' '
	weir help | sed -n "/^Commands/,/^\$/s/^  \([a-z]* \?[a-z]*\)  .*/\1/p" >commands && test $(wc -l <commands) -ge 18 &&
	while read -r c; do
		weir $c --help >one && test $(sed -n "/^Examples/,/^\$/p" one | grep -c "^  ") -eq 3 || { echo "$c"; return 1; }
	done <commands
'
test_expect_success 'a mistyped command: exit code 2 and the nearest one' '
	test_expect_code 2 weir sumbit x 2>err && grep "Did you mean \"weir submit\"" err &&
	test_expect_code 2 weir share shwo 2>err && grep "Did you mean \"weir share show\"" err
'
test_expect_success 'a mistyped option: exit code 2 and the nearest one' '
	test_expect_code 2 weir jobs --al 2>err && grep "Did you mean --all" err
'
test_expect_success 'a bad value names itself and what is right' '
	test_expect_code 2 weir submit -t soon true 2>err && grep "30s, 10m, 1.5h or 7d, not \"soon\"" err &&
	test_expect_code 2 weir submit -t 90 true 2>err && grep "90s, 90m, 90h or 90d" err &&
	test_expect_code 2 weir nice f1 99 2>err && grep "not \"99\"" err
'
test_expect_success 'no instance: exit code 3 and how to start one' '
	for c in jobs "submit true" "cancel f1" "output f1" "nice f1 1" "why f1" "prio list" "prio explain f1" "prio when f1 f2" "prio site f1 1" "prio weights" \
		"share show" "share report" "share explain a" "share after -t1h a" "share compare a b" "share history" "share diff" "share undo" "share export" "share set a 1" "share add a" "share remove a" usage tree metrics shutdown; do
		test_expect_code 3 weir $c 2>err && grep "weir start" err || { echo "$c"; return 1; }
	done
'
test_expect_success 'a share tree that does not hold needs no instance to be refused: file:line:col, exit code 7' '
	printf "\"physics\" = 60\n\"chem\" = -3\n\"phsics/@bob\" = 1\n" >bad.toml &&
	test_expect_code 7 weir share apply bad.toml 2>err && grep "bad.toml:2:" err && grep "bad.toml:3:.*physics" err
'
test_expect_success 'JSON with a mistake: its place' '
	printf "{\"version\": 1,\n \"nodes\": {\"bio\": -3}}" >bad.json && test_expect_code 7 weir share apply bad.json 2>err; cat err && grep "bad.json:2:.*bio" err
'
test_expect_success 'a cycle is shown as a path' '
	printf "\"a\" = { parent = \"b\", shares = 1 }\n\"b\" = { parent = \"a\", shares = 1 }\n" >cycle.toml &&
	test_expect_code 7 weir share apply cycle.toml 2>err && grep "a -> b -> a\|b -> a -> b" err
'
test_expect_success 'a file that is not there: exit code 5' '
	test_expect_code 5 weir share apply nowhere.toml 2>err && grep "nowhere.toml" err
'
test_expect_success 'start refuses a bad share tree before anything runs, and leaves nothing' '
	test_expect_code 7 weir start --tree bad.toml 2>err && grep "bad.toml:2:" err && ! test -e run
'
test_expect_success 'flux share and flux prio are the same program' '
	ln -s "$WEIR_BUILD_DIR/bin/weir" flux-prio && ./flux-prio weights --help | grep "^weir prio weights"
'

test_expect_success 'a reader that has enough is no error; a full disk is' '
	(weir --help; echo $? >code) 2>err | head -1 && test $(cat code) -eq 0 && ! test -s err &&
	test_expect_code 1 weir --help >/dev/full 2>err && grep "cannot write the output" err
'
test_expect_success 'bash completes commands, options of a command, and options before one' '
	weir help --as=bash >weir.bash &&
	cat >complete.bash <<-\EOF &&
		. ./weir.bash
		COMP_WORDS=(weir "$@") COMP_CWORD=$#
		_weir
		echo "${COMPREPLY[@]}"
	EOF
	bash complete.bash - 2>err | grep -e "--uri= --json --help" && ! test -s err &&
	bash complete.bash share s 2>err | grep "show set" && ! test -s err &&
	bash complete.bash cancel --a 2>err | grep -e "--all" && ! test -s err
'
test_expect_success 'bash offers no command where a value belongs, no option that is refused, and the commands behind help' '
	for words in "--uri = " "--uri =" "--uri = s" "--uri " "submit --queue " "submit -q " "submit --queue = sub"; do
		set -- $words && case "$words" in *" ") set -- "$@" "" ;; esac
		test -z "$(bash complete.bash "$@")" || { echo "behind $words"; return 1; }
	done &&
	bash complete.bash help sub | grep -x submit && bash complete.bash help share s | grep "show set" &&
	! bash complete.bash metrics --j | grep json && ! bash complete.bash start --u | grep uri &&
	bash complete.bash submit --wait h | grep -x "" && bash complete.bash share --u | grep -e --uri=
'
test_expect_success 'an option without an effect is a mistake' '
	for words in "metrics --json" "export flux-accounting --json" "help --json" "start --json" "start --uri=x" "help --uri=x"; do
		test_expect_code 2 weir $words 2>err && grep "has no option --" err || { echo "$words"; return 1; }
	done &&
	! weir metrics --help | grep -e --json && ! weir start --help | grep -e --uri
'

cat >shares.toml <<EOF
# the test's tree
"physics"        = 60    # as agreed
"physics/@alice" = 2
"physics/@bob"   = 1
"chem"           = 40
"chem/@carol"    = "parent"
"faculty"        = 1
"faculty/maths"  = 1
EOF
cat >weir.toml <<EOF
[weir.users]
alice = 5001
bob = 5002
carol = 5003
EOF
test_expect_success 'an instance for the rest' '
	start_weir --tree shares.toml --config weir.toml
'
test_expect_success 'a job reads its input from a file, and writes output and errors to files of the folder where it was submitted' '
	mkdir files && (cd files && printf "one\ntwo\n" >"my lines" && id=$(weir submit --wait --json --input "my lines" --output "out-{{id}}" --error problems \
		sh -c "cat; echo wrong >&2" 2>/dev/null | jq -r .job) && printf "one\ntwo\n" | test_cmp - "out-$(echo $id | sed "s/^ƒ/f/")" && echo wrong | test_cmp - problems &&
	test_expect_code 1 weir submit --wait --input nothing cat 2>err && grep "cannot read its input $PWD/nothing: No such file or directory" err)
'
test_expect_success 'every command that prints has JSON with its schema' '
	weir submit --json --user alice --simulate=1000s sleepy >j && field j "d[\"job\"]" >id &&
	FLUX_URI=local://$WEIR_RUNDIR/local-0 wait_event $(field j "d[\"id\"]") start && weir submit --json --user bob -n 6 --simulate=10s x >j &&
	json_is j weir.submit/1 && weir submit --user bob -n 6 --simulate=10s y >waiting &&
	weir jobs --json >j && json_is j weir.jobs/1 && weir tree --json >j && json_is j weir.tree/1 &&
	weir usage --json >j && json_is j weir.usage/1 && weir share show --json >j && json_is j weir.share/1 && weir share show | grep "@carol  *parent  " &&
	weir share history --json >j && json_is j weir.share-history/1 &&
	weir share diff --json >j && json_is j weir.share-diff/1 && weir share undo --json --dry-run 1 >j && json_is j weir.share-set/1 && weir prio list --json >j && json_is j weir.prio/1 &&
	weir prio weights --json >j && json_is j weir.prio-weights/1 && weir version --json >j && json_is j weir.version/1 &&
	weir prio explain --json $(cat waiting) >j && json_is j weir.prio-explain/1 &&
	weir prio explain $(cat waiting) | grep "^.* of bob .*: priority [0-9]*, place [0-9] of 2" && weir prio explain $(cat id) | grep "^.* of alice (physics)$" &&
	weir nice --json $(cat waiting) 3 >j && json_is j weir.nice/1 && test $(field j "d[\"urgency\"]") = 13 &&
	weir share set --json --dry-run chem 30 >j && json_is j weir.share-set/1 &&
	weir cancel --json $(cat id) >j && json_is j weir.cancel/1
'
test_expect_success 'a tree in JSON is applied as the same one in TOML' '
	printf "{\"version\": 1, \"nodes\": {\"physics\": 60, \"physics/@alice\": 2, \"physics/@bob\": 1, \"chem\": {\"shares\": 41}, \"chem/@carol\": 1, \"faculty\": 1, \"faculty/maths\": 1}}" >tree.json &&
	weir share apply tree.json >out && cat out && grep "chem .*40 → 41" out && weir share apply shares.toml &&
	test_expect_code 5 weir share undo 0 2>err && grep "there is no revision 0" err
'
test_expect_success 'weir usage: everybody stands below his account' '
	weir usage >out && cat out && sed -n "s/^\(physics\|chem\|[^ ]* @[a-z]*\) .*/\1/p" out >names &&
	printf "physics\n├─ @alice\n└─ @bob\nchem\n└─ @carol\n" >want && head -5 names | test_cmp want -
'
test_expect_success 'commands whose reader has enough end quietly' '
	for c in "share show" jobs "prio weights" usage tree; do
		(weir $c; echo $? >code) 2>err | true && test $(cat code) -eq 0 && ! test -s err || { echo "$c"; cat err; return 1; }
	done
'
test_expect_success 'no escape sequence goes into a pipe' '
	for c in jobs tree usage "share show" "prio list" "prio weights" --help; do
		TERM=xterm-256color weir $c >out 2>&1 && ! grep "$(printf "\033")" out || { echo "$c"; return 1; }
	done
'
test_expect_success 'unknown things: exit code 5, with where to look' '
	test_expect_code 5 weir cancel f1 2>err && grep "weir jobs -a" err &&
	test_expect_code 5 weir nice f1 3 2>err && grep "weir jobs -a" err &&
	test_expect_code 5 weir output f1 2>err && grep "weir jobs -a" err &&
	test_expect_code 5 weir prio explain f1 2>err &&
	test_expect_code 5 weir submit --user nobody-here true 2>err && grep "weir.users" err &&
	test_expect_code 5 weir share set chme 3 2>err && grep "chem" err &&
	test_expect_code 5 weir prio list -u nobody-here 2>err && grep "weir.users" err &&
	for list in "prio list" jobs; do
		test_expect_code 5 weir $list -q nosuch 2>err && cat err && grep "there is no queue \"nosuch\"; there are: batch" err || return 1
	done &&
	test_expect_code 5 weir prio list -p nosuch 2>err && cat err && grep "there is no partition \"nosuch\"; there are: batch, debug\." err &&
	test_expect_code 2 weir cancel "?" 2>err && grep "no job id" err
'
test_expect_success 'a job that has ended: how and when' '
	id=$(weir submit false) && echo $id >ended && weir output --wait $id &&
	test_expect_code 5 weir cancel $id 2>err && cat err && grep "has ended: it failed at 20[0-9-]* [0-9:]*: exit code 1\." err &&
	weir why $id | grep "failed: exit code 1\." && weir jobs -a | grep "^$id .*failed.*exit code 1$" && weir jobs -a --json >j &&
	test "$(field j "[x[\"exit_code\"] for x in d[\"jobs\"] if x[\"job\"] == \"$id\"]")" = "[1]" &&
	id=$(weir submit --simulate=1h sleepy) && weir cancel -m "wrong input" $id && { weir output --wait $id || true; } &&
	test_expect_code 5 weir nice $id 3 2>err && cat err && grep "it was canceled at .*: wrong input" err
'
test_expect_success 'submit --wait: a job that was ended failed, though its program then says that all is well' '
	mkfifo up && polite="trap \"exit 0\" TERM; tail -f /dev/null & echo >\"$PWD/up\"; wait" && { timeout 60 weir submit --wait sh -c "$polite" 2>err & } && pid=$! &&
	read -r line <up && weir cancel $(head -n 1 err) && test_expect_code 1 wait $pid && cat err && grep ": cancel" err &&
	{ cat up & } && test_expect_code 1 timeout 60 weir submit --wait -t 1s sh -c "$polite" 2>err && cat err && grep ": timeout" err && wait $!
'
test_expect_success 'cancel --all of the owner leaves the partitions and everybody else in peace, and says so' '
	weir submit --user alice --simulate=1h hers >hers && weir submit --simulate=1h mine >mine &&
	weir cancel --all 2>err && cat err && grep "Canceled 1 job" err && grep "Left out: .* and .*, partitions that serve" err &&
	weir tree --json >j && test "$(field j "[c[\"state\"] if \"state\" in c else \"up\" for c in d[\"children\"]]")" = "['"'up', 'up'"']" &&
	weir jobs >out && cat out && grep "$(cat hers) .*RUN" out && weir cancel --all --json >j && test $(field j "len(d[\"left_out\"])") -eq 2 &&
	weir cancel --all --user alice && weir jobs | grep "debug.*RUN"
'
test_expect_success 'so it does while job-route is not loaded' '
	export FLUX_URI=local://$WEIR_RUNDIR/local-0 && batch=$(job_of batch) && debug=$(job_of debug) &&
	call module.remove "{\"name\":\"job-route\"}" && weir submit --json --simulate=1h mine | jq .id >mine &&
	test_expect_code 1 weir cancel $debug 2>err && cat err && grep "is a partition: all jobs in it end with it" err &&
	weir cancel --all 2>err && cat err && grep "Canceled 1 job" err && grep "Left out: .* and .*, partitions that serve" err &&
	wait_event $(cat mine) clean && for id in $batch $debug; do
		call job-list.list-id "{\"id\":$id,\"attrs\":[\"state\"]}" | jq -e ".job.state == 16" || return 1
	done
'
test_expect_success 'then nobody knows the partitions: exit code 3, and no list without them' '
	for c in "partition list" "partition list --json" "prio list -p nosuch"; do
		test_expect_code 3 weir $c >out 2>err && cat err && test_must_be_empty out && grep "does not answer job-route.partitions" err || return 1
	done && weir tree >out 2>err && test $(wc -l <out) = 2 && grep "job-route is not loaded in this instance: children that it may have are not shown" err
'
cat >job-route.py <<\EOF
import sys
import wire

BUSY = 16
route = wire.Client()
route.rpc("service.add", {"service": "job-route"})
print("ready", flush=True)
while request := route.receive():
    if request.kind == wire.REQUEST and request.topic != "job-route.disconnect":
        route.respond(request, {}, BUSY)
EOF
test_expect_success 'and it cancels nothing where job-route does not say which jobs are partitions' '
	weir submit --json --simulate=1h mine | jq .id >mine && mkfifo route.ready &&
	{ python3 job-route.py >route.ready & } && pid=$! && read -r line <route.ready &&
	for which in --all "$batch" "$(cat mine)"; do
		test_expect_code 1 weir cancel $which 2>err && cat err && grep "nothing was canceled, since it is not known which jobs are partitions" err || return 1
	done && kill $pid && wait_gone $pid
'
test_expect_success 'job-route is loaded again: the partitions are there' '
	call module.load "{\"path\":\"job-route\",\"args\":[]}" && are_up batch debug && test $(job_of batch) = $batch && test $(job_of debug) = $debug &&
	weir cancel $(cat mine) && unset FLUX_URI
'
# runs ID: returns when it does
runs() {
	FLUX_URI=local://$WEIR_RUNDIR/local-0 wait_event "$1" start
}
test_expect_success 'a place is one in the job'"'"'s own queue' '
	weir submit --json --user alice -n 6 --simulate=1h -q batch fill >j && runs $(field j "d[\"id\"]") &&
	weir submit --json --user alice -n 2 --simulate=1h -q debug fill >j && runs $(field j "d[\"id\"]") &&
	for i in 1 2 3; do weir submit --user bob -n 6 --simulate=1h -q batch b$i >b$i || return 1; done &&
	weir submit --user bob -n 2 --simulate=1h -q debug d1 >d1 &&
	weir jobs >out && cat out && grep "$(cat b3) .* place 3 of 3" out && grep "$(cat d1) .* place 1 of 1" out &&
	weir prio explain $(cat d1) >out && cat out && grep "place 1 of 1" out && grep "number 1 of 1 waiting jobs in the queue debug" out &&
	weir prio explain $(cat b2) >out && grep "place 2 of 3" out && grep "^$(cat b1) " out &&
	weir prio list --json >j && test "$(field j "sorted((x[\"queue\"], x[\"rank\"], x[\"of\"]) for x in d[\"jobs\"])")" = \
		"[('"'batch', 1, 3), ('batch', 2, 3), ('batch', 3, 3), ('debug', 1, 1)"']"
'
test_expect_success 'a list that is cut says so' '
	weir jobs -a -c 2 >out 2>err && test $(wc -l <out) -eq 3 && grep "more than these 2.* -c 0 all" err &&
	weir jobs -a -c 2 --json >j 2>err && test $(field j "len(d[\"jobs\"]), d[\"has_more\"]" | tr -d " ") = "(2,True)" &&
	weir jobs -a -c 0 >out 2>err && test_must_be_empty err && test $(wc -l <out) -gt 8 &&
	weir prio list -c 3 >out 2>err && test $(grep -c ƒ out) -eq 3 && grep "first 3 of 4" err && weir prio list 2>err && test_must_be_empty err
'
test_expect_success 'prio list says why places repeat, are missing or "-", and which jobs are not in it' '
	weir prio list >out && grep "^Places are counted in each queue" out && weir prio list -q batch >out && ! grep "^Places\|^Jobs" out &&
	hers=$(weir submit --user alice -n 6 --simulate=1h -q batch a1) && held=$(weir submit --user bob -n 6 --nice 16 -q batch x) &&
	waits=$(weir submit --user bob -q batch --setattr="dependencies=[{\"scheme\":\"afterok\",\"value\":\"$(cat b3)\"}]" x) &&
	{ weir prio list -q batch -u alice && weir prio list -q batch -u bob; } >out 2>err && cat out err && grep "^Jobs that are not shown have the places between" out &&
	grep "^ *-  $held " out && grep "^- held back" out && ! grep $waits out && grep "^1 more job has no priority yet" err && weir cancel $hers $held $waits
'
test_expect_success 'prio when: who does not wait is named as people know it, with what it does instead' '
	id=$(cat ended) && test_expect_code 5 weir prio when $(cat b1) $id 2>err && cat err &&
	grep "$id does not wait: it failed at" err && test_expect_code 5 weir prio when $(cat b1) f1 2>err && grep "no job" err &&
	running=$(weir jobs -u alice --json | python3 -c "import json, sys; print(json.load(sys.stdin)[\"jobs\"][0][\"job\"])") &&
	test_expect_code 5 weir prio when $(cat b1) $running 2>err && grep "$running does not wait: it has its resources" err &&
	weir cancel --all --user alice && weir cancel --all --user bob
'
test_expect_success 'submit --setattr: attributes of the jobspec, several of them' '
	weir submit --json --user bob --setattr=bank=physics --setattr=weir.note=4GiB --setattr user.ticket=4711 --simulate=1h x >j &&
	FLUX_URI=local://$WEIR_RUNDIR/local-0 call job-info.lookup "{\"id\":$(field j "d[\"id\"]"),\"keys\":[\"jobspec\"],\"flags\":0}" >spec &&
	field spec "json.loads(d[\"jobspec\"])[\"attributes\"]" >attributes && cat attributes &&
	grep "'"'note': '4GiB'"'" attributes && grep "'"'ticket': 4711"'" attributes &&
	weir jobs -u bob --json >j && test "$(field j "[x[\"account\"] for x in d[\"jobs\"]]")" = "['"'physics'"']" &&
	weir cancel --all --user bob && test_expect_code 2 weir submit --setattr==1 true 2>err && grep "KEY=VALUE" err
'
test_expect_success 'refused submissions say what is right' '
	test_must_fail weir submit -q nope true 2>err && grep "debug" err &&
	test_must_fail weir submit --user alice -A chem true 2>err && grep "there is no account .chem. in the share tree for user alice; may use: " err &&
	test_must_fail weir submit --user alice -A faculty true 2>err && cat err && grep "there is no account .faculty. in the share tree for user alice" err &&
	test_must_fail weir submit --user alice -A facluty true 2>err && grep "there is no account .facluty." err
'
test_expect_success 'the instance ends with Ctrl-C and leaves neither process nor file' '
	stop_weir && ! test -e run && test -z "$(leftovers)"
'

test_done
