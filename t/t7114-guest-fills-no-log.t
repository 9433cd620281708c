#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the failed notifications of a guest do not fill the log; the owner sees his own, each on one line'

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
# told TOPIC: lines of the log that name it
told() {
	stream log.dmesg "{}" >log && grep -c "$1: " log || :
}

test_expect_success 'a partition is up' '
	start_weir --cores 2 --config site.toml && are_up batch
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
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
