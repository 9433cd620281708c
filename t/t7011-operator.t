#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description="an operator's day: warnings, weir log, reload, a closed terminal, partitions that die"

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >weir.toml <<\EOF
[weir]
half-life = "2d"
[weir.weights]
wait = 77
association = 5
[acces]
allow-guest-user = true
EOF
uri=local://$WEIR_RUNDIR/local-0

# broker_of [PARTITION]: the process id
broker_of() {
	cat "run/$1/broker.pid"
}
# A running job that tells when it runs.
long_job() {
	mkfifo "$1.runs" && id=$(weir submit sh -c "echo up >'$(pwd)/$1.runs'; exec sleep 600") && read -r line <"$1.runs" && echo "$id"
}
is_running() {
	weir jobs | grep -i "$1 .*run"
}

test_expect_success 'warnings of the start are on the terminal, each once' '
	start_weir --config weir.toml --statedir "$(pwd)/state" && FLUX_URI=$uri && export FLUX_URI &&
	mkfifo submitted && weir submit --wait true && head -n 20 start.err >first.err &&
	test $(grep -c "weir.toml:6: .acces. has no effect: unknown here; did you mean .access.?" first.err) = 1 &&
	test $(grep -c "the weight of association has no effect" first.err) = 1
'
test_expect_success 'they are in the log files of parent and partitions' '
	grep "broker.warning.*weir.toml:6: .acces." state/broker.log &&
	grep "job-priority.warning.*association has no effect" state/broker.log &&
	grep "job-priority.warning.*association has no effect" state/batch.log
'
test_expect_success 'weir log shows the logs of parent and partitions, by level, time and partition' '
	weir log >log && grep " info *broker: online" log && grep " info *batch/broker: online" log &&
	weir log --level warning >log && grep "warning broker: .*acces" log && grep "warning debug/job-priority" log &&
	test_expect_code 1 grep " info " log &&
	weir log --partition batch --level debug >log && grep "debug *batch/broker: insmod kvs" log &&
	test_expect_code 1 grep " debug/" log &&
	weir log --since 1d | grep online && weir log --since 0s >log && test_must_be_empty log &&
	weir log --json >j && json_is j weir.log/1 && test "$(field j "{l[\"instance\"] for l in d[\"lines\"]} == {\"top\", \"batch\", \"debug\"}")" = True &&
	test_expect_code 2 weir log --level loud 2>err && grep "write emerg" err &&
	test_expect_code 5 weir log --partition btach 2>err && grep "no partition btach" err
'
test_expect_success 'settings of [weir] hold in the partitions, where the jobs wait' '
	weir --uri run/batch prio weights | grep "wait  *77" && weir prio weights | grep "wait  *77"
'
test_expect_success 'a second weir start on the same statedir is refused before it touches a file of the first' '
	cksum state/*.toml >before && lines=$(wc -l <state/broker.log) &&
	test_expect_code 1 weir start --rundir "$(pwd)/elsewhere" --statedir "$(pwd)/state" --cores 16 2>err &&
	grep "state is in use by weir start with process id $WEIR_PID" err && ! test -e elsewhere &&
	cksum state/*.toml >after && test_cmp before after && test "$(head -n $lines state/broker.log | wc -l)" = "$lines" && weir tree
'
test_expect_success 'weir reload tells what changed; parent and partitions have it' '
	sed -i "s/wait = 77/wait = 99/" weir.toml && weir reload >out && grep ".weir. weights.wait: 77 -> 99" out &&
	grep "Reloaded by top, debug and batch\|Reloaded by top, batch and debug" out &&
	weir --uri run/batch prio weights | grep "wait  *99" && weir prio weights | grep "wait  *99" &&
	weir reload --json >j 2>err && json_is j weir.reload/1 && test "$(field j "d[\"changes\"]")" = "[]" && grep "acces" err
'
test_expect_success 'weir reload refuses the whole where a value is wrong: file, line, value, what is right' '
	sed "s/wait = 99/wait = 5\nfairshare = \"many\"/" weir.toml >new && cp weir.toml good.toml && cp new weir.toml &&
	test_expect_code 1 weir reload 2>err && grep "weir.toml:5: .weir. weights.fairshare = \"many\": must be a number" err &&
	grep "Nothing was changed" err && weir prio weights | grep "wait  *99" && weir --uri run/batch prio weights | grep "wait  *99"
'
test_expect_success 'a mistyped key is refused with the nearest one, a file that vanished with its name' '
	sed "s/half-life/half-lif/" good.toml >weir.toml && test_expect_code 1 weir reload 2>err &&
	grep "weir.toml:2: .weir. half-lif = \"2d\": unknown key; did you mean \"half-life\"?" err &&
	{ cat good.toml && printf "[access]\nallow-guest-user = \"yes\"\n"; } >weir.toml && test_expect_code 1 weir reload 2>err &&
	grep "weir.toml:[0-9]*: .access. allow-guest-user = \"yes\": must be true or false" err &&
	sed "s/half-life = .*/half-life = 2d/" good.toml >weir.toml && test_expect_code 1 weir reload 2>err && grep "weir.toml:2:.*a text needs quotes" err &&
	rm weir.toml && test_expect_code 1 weir reload 2>err && grep "weir.toml: cannot read this configuration file: No such file" err &&
	weir prio weights | grep "wait  *99" && cp good.toml weir.toml
'
test_expect_success 'what the next start would refuse is refused now, though it is read at the start alone' '
	for wrong in "[job-manager]\nplugins = 4" "[[job-manager.plugins]]\nlaod = \"x.so\"" "[resource]\nscheduling = \"nowhere.json\"" "[resource]\nconfig = 4"; do
		printf "$wrong\n" | cat good.toml - >weir.toml && test_expect_code 1 weir reload 2>err && cat err && grep "weir.toml:[0-9]*:\|job-manager.plugins\|resource" err || return 1
	done && cp good.toml weir.toml && weir reload
'
test_expect_success 'what one partition refuses, nobody has' '
	sed -i "s/wait = 99/wait = 55/" weir.toml && file=$(grep -l "serves....batch" run/jobtmp/*/partition.json) && cp $file batch.good &&
	jq -c ".exec = {\"kill-timeout\": \"soon\"}" batch.good >$file &&
	test_expect_code 1 weir reload 2>err && grep "batch: .*exec.kill-timeout.*soon" err && grep "^Nothing was changed" err &&
	weir prio weights | grep "wait  *99" && weir --uri run/debug prio weights | grep "wait  *99" && cp batch.good $file &&
	cp good.toml weir.toml
'
test_expect_success 'SIGHUP at weir start reloads and opens the logs again; jobs run on' '
	id=$(long_job hup) && sed -i "s/wait = 99/wait = 33/" weir.toml && mv state/broker.log state/broker.log.1 && mv state/batch.log state/batch.log.1 &&
	kill -HUP $WEIR_PID && log_has "configuration: .weir. weights.wait: 99 -> 33" &&
	FLUX_URI=local://$WEIR_RUNDIR/batch/local-0 log_has "configuration: .weir. weights.wait: 99 -> 33" &&
	grep "weights.wait: 99 -> 33" state/broker.log && grep "weights.wait: 99 -> 33" state/batch.log &&
	is_running $id && weir cancel $id
'
test_expect_success 'what asks for all jobs, as flux cancel --all and flux job killall do, leaves the partitions alone' '
	id=$(long_job all) && before=$(broker_of batch) && all="\"dry_run\":false,\"userid\":4294967295" &&
	call job-manager.killall "{$all,\"signum\":18}" | jq -e ".count == 1" && call job-manager.raiseall "{$all,\"states\":30,\"severity\":0,\"type\":\"cancel\"}" >counts &&
	jq -e ".count == 1" counts && test $(broker_of batch) = $before && weir submit --wait -q batch echo alive | grep alive
'
test_expect_success 'a partition that dies again and again is started each time, the sixth too; each death is told' '
	for n in 1 2 3 4 5 6; do
		kill -9 $(broker_of batch) && log_has "partition batch serves its queue again" $n || return 1
	done &&
	weir log >log && grep " err .*job-route: The partition batch ended (killed by signal 9); it starts again now" log &&
	grep " err .*job-route: The partition batch ended (killed by signal 9), death 6 in a row; it starts again in 4s" log &&
	test $(grep -c "The partition batch ended" state/broker.log) = 6 && test $(grep -c "The partition batch ended" start.err) = 6 &&
	weir submit --wait echo alive | grep alive
'
test_expect_success 'one that cannot start: weir tree says since when, why and when the next try is; mended, it comes back' '
	weir partition resize debug --cores 1 --kill && : >no-such-module.so && weir partition add bad --queue batch --cores 1 --scheduler "$(pwd)/no-such-module.so" &&
	log_has "partition bad ended .exit code 1; its last line: .*no-such-module.*, death 5 in a row; it starts again in 2s" &&
	weir tree >tree && grep "bad .*down since 20.*, 5 deaths in a row, the last: exit code 1; its last line: .*no-such-module.*; next try in" tree &&
	weir tree --json >j && test "$(field j "[(c[\"down\"][\"deaths\"], c[\"down\"][\"since\"] > 0, c[\"down\"][\"next\"] > c[\"down\"][\"since\"], \"no-such-module\" in c[\"down\"][\"why\"]) for c in d[\"children\"] if \"down\" in c]")" = "[(5, True, True, True)]" &&
	weir log 2>err >log && grep "partition bad is down; its log is in .*state/bad.log" err &&
	grep "no-such-module" state/bad.log && weir partition remove bad && weir tree >tree && test_expect_code 1 grep -w bad tree &&
	weir submit --wait echo "back again" >out && grep "back again" out && grep "batch *easy" tree
'
test_expect_success 'weir log --follow shows what is added, also of a partition that comes back; it ends with the instance' '
	mkfifo followed && { { weir log --follow >followed 2>follow.err; echo $? >follow.code; } & } && follower=$! &&
	exec 7<followed && read -r line <&7 && sed -i "s/wait = 33/wait = 34/" weir.toml && kill -HUP $WEIR_PID &&
	grep -m 1 "batch/broker: configuration: .weir. weights.wait: 33 -> 34" <&7 &&
	stop_weir && cat <&7 >rest && exec 7<&- && wait $follower && test "$(cat follow.code)" = 3 && grep "has ended" follow.err
'
test_expect_success 'the terminal had the warnings of each SIGHUP, as warnings' '
	test $(grep -c "^warning: broker: .*acces" start.err) -ge 3 && test_expect_code 1 grep "^broker: " start.err
'
test_expect_success 'it left nothing' '
	test -z "$(leftovers)" && ! test -e run
'
test_expect_success 'a terminal that is closed reloads; instance and jobs go on until they are asked to end' '
	cat >terminal.py <<-\PY &&
		import os, pty, sys
		pid, terminal = pty.fork()
		if pid == 0:
		    os.execvp("weir", ["weir", "start"])
		text = b""
		while b"Ctrl-C" not in text:
		    text += os.read(terminal, 4096)
		print(pid, flush=True)
		sys.stdin.read(1)
		os.close(terminal)
		print("closed", flush=True)
		print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
	PY
	mkfifo to from && { python3 terminal.py <to >from & } && exec 5>to 6<from && read -r pid <&6 &&
	id=$(long_job ssh) && echo >&5 && read -r line <&6 && test "$line" = closed &&
	log_has "the configuration was read again" && is_running $id && weir submit --wait echo on | grep on &&
	kill -TERM $pid && read -r code <&6 && exec 5>&- 6<&- && test "$code" = 0 && test -z "$(leftovers)"
'
test_expect_success 'asked twice it ends at once, also where the parent broker hangs' '
	start_weir && kill -STOP $(broker_of) && kill -TERM $WEIR_PID && kill -INT $WEIR_PID &&
	{ wait $WEIR_PID; true; } && exec 8<&- && all_gone
'
test_expect_success 'the parent broker is killed: weir start ends, and says what happened' '
	rm -rf run && start_weir && kill -9 $(broker_of) && cat <&8 >rest && exec 8<&- && test_expect_code 1 wait $WEIR_PID &&
	grep "the parent broker ended: killed by signal 9" start.err && all_gone
'
# The partition of hangs.toml reads its file of queues, which is a FIFO, until descriptor 7 is closed.
printf "[[partition]]\nname = \"batch\"\ncores = 1\n" >hangs.toml
begin_hanging() {
	rm -rf run hangs start.fifo && mkdir -p -m 700 hangs/batch && mkfifo hangs/batch/queues.json start.fifo || return 1
	weir start --config hangs.toml --cores 2 --statedir "$PWD/hangs" >start.fifo 2>start.err &
	WEIR_PID=$! WEIR_TEST_STARTS="$WEIR_TEST_STARTS $!"
	exec 8<start.fifo 7>hangs/batch/queues.json
}
test_expect_success 'it serves when all partitions do' '
	begin_hanging && echo "{}" >&7 && exec 7>&- && read -r line <&8 && read -r line <&8 && read -r line <&8 && echo "$line" &&
	echo "$line" | grep "batch .*local://$PWD/run/batch/local-0" && stop_weir && test -z "$(leftovers)"
'
test_expect_success 'Ctrl-C while a partition starts: exit code 130' '
	begin_hanging && kill -INT $WEIR_PID && cat <&8 >rest && exec 8<&- 7>&- && test_expect_code 130 wait $WEIR_PID && test_must_be_empty rest && all_gone
'
test_expect_success 'the parent broker is killed while a partition starts' '
	begin_hanging && kill -9 $(broker_of) && cat <&8 >rest && exec 8<&- 7>&- && test_expect_code 1 wait $WEIR_PID && test_must_be_empty rest &&
	grep "the parent broker ended: killed by signal 9" start.err && all_gone
'
test_expect_success 'a partition ends before it serves: it is named, with its last words' '
	rm -rf run hangs && mkdir -m 700 hangs && : >hangs/batch && test_expect_code 1 weir start --config hangs.toml --cores 2 --statedir "$PWD/hangs" >out 2>err &&
	cat err && grep "the partition batch ended before it served its queue: exit code 1; its last line: .*Not a directory" err && test_must_be_empty out && all_gone
'
for signal in QUIT ALRM; do
	test_expect_success "SIG$signal asks for the end, too" '
		rm -rf run && start_weir && kill -'$signal' $WEIR_PID && cat <&8 >rest && exec 8<&- && wait $WEIR_PID && test -z "$(leftovers)" && ! test -e run
	'
done
test_expect_success 'weir shutdown ends the jobs and the partitions, and weir start, which has exit code 0' '
	rm -rf run && start_weir && runs=$(long_job shut) && is_running $runs && weir shutdown >out && cat out && grep "^The instance at $uri has ended" out &&
	cat <&8 >rest && exec 8<&- && wait $WEIR_PID && cat start.err && grep "The parent was shut down" start.err && test -z "$(leftovers)" && ! test -e run
'
test_expect_success 'a partition that is shut down starts again, as weir shutdown says' '
	rm -rf run && start_weir && weir tree --json >j && below=$(field j "d[\"children\"][0][\"uri\"]") && job=$(field j "d[\"children\"][0][\"jobid\"]") &&
	weir --uri "$below" shutdown >out 2>err && grep "^The instance at $below has ended" out && grep "it starts again: weir partition remove" err &&
	weir submit -q batch --wait true && weir submit -q debug --wait true &&
	weir tree --json >j && test "$(field j "$job in [c[\"jobid\"] for c in d[\"children\"]]")" = False && stop_weir
'
test_expect_success 'what waited then starts when the instance starts again from its state' '
	rm -rf run state && start_weir --statedir "$(pwd)/state" && runs=$(long_job first) && weir submit -q batch -n6 touch ran >waiting &&
	weir shutdown && cat <&8 >rest && exec 8<&- && wait $WEIR_PID && ! test -e ran && rm -f first.runs &&
	start_weir --statedir "$(pwd)/state" && weir output --wait $(cat waiting) && test -e ran && stop_weir
'
test_expect_success FLUX 'weir shutdown ends a stock Flux, too' '
	mkfifo flux.uri && { env -u FLUX_URI "$WEIR_FLUX" start --test-size=1 sh -c "echo \$FLUX_URI >flux.uri; exec sleep 600" 2>flux.err & } && flux=$! &&
	read -r there <flux.uri && weir --uri "$there" shutdown >out && grep "^The instance at $there has ended" out && { wait $flux; cat flux.err; test_expect_code 3 weir --uri "$there" tree; }
'
test_done
