#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='conservative-fw keeps the places of jobs when nodes are drained; a forecast goes on where its budget ended'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
test -x "$WEIR_BROKER" || { skip_all="weir-broker is not built"; test_done; }

# config POLICY: the modules, the scheduler with this policy
config() {
	printf '[weir-broker]\nmodules = ["kvs", "resource", "job-manager", "job-exec", { name = "sched-weir-easy", args = ["policy=%s"] }]\n' $1
}
config conservative-fw >kept.toml && cat >>kept.toml <<\EOF
[[resource.config]]
hosts = "node[0-3]"
cores = "0"
EOF
config easy >wide.toml && cat >>wide.toml <<\EOF
[resource.imagined]
nodes = 2000
cores = 2
EOF
job() {
	submit --simulate 2h "$@" -- x
}
cancel() {
	call job-manager.raise "{\"id\":$1,\"severity\":0,\"type\":\"cancel\"}"
}
has_event() {
	call job-manager.getattr "{\"id\":$1,\"attrs\":[\"eventlog\"]}" | jq -e "[.eventlog[].name] | index(\"$2\")" >/dev/null
}

test_expect_success 'a drain of a node that no job needs gives nobody a later place' '
	mkdir kept.state && start_broker kept -c kept.toml -S "statedir=$PWD/kept.state" &&
	runs=$(job -n3 --duration 600) && wait_event $runs start &&
	first=$(job -n3 --duration 3600) && wait_event $first priority &&
	later=$(job -n3 --duration 3600 --urgency 31) && wait_event $later priority &&
	call resource.drain "{\"targets\":\"node3\",\"reason\":\"fan\"}" && cancel $runs &&
	wait_event $first start && ! has_event $later alloc
'
test_expect_success 'who was submitted while all was drained starts when the nodes come back' '
	call resource.drain "{\"targets\":\"node[0-2]\",\"reason\":\"fan\"}" && cancel $later && cancel $first && wait_event $first clean &&
	waits=$(job -n2 --duration 60) && wait_event $waits priority && ! has_event $waits alloc &&
	call resource.undrain "{\"targets\":\"node[1-2]\"}" && wait_event $waits start && stop_broker kept
'

# On 2,000 nodes 100 jobs run. The first of 301 others needs all nodes. For the rest enough cores are free, but not on
# enough nodes: a pass looks at the nodes for each of them.
cat >fill.py <<\EOF
import base64, json, os, wire
client = wire.Client()
def submit(nodes, cores, duration, constraint):
    slot = {"type": "slot", "count": 1, "label": "task", "with": [{"type": "core", "count": cores}]}
    system = {"duration": duration, "exec": {"test": {"run_duration": "2h"}}, "constraints": constraint}
    spec = {"version": 1, "resources": [{"type": "node", "count": nodes, "with": [slot]}],
            "tasks": [{"command": ["x"], "slot": "task", "count": {"per_slot": 1}}], "attributes": {"system": system}}
    header = b"version\0i1\0userid\0i%d\0mechanism\0snone\0" % os.getuid()
    signed = [base64.b64encode(text).decode() for text in (header, json.dumps(spec).encode())] + ["none"]
    return json.loads(client.rpc("job-ingest.submit", {"J": ".".join(signed), "urgency": 16, "flags": 0}))["id"]
for i in range(100):
    submit(1, 1, 1000 + i, {"ranks": [str(i)]})
head = submit(2000, 2, 600, {})
for i in range(300):
    last = submit(1940, 2, 5, {"not": [{"ranks": [str(1000 + i)]}]})
print(head, last)
EOF
cat >why.py <<\EOF
import json, sys, wire
client = wire.Client()
reached = [0]
answer = {}
while "t_estimate" not in answer and len(reached) < 200:
    answer = json.loads(client.rpc("sched.why", {"id": int(sys.argv[1])}))
    if "t_estimate" not in answer:
        assert answer["not_before"] > reached[-1], (reached, answer)
        reached.append(answer["not_before"])
assert len(reached) > 5 and answer["t_estimate"] > reached[-1], (reached, answer)
EOF
test_expect_success 'a forecast takes several questions, each of which goes on from the one before' '
	mkdir wide.state && start_broker wide -c wide.toml -S "statedir=$PWD/wide.state" && set -- $(python3 fill.py) && wait_event $2 priority &&
	wait_until sched.stats-get "{}" ".pending == 301" >/dev/null && python3 why.py $1 && stop_broker wide
'
test_done
