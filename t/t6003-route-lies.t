#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a child instance that lies: it costs its own jobs, and neither the memory nor the orders of anybody else'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

broker_config "resource job-manager job-exec sched-weir-fcfs job-route" job-route-tap.so 0-3 >top.toml
cat >>top.toml <<EOF
[queues.bad]
[queues.good]
[queues.own]
[weir.route]
queues = ["bad", "good"]
lost-after = "10m"
EOF
submit_to() {
	python3 "$WIRE" submit --setattr queue=$1 --simulate 1h
}
event() {
	timeout 60 python3 "$WIRE" wait-event "$1" "$2"
}
# Two children of this one process: `bad` serves the queue bad with lies, `good` the queue good as a child does.
cat >children.py <<\EOF
import json, sys, threading, wire

ONE_CORE = {"version": 1, "execution": {"R_lite": [{"rank": "0", "children": {"core": "0"}}], "starttime": 0,
                                        "expiration": 0, "nodelist": ["node0"]}}


class Child:
    """A session of job-route: attach, orders, reports."""
    def __init__(self, jobid, queue):
        self.jobid, self.queue, self.seq, self.orders = jobid, queue, 1, []
        self.client = wire.Client()
        payload = {"jobid": jobid, "session": queue, "serves": [queue], "known": [], "R": json.dumps(ONE_CORE), "cores": 1}
        self.attach = self.client.start("job-route.attach", payload, flags=wire.STREAMING)
        assert json.loads(self.client.answer(self.attach))["attached"]

    def order(self, op):
        """Waits for the next order of that name; its job."""
        while not any(order["op"] == op for order in self.orders):
            self.orders += json.loads(self.client.answer(self.attach))["orders"]
        found = next(order for order in self.orders if order["op"] == op)
        self.orders.remove(found)
        return found["id"]

    def report(self, *events):
        """Sends them and does not wait."""
        payload = {"jobid": self.jobid, "session": self.queue, "seq": self.seq, "events": list(events)}
        self.seq += len(events)
        return self.client.start("job-route.report", payload)


def allocated(job, R):
    return [{"id": job, "name": "submit", "local": job}, {"id": job, "name": "alloc", "R": R}]


def lie(what):
    R = json.loads(json.dumps(ONE_CORE))
    entry = R["execution"]["R_lite"][0]
    if what == "no JSON":
        return "{"
    if what == "cores":
        entry["children"]["core"] = "0-4294967293"
    elif what == "gpus":
        entry["children"]["gpu"] = "0-4294967293"
    elif what == "ranks":
        entry["rank"] = "0-4294967293"
    elif what == "hosts":
        R["execution"]["nodelist"] = ["n" * 200 + "[0-1048575]"]
    elif what == "another's core":
        entry["children"]["core"] = "3"
    return json.dumps(R)


threading.Timer(60, lambda: (print("nothing came for a minute", flush=True), __import__("os")._exit(1))).start()
bad, good = Child(int(sys.argv[1]), "bad"), Child(int(sys.argv[2]), "good")
print("attached", flush=True)
for what in sys.argv[3:]:
    first, second, lied = good.order("submit"), good.order("submit"), bad.order("submit")
    # While the first is on its way to the record, the lie and the second come into one batch.
    good.report(*allocated(first, json.dumps(ONE_CORE)))
    bad.report(*allocated(lied, lie(what)))
    good.report(*allocated(second, json.dumps(ONE_CORE)))
    assert {good.order("go"), good.order("go")} == {first, second}
    assert bad.order("cancel") == lied
    print(what, flush=True)
__import__("os")._exit(0)
EOF

test_expect_success 'an instance, and two jobs that are children' '
	mkdir top && mkfifo ready && { weir-broker -c top.toml --rundir "$(pwd)/top" --ready-fd 9 9>ready >top.log 2>&1 & } &&
	top=$! && WEIR_TEST_BROKERS="$WEIR_TEST_BROKERS $top" && read -r FLUX_URI <ready && export FLUX_URI &&
	bad=$(submit_to own) && good=$(submit_to own) && event $bad start && event $good start
'
for lie in "no JSON" cores gpus ranks hosts "another's core"; do
	test_expect_success "R with $lie: that job ends with the reason, the other child's jobs get their go" '
		mkfifo child && { python3 children.py $bad $good "$lie" >child 2>child.err & } && exec 7<child && rm child &&
		read -r line <&7 && test "$line" = attached &&
		one=$(submit_to good) && two=$(submit_to good) && lied=$(submit_to bad) &&
		read -r line <&7 && test "$line" = "$lie" && exec 7<&- &&
		event $lied exception >why && grep "\"type\": \"route\".*invalid resources" why && event $lied clean &&
		event $one alloc >alloc && event $two alloc >alloc &&
		weir cancel $one $two
	'
done
# Kills: anybody keeps job-route busy with the R of a machine, before it asks whose job it is about.
test_expect_success 'R of a job that is not the sender'"'"'s own is not read' '
	python3 -c "
import wire
payload = {\"jobid\": 12345, \"session\": \"s\", \"serves\": [\"good\"], \"known\": [], \"R\": \"no R\", \"cores\": 1}
client = wire.Client()
try:
    client.answer(client.start(\"job-route.attach\", payload, flags=wire.STREAMING))
except wire.Failed as failed:
    print(failed)
" >stranger && grep "job 12345 does not run here" stranger
'
test_expect_success 'the parent never took the memory' '
	test $(sed -n "s/VmHWM:[^0-9]*\([0-9]*\).*/\1/p" /proc/$top/status) -lt 500000
'
test_expect_success 'it ends' '
	kill $top && wait $top; test -z "$(leftovers)"
'
test_done
