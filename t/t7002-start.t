#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir start: a tree for interactive work, its errors, and coming back on the same state'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >shares.toml <<EOF
# who gets what
"physics"        = 60    # ticket 4711
"physics/@alice" = 2
"physics/@bob"   = 1
"chem"           = 40
"chem/@carol"    = 1
"everybody"      = 1
"everybody/@*"   = 1
EOF
cat >weir.toml <<EOF
[weir.users]
alice = 5001
bob = 5002
carol = 5003
[access]
allow-guest-user = true
EOF

test_expect_success 'a mistake in the configuration is told with its line, and nothing is made' '
	printf "[weir]\nhalf-life = \"soon\"\n" >bad.toml && test_expect_code 1 weir start --config bad.toml 2>err &&
	grep "bad.toml:2: .weir. half-life = \"soon\": must be a duration" err && ! test -e run &&
	test_expect_code 5 weir start --config nowhere.toml 2>err && grep "nowhere.toml" err
'
test_expect_success 'the tree comes up and says how to use it' '
	start_weir --tree shares.toml --config weir.toml --statedir "$(pwd)/state" && weir tree >tree &&
	grep "debug *fcfs" tree && grep "batch *easy" tree && test -d run
'
test_expect_success 'a second instance in the same place is refused and names the first' '
	test_expect_code 1 weir start 2>err && grep "in use" err && grep "process id [0-9]" err && weir tree
'
test_expect_success 'a start in the place of a stopped instance is refused, and the instance stays reachable' '
	broker=$(cat run/broker.pid) && kill -STOP $broker &&
	{ test_expect_code 1 weir start --statedir "$(pwd)/other" 2>err; code=$?; kill -CONT $broker; test $code = 0; } &&
	grep "run is in use" err && grep "rundir DIR" err && weir tree >tree && grep "batch *easy" tree && weir jobs
'
test_expect_success 'a broker that finds another one in its place leaves the other one its socket and its lock' '
	mv run/local-0 run/hidden && mv run/start.lock run/start.hidden &&
	test_expect_code 1 weir start --statedir "$(pwd)/other" 2>err && grep "in use by pid $(cat run/broker.pid)" err &&
	ls run/batch/local-0 run/debug/local-0 && rm -f run/start.lock && mv run/start.hidden run/start.lock &&
	mv run/hidden run/local-0 && weir jobs
'
test_expect_success 'a real program runs in batch by default, its output is kept and shown' '
	id=$(weir submit -n1 sh -c "echo out; echo err >&2; pwd; echo \$WEIR_TEST_VARIABLE") &&
	weir output --wait $id >out && cp out kept && echo $id >kept.id && grep "^out" out && grep "^err" out && grep "^$(pwd)\$" out &&
	WEIR_TEST_VARIABLE=kept weir submit --wait sh -c "echo \$WEIR_TEST_VARIABLE" >out && grep "^kept" out
'
test_expect_success 'debug serves the debug queue' '
	weir submit --wait -q debug -n2 sh -c "echo task" >out && test $(grep -c task out) = 2 && weir jobs -a | grep "debug.*completed"
'
test_expect_success 'submit --wait passes failure on' '
	test_expect_code 1 weir submit --wait sh -c "exit 3" 2>err && grep "exit code 3" err
'
test_expect_success 'a running job is canceled with its reason' '
	id=$(weir submit -q debug sleep 600) && weir cancel -m "not needed" $id &&
	{ weir output --wait $id || test $? -eq 5; } && weir jobs -a | grep "$id.*canceled.*not needed"
'
test_expect_success 'a time limit ends a job' '
	test_expect_code 1 weir submit --wait -t 1s sleep 600 2>err && grep timeout err
'
test_expect_success 'jobs wait in the order of priority; nice changes it' '
	weir submit -u alice -n6 --simulate=600s fill >fill &&
	for u in alice bob carol; do weir submit -u $u -n6 --simulate=600s $u >$u || return 1; done &&
	weir prio list --json >before && weir nice $(cat carol) 10 >out && grep "urgency 16.*6" out &&
	weir prio explain $(cat carol) >why && grep "user .*6" why && grep "place" why
'
test_expect_success 'hold, release and expedite' '
	weir nice $(cat bob) 16 | grep held && weir nice $(cat bob) 0 && weir nice $(cat bob) hold | grep "nice 0.*16.*held" && weir jobs | grep "$(cat bob).*held" && weir nice $(cat bob) 0 &&
	weir nice $(cat bob) expedite | grep "nice 0.*-15.*expedited" && weir prio list --json >j &&
	test $(field j "d[\"jobs\"][0][\"id\"]") = $(weir jobs --json | python3 -c "
import json, sys
print(next(j[\"id\"] for j in json.load(sys.stdin)[\"jobs\"] if j[\"name\"] == \"bob\"))")
'
test_expect_success 'one share is set, the comment stays, the history knows who and why' '
	weir share set --dry-run chem 50 >out 2>&1 && grep "chem.*40.*50" out && grep "Nothing was changed" out &&
	weir share set -m "new grant" chem 50 && weir share export | tail -n +2 >now.toml && grep "= 50" now.toml &&
	grep "# ticket 4711" now.toml && weir share history | grep "$(id -un).*new grant"
'
test_expect_success 'limits and targets are set, changed and taken away, a member is added and removed; comments stay' '
	weir share set chem cores_max=[64,128] wall_time_max=36h >out 2>&1 && grep "wall_time_max none.*36h" out &&
	weir share export >limits.toml && grep "\"chem\".*= { shares = 50, cores_max = \[64,128\], wall_time_max = \"36h\" }" limits.toml &&
	grep "# ticket 4711" limits.toml && test_expect_code 2 weir share set chem 5 7 2>err && grep "FIELD=VALUE" err &&
	test_expect_code 2 weir share set chem cores=3 2>err && grep "cores_max" err &&
	weir share set chem cores_max= wall_time_max= &&
	weir share add chem/@zoe 3 running_jobs_max=2 && weir share export | grep "chem/@zoe.*shares = 3, running_jobs_max = 2" &&
	weir share set chem/@zoe running_jobs_max= shares=1 && weir share remove -m "left" chem/@zoe >out 2>&1 && grep "chem/@zoe" out &&
	weir share set chem 50 && ! weir share export | grep zoe
'
test_expect_success 'a whole tree is applied, or nothing of it' '
	sed "s/= 60 /= 10 /" now.toml >next.toml && weir share apply -m smaller next.toml &&
	weir share show --json >j && test $(field j "[n[\"shares\"] for n in d[\"nodes\"] if n[\"path\"] == \"physics\"][0]") = 10 &&
	printf "\"chem\" = 1\n\"chem\" = 2\n" | test_expect_code 7 weir share apply - 2>err && grep ":2:" err &&
	weir share export | tail -n +2 | cmp - next.toml
'
if test "$(id -u)" = 0 && command -v setpriv >/dev/null && setpriv --reuid=65534 --clear-groups test -x "$WEIR_BUILD_DIR/bin/weir"; then
	test_set_prereq GUEST
fi
# Another user's eyes: the owner lets them to the socket
as_guest() {
	chmod 711 run && HOME=/ setpriv --reuid=65534 --clear-groups weir "$@"
}
test_expect_success GUEST 'another user whom the directory keeps out is told so, not that there is no instance: exit code 4' '
	chmod 700 run && test_expect_code 4 env HOME=/ setpriv --reuid=65534 --clear-groups weir jobs 2>err &&
	grep "refuses you: it belongs to another user" err
'
test_expect_success GUEST 'another user may look, but changes neither jobs nor shares of others: exit code 4' '
	as_guest jobs && as_guest share show && as_guest prio explain $(cat carol) &&
	test_expect_code 4 as_guest nice $(cat carol) 5 2>err && grep "your own jobs only" err &&
	test_expect_code 4 as_guest nice $(cat carol) -5 2>err && grep "owner" err &&
	test_expect_code 4 as_guest cancel $(cat carol) 2>err && grep "your own jobs only" err &&
	test_expect_code 4 as_guest share set chem 1 2>err && cat err && grep "only the owner of the instance" err &&
	test_expect_code 4 as_guest submit true 2>err && cat err && grep "flux submit" err && grep "weir submit --user" err
'
test_expect_success 'usage is charged to who ran' '
	FLUX_URI=local://$(pwd)/run/local-0 wait_until job-priority.usage "{}" ".nodes[] | select(.path == \"physics/@alice\" and .running_cores == 6)" &&
	weir usage --json >j && test $(field j "[n[\"running_cores\"] for n in d[\"nodes\"] if n[\"path\"] == \"physics/@alice\"][0]") = 6
'
test_expect_success 'Ctrl-C ends it: exit code 0, no process, no socket' '
	weir jobs --json >jobs.before && stop_weir && test -z "$(leftovers)" && ! test -e run
'
test_expect_success 'the next start on the same state has tree, history, usage and waiting jobs' '
	start_weir --tree shares.toml --config weir.toml --statedir "$(pwd)/state" &&
	weir share export | tail -n +2 | cmp - next.toml && weir share history | grep "new grant" &&
	weir output $(cat kept.id) | test_cmp kept - && test_expect_code 5 weir output $(cat alice) 2>err && grep "no output is stored" err &&
	weir usage --json >j && test $(field j "[n[\"charged_core_us\"] > 0 for n in d[\"nodes\"] if n[\"path\"] == \"physics/@alice\"][0]") = True &&
	weir jobs --json >jobs.after && test $(field jobs.after "len([j for j in d[\"jobs\"] if j[\"name\"] in (\"bob\", \"carol\")])") = 2
'
test_expect_success 'a partition that dies is started again and its jobs come back to it' '
	weir cancel --all --user alice && weir cancel --all --user bob && weir cancel --all --user carol &&
	child=$(weir tree --json | python3 -c "
import json, sys
print(next(c[\"job\"] for c in json.load(sys.stdin)[\"children\"] if c[\"serves\"] == [\"batch\"]))") &&
	test_expect_code 1 weir cancel $child 2>err && grep "is a partition" err && grep -e "--partitions $child" err &&
	weir cancel --partitions $child && weir submit --wait echo "after the death" >out && grep "after the death" out &&
	weir output $(cat kept.id) | test_cmp kept -
'
test_expect_success 'it ends again' '
	stop_weir && test -z "$(leftovers)"
'
# paths: the nodes of the share tree in force
paths() {
	weir share show --json >paths.json && field paths.json "sorted(n[\"path\"] for n in d[\"nodes\"])"
}
test_expect_success 'a share tree of --config and one of --tree: usage error with both, and nothing is made' '
	mkdir -p site && printf "\"atlas\" = 1\n\"atlas/@*\" = 1\n" >site/atlas.toml && printf "\"cms\" = 1\n\"cms/@*\" = 1\n" >site/cms.toml &&
	printf "[weir]\nshare-tree = \"atlas.toml\"\n" >site/site.toml &&
	test_expect_code 2 weir start --tree shares.toml --config site/site.toml 2>err &&
	grep "tree=shares.toml.*site/site.toml .weir. share-tree = \"atlas.toml\"" err && ! test -e run
'
test_expect_success 'a share tree of --config that is not there or has mistakes is said at the start' '
	printf "[weir]\nshare-tree = \"nowhere.toml\"\n" >site/bad.toml && test_expect_code 5 weir start --config site/bad.toml 2>err &&
	grep "cannot read .*/site/nowhere.toml" err && ! test -e run &&
	echo "\"a\" = -1" >site/nowhere.toml && test_expect_code 7 weir start --config site/bad.toml 2>err && grep "site/nowhere.toml:1:" err
'
test_expect_success 'the share tree of --config is beside its file, for the partitions too, and after weir reload' '
	start_weir --config site/site.toml && paths | grep "atlas" && ! paths | grep everybody &&
	weir submit --wait echo served | grep served &&
	sed -i "s/atlas/cms/" site/site.toml && weir reload >out && grep "share-tree: .*/site/atlas.toml.* -> .*/site/cms.toml" out &&
	paths | grep "cms" && ! paths | grep atlas && ! grep "cannot read" start.err &&
	sed -i "s/cms.toml/gone.toml/" site/site.toml && { weir reload >out 2>&1; cat out; grep "cannot read the share tree .*/site/gone.toml" out; } &&
	stop_weir && test -z "$(leftovers)"
'
test_expect_success 'of two starts at once in one new place exactly one serves, and ends as usual' '
	mkfifo both.fifo && {
		weir start --rundir both --statedir state.a >both.fifo 2>a.err &
		a=$!
		weir start --rundir both --statedir state.b >both.fifo 2>b.err &
		b=$!
	} && exec 8<both.fifo && WEIR_TEST_STARTS="$WEIR_TEST_STARTS $a $b" && IFS= read -r line <&8 &&
	winner=$(cat both/start.lock) && test_expect_code 1 wait $((a + b - winner)) && cat a.err b.err | grep "both is in use" &&
	weir --uri "$(pwd)/both" jobs && kill -INT $winner && cat <&8 >/dev/null && wait $winner && exec 8<&- &&
	! test -e both && test -z "$(leftovers)"
'
test_expect_success 'without stdout it serves, and neither its lock nor a socket gets the text; exit code 1' '
	echo "[nobody-reads-this]" >odd.toml && mkfifo closed.fifo && {
		weir start --config odd.toml >&- 2>closed.fifo &
		pid=$!
	} && exec 8<closed.fifo && WEIR_TEST_STARTS="$WEIR_TEST_STARTS $pid" && IFS= read -r line <&8 && echo "$line" &&
	find run -name start.lock | xargs cat >locks && test "$(cat locks)" = $pid && weir jobs &&
	test_expect_code 1 weir jobs >&- 2>err && grep "cannot write the output" err &&
	kill -INT $pid && cat <&8 && exec 8<&- && test_expect_code 1 wait $pid && ! test -e run
'
test_expect_success 'a broker that cannot load a module says which and why' '
	printf "[weir-broker]\nmodules = [\"kvs\", \"no-such-module\"]\n" >broken.toml &&
	test_expect_code 1 weir start --config broken.toml 2>err && grep "no-such-module" err && ! test -e run &&
	test -z "$(leftovers)"
'
test_expect_success 'a configuration that is no TOML is named with its line' '
	printf "[weir]\nhalf-life = \n" >broken.toml && test_expect_code 1 weir start --config broken.toml 2>err &&
	grep "broken.toml:2" err && ! test -e run
'

test_done
