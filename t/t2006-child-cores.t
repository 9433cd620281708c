#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a child instance that gets other cores after a restart goes on with its jobs'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

cat >child.toml <<EOF
[weir-broker]
modules = ["kvs", "resource", "job-manager", "job-exec", "sched-weir-fcfs"]
EOF

cat >child.sh <<EOF
exec "$WEIR_BROKER" -c "\$1/child.toml" --rundir "\$1/\$2" -S "statedir=\$1/\$2.state" --ready-fd 9 9>"\$1/\$2.ready"
EOF

# start_child NAME: a broker as a job on one core, with its state in ./NAME.state; returns when it answers.
start_child() {
	mkdir -p "$1" "$1.state" && chmod 700 "$1" && rm -f "$1.ready" && mkfifo "$1.ready" &&
	job submit -n1 -- sh "$PWD/child.sh" "$PWD" "$1" >"$1.id" &&
	read -r uri <"$1.ready" && test -n "$uri"
}
in_child() {
	FLUX_URI="local://$PWD/$1/local-0" job "${@:2}"
}
# The parent's number of the core that the child has.
core_of() {
	job rpc job-info.lookup "{\"id\":$(cat "$1.id"),\"keys\":[\"R\"],\"flags\":0}" |
		python3 -c 'import json, sys
print(json.loads(json.load(sys.stdin)["R"])["execution"]["R_lite"][0]["children"]["core"])'
}

start_instance 'cores = 2'

test_expect_success 'two children, a core each; a job runs in each' '
	start_child a && start_child b &&
	test "$(core_of a)" = 0 && test "$(core_of b)" = 1 &&
	for child in a b; do
		in_child $child submit -n1 -r 600 >$child.job &&
		in_child $child wait "$(cat $child.job)" start || return 1
	done
'
test_expect_success 'after a kill they come back in the other order and have changed cores' '
	restart_instance KILL && start_child b && start_child a &&
	test "$(core_of b)" = 0 && test "$(core_of a)" = 1
'
test_expect_success 'their jobs go on' '
	for child in a b; do
		in_child $child events "$(cat $child.job)" >events &&
		test_must_fail grep exception events &&
		in_child $child jobs state | grep "^$(cat $child.job) 16$" || return 1
	done
'
stop_instance
test_done
