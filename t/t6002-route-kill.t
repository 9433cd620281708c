#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='kill -9 of a parent, of a partition, of a child broker whose job lives on: every routed job comes to its end,
every core is given back, and what waits for a lost child is told and moves on'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

# Waits at most this long for what must come; nothing here takes a tenth of it.
within() {
	timeout 60 "$@"
}
# at NAME COMMAND...: runs a command of weir at the instance whose run directory is NAME
at() {
	place=$1
	shift
	weir --uri "$(pwd)/$place" "$@"
}
# rpc_at NAME TOPIC JSON
rpc_at() {
	FLUX_URI=local://$(pwd)/$1/local-0 python3 "$WIRE" rpc "$2" "$3"
}
# event_at NAME ID EVENT: waits for it and prints its context
event_at() {
	FLUX_URI=local://$(pwd)/$1/local-0 within python3 "$WIRE" wait-event "$2" "$3"
}
# held_at NAME COUNT: waits until so many jobs of that instance have resources and wait for go; prints their ids
held_at() {
	FLUX_URI=local://$(pwd)/$1/local-0 within python3 -c '
import json, sys, wire
held = set()
for text in wire.Client().stream("job-manager.events-journal", {"full": False}):
    entry = json.loads(text)
    for event in entry["events"]:
        ours = event.get("context", {}).get("description") == "job-route-go"
        if event["name"] == "prolog-start" and ours:
            held.add(entry["id"])
        elif event["name"] == "clean" or (event["name"] == "prolog-finish" and ours):
            held.discard(entry["id"])
    if len(held) >= int(sys.argv[1]):
        break
print(*sorted(held))
' "$2"
}
# active_at NAME [QUEUE]: ids of its active jobs
active_at() {
	rpc_at "$1" job-list.list '{"max_entries": 0, "attrs": ["queue"], "constraint": {"states": ["active"]}}' | python3 -c '
import json, sys
print(*[job["id"] for job in json.load(sys.stdin)["jobs"] if len(sys.argv) < 2 or job.get("queue") == sys.argv[1]])' $2
}
# active_are NAME COUNT: waits until so many are active
active_are() {
	FLUX_URI=local://$(pwd)/$1/local-0 wait_until job-list.list \
		'{"max_entries": 0, "attrs": ["queue"], "constraint": {"states": ["active"]}}' ".jobs | length == $2"
}
# broker_of NAME: its process
broker_of() {
	for f in /proc/[0-9]*/cmdline; do
		tr '\0' '\n' <"$f" | grep -qx -e "$(pwd)/$1" && tr '\0' '\n' <"$f" | head -1 | grep -q weir-broker && basename "$(dirname "$f")"
	done 2>/dev/null
	return 0
}
# kill_broker NAME: kill -9; returns when it is gone
kill_broker() {
	pid=$(broker_of "$1") && kill -9 $pid && wait_gone $pid
}
# dec ID: in digits
dec() {
	weir jobs -a --json | python3 -c '
import json, sys
print(next(job["id"] for job in json.load(sys.stdin)["jobs"] if job["job"] == sys.argv[1]))' "$1"
}
# fill QUEUE N: N jobs of one core that run until they are cancelled; prints their ids
fill() {
	for i in $(seq "$2"); do weir submit -q "$1" sleep inf >id && dec "$(cat id)" || return 1; done
}
# hold: the parent is stopped and the running copies in batch are ended, so that the next ones get resources and no go
hold() {
	kill -STOP "$(broker_of run)" &&
	for copy in $1; do rpc_at run/batch job-manager.raise "{\"id\": $copy, \"type\": \"cancel\", \"severity\": 0}" || return 1; done &&
	held_at run/batch "$2"
}
# all_ended ID...: waits until they are inactive
all_ended() {
	for id in "$@"; do event_at run "$id" clean || return 1; done
}
# settled: nothing of batch is active at the parent, nothing at all in the partition, and its cores are free
settled() {
	test -z "$(active_at run batch)" && test -z "$(active_at run/batch)" &&
	weir tree --json >tree.json &&
	test "$(field tree.json '[c["cores_busy"] for c in d["children"] if c["serves"] == ["batch"]]')" = "[0]"
}
start() {
	start_weir --cores 4 --statedir "$(pwd)/state"
}

test_expect_success 'copies that have resources and no go, in a partition of three cores' '
	start && running=$(fill batch 3) && for id in $running; do event_at run $id start || return 1; done &&
	copies=$(active_at run/batch) && test $(echo $copies | wc -w) = 3 &&
	waiting=$(for i in 1 2 3 4 5; do weir submit -q batch true >id && dec $(cat id); done) &&
	for id in $waiting; do event_at run $id weir.route || return 1; done &&
	active_are run/batch 8 &&
	hold "$copies" 3 >held && test $(wc -w <held) = 3
'
test_expect_success 'kill -9 of the parent: after the next start all of them run to their end, no core is held' '
	kill_broker run && test_expect_code 1 wait $WEIR_PID && exec 8<&- &&
	for pid in $(broker_of run/batch) $(broker_of run/debug); do wait_gone $pid || return 1; done &&
	start && all_ended $waiting && settled
'
test_expect_success 'kill -9 of the partition: the same' '
	running=$(fill batch 3) && for id in $running; do event_at run $id start || return 1; done &&
	copies=$(active_at run/batch) &&
	waiting=$(for i in 1 2 3 4 5; do weir submit -q batch true >id && dec $(cat id); done) &&
	active_are run/batch 8 &&
	hold "$copies" 3 >held && batch=$(broker_of run/batch) &&
	kill -9 $batch && kill -CONT $(broker_of run) && all_ended $running $waiting && settled
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'

# ---- a child instance in a script that outlives it ----
MODULES="resource job-manager job-exec sched-weir-fcfs job-route"
for name in one two; do
	{
		broker_config "$MODULES" job-route-tap.so 0
		printf '[weir.route]\nserves = ["work"]\n'
	} >$name.toml
done
broker_config "$MODULES" job-route-tap.so 0-3 >top.toml
cat >>top.toml <<EOF
[queues.work]
[queues.own]
[weir.route]
queues = ["work"]
lost-after = "2s"
EOF
# Starts a broker each time that a line comes in, and ends with its job alone.
cat >script.sh <<\EOF
while :; do
	read -r line <$1.order || continue
	weir-broker -c $1.toml --rundir "$PWD/$1" -S "statedir=$PWD/$1.state" --ready-fd 9 9>$1.ready >>$1.log 2>&1 &
done
EOF
# script NAME: its job, at the top
script() {
	mkdir -p $1 $1.state && mkfifo $1.ready $1.order && at top submit -q own sh "$(pwd)/script.sh" $1 >$1.job
}
# boot NAME: the script starts its broker. Each read waits: for who writes into the pipe, or for the end of a process that an
# earlier broker left, which may hold the pipe for a moment.
boot() {
	echo start >$1.order && until read -r uri <$1.ready; do :; done
}
children() {
	rpc_at top job-route.tree '{}'
}
# attached COUNT
attached() {
	FLUX_URI=local://$(pwd)/top/local-0 wait_until job-route.tree '{}' "[.children[] | select(.state == \"attached\")] | length == $1"
}
# submit_work COMMAND...: a job of the queue that the children serve
submit_work() {
	FLUX_URI=local://$(pwd)/top/local-0 python3 "$WIRE" submit --setattr queue=work -- "$@"
}
# two_jobs: one runs in child one, another waits there; sets running and waiting, and copy, the first's id there
two_jobs() {
	running=$(submit_work sleep inf) && event_at top $running start && copy=$(active_at one) &&
	waiting=$(submit_work true) && event_at top $waiting weir.route && active_are one 2
}

test_expect_success 'a child instance in a script' '
	mkdir top && mkfifo top.ready &&
	{ weir-broker -c top.toml --rundir "$(pwd)/top" --ready-fd 9 9>top.ready >top.log 2>&1 8<&- & } && top=$! &&
	WEIR_TEST_BROKERS="$WEIR_TEST_BROKERS $top" &&
	read -r uri <top.ready && script one && boot one && attached 1
'
test_expect_success 'a copy that a killed broker held can be cancelled in the next one, though the parent is stopped' '
	two_jobs && kill -STOP $top && at one cancel $copy && copy=$(held_at one 1) &&
	kill_broker one && boot one && test "$(active_at one)" = $copy &&
	at one cancel $copy && event_at one $copy clean && test -z "$(active_at one)" &&
	kill -CONT $top
'
test_expect_success 'the parent gives the job back to the child that gave it back, after a while' '
	event_at top $waiting clean && event_at top $running clean && test -z "$(active_at top work)"
'
test_expect_success 'a child whose broker is dead and whose job lives is lost, and says so' '
	attached 1 && two_jobs &&
	kill_broker one && FLUX_URI=local://$(pwd)/top/local-0 wait_until job-route.tree "{}" "any(.children[]; .state == \"lost\")" &&
	at top tree >tree && grep "work.*lost since" tree &&
	at top why $waiting >why && grep "lost since" why
'
test_expect_success 'what it had not begun goes to the next child that serves the queue, what it ran stays' '
	script two && boot two && event_at top $waiting clean && test "$(active_at top work)" = $running &&
	event_at top $waiting alloc >alloc && at top jobs -a --json >jobs.json &&
	test "$(field alloc "d[\"annotations\"][\"weir\"][\"child\"]")" = \
		"$(field jobs.json "[j[\"id\"] for j in d[\"jobs\"] if j[\"job\"] == \"$(cat two.job)\"][0]")"
'
test_expect_success 'when it comes back its copies are cancelled, and what died with it is over' '
	boot one && attached 2 && for id in $(active_at one); do event_at one $id clean || return 1; done &&
	event_at top $running clean && test -z "$(active_at top work)"
'
test_expect_success 'no trace is left' '
	kill $top && wait $top; test -z "$(leftovers)"
'
test_done
