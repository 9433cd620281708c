#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='neither the failed notifications of a guest nor his child fill the log; the owner sees his own, each on one line'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir
use_guest
if ! test_have_prereq GUEST; then
	skip_all='only root can try another user'
	test_done
fi

cat >site.toml <<EOF
[access]
allow-guest-user = true
[queues.own]
[[partition]]
name = "batch"
cores = 1
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
cat >flood.py <<\EOF
import sys, wire

client = wire.Client()
payload = {"id": 1, "topic": "x\n2026-01-01T00:00:00Z job-manager.crit[0]: forged", "jobid": 1, "session": "s"}
for topic in sys.argv[1:]:
    for i in range(1000):
        client.notify(topic, payload)
    client.rpc(topic.split(".")[0] + ".stats-get", {})  # the service has handled them
EOF
# The running job JOB attaches 1100 times on one connection, more often than the ring of the log has lines, and on 50 that end.
cat >attaches.py <<\EOF
import sys, wire

payload = {"jobid": int(sys.argv[1]), "session": "s", "serves": ["own"], "known": [], "cores": 1}
for count in [1100] + [1] * 50:
    client = wire.Client()
    for i in range(count):
        client.answer(client.start("job-route.attach", payload, flags=wire.STREAMING))
    client.sock.close()
EOF
# told TOPIC: lines of the log that name it
told() {
	stream log.dmesg "{}" >log && grep -c "$1: " log || :
}

test_expect_success 'a partition is up' '
	start_weir --cores 4 --config site.toml && are_up batch
'
for topic in job-route.answer job-route.report job-route.ask job-route.attach job-priority.report; do
	test_expect_success "a thousand of $topic add at most ten lines" '
		as_guest python3 flood.py '$topic' && test "$(told '$topic')" -le 10
	'
done
test_expect_success 'one of the owner is told, without what would begin another line, and cut' '
	call job-route.ask "{\"id\":1,\"topic\":\"x\\nforged $(printf "%0100d" 0)\"}" --noresponse && log_has "job-route.ask: .x.x0aforged 0*\.\.\.. is no question" >line && cat line &&
	test "$(wc -l <line)" = 1
'
test_expect_success 'the job of a guest attaches again and again: a few lines, the first among them, and what was told before is there' '
	weir submit --json -q own --user nobody --simulate=1h x | jq .id >job && job=$(cat job) && wait_event $job start &&
	as_guest python3 attaches.py $job && wait_until job-route.tree "{}" "[.children[] | select(.jobid == $job and .state == \"lost\")] != []" &&
	weir log >log && grep -c "child $job attached, knows 0 jobs" log >attached && cat attached && test $(cat attached) -ge 2 &&
	test $(cat attached) -le 11 && test $(grep -c "child $job is gone" log) -le 11 && grep "forged 0" log
'
test_expect_success 'of a job of the owner each line is there' '
	weir submit --json -q own --simulate=1h x | jq .id >job && job=$(cat job) && wait_event $job start &&
	sed "s/1100/3/; s/50/1/" attaches.py >few.py && python3 few.py $job && log_has "child $job is gone" 2 &&
	log_has "child $job attached, knows 0 jobs" 4
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
