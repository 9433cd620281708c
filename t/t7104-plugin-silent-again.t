#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='job-priority says each time that the job-manager stops answering it, and not at each attempt

The broker has no job-manager: the test is it, and refuses what job-priority sends to the plugin when it wants.'
. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"

cat >job-manager.py <<\EOF
import os
import wire

SILENT, UPDATE = 110, "job-manager.jobpriority.update"
manager = wire.Client()
manager.rpc("service.add", {"service": "job-manager"})
manager.start("module.load", {"path": os.path.abspath(os.environ["PRIORITY_SO"]), "args": []})


def request(topic):
    while True:
        message = manager.receive()
        if message.kind == wire.REQUEST and message.topic == topic:
            return message


manager.respond(request("job-manager.events-journal"), {"id": -1, "events": []})
for topic in ["job-manager.jobpriority.accounts"] * 3:
    manager.respond(request(topic), {}, SILENT)
manager.respond(request("job-manager.jobpriority.accounts"), {"nonce": 1})
manager.respond(request(UPDATE), {"nonce": 1})
manager.start("job-priority.sync", {})
manager.respond(request(UPDATE), {}, SILENT)
request("job-manager.jobpriority.accounts")  # it was told when it tries again
EOF

test_expect_success 'it is silent twice, and answers in between: two warnings' '
	printf "[weir-broker]\nmodules = []\n" >instance.toml && start_broker b --config instance.toml &&
	timeout 100 python3 job-manager.py && stream log.dmesg "{\"follow\":false}" >log && cat log &&
	test "$(grep -c "does not answer" log)" = 2 && test "$(grep -c "sending it every priority" log)" = 1
'
test_done
