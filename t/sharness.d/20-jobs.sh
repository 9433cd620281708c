# SPDX-License-Identifier: LGPL-3.0-only
# Sourced by sharness.sh, for the tests of job semantics. Owns: one embedded instance on an imagined node, `job` (job.py).
#   start_instance 'cores = N' [MORE_TOML]   stop_instance   restart_instance [SIGNAL]
SOURCE_DIR=${WEIR_SOURCE_DIR:-$(cd "$SHARNESS_TEST_DIRECTORY/.." && pwd)}
BUILD_DIR=${WEIR_BUILD_DIR:-$SOURCE_DIR/build/dev}
JOBCTL=$SOURCE_DIR/t/tools/job.py
WEIR_BROKER=$BUILD_DIR/bin/weir-broker
job() { "$JOBCTL" "$@"; }

# Returns when all modules run; fails when the broker ends instead. Its words are in broker.out.
launch_broker() {
	rm -f ready && mkfifo ready || return 1
	env -u FLUX_URI -u FLUX_JOB_ID "$WEIR_BROKER" -c "$PWD/broker.toml" --rundir "$PWD/run" -S "statedir=$PWD/state" \
		--ready-fd 9 9>ready >>broker.out 2>&1 3>&- 4>&- 5>&- </dev/null &
	BROKER_PID=$!
	read -r FLUX_URI <ready && export FLUX_URI
}
start_instance() {
	mkdir -p run state
	cat >broker.toml <<-EOT
	[weir-broker]
	modules = ["kvs", "resource", "job-manager", "job-exec", "sched-weir-fcfs"]
	[[resource.config]]
	hosts = "node0"
	cores = "0-$((${1#*= } - 1))"
	$2
	EOT
	trap 'jobs_test_code=$?; kill -9 $BROKER_PID 2>/dev/null; (exit $jobs_test_code); die' EXIT
	launch_broker || { cat broker.out; echo "Bail out! the broker did not start"; exit 1; }
}
stop_instance() {
	kill "$BROKER_PID" && wait "$BROKER_PID"
}
# restart_instance KILL|TERM: ends the broker that way and starts it again on the same statedir.
restart_instance() {
	kill -"${1:-TERM}" "$BROKER_PID"
	wait "$BROKER_PID" 2>/dev/null
	launch_broker
}
