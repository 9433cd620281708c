# SPDX-License-Identifier: LGPL-3.0-only
# For tests on the embedded broker: starting and stopping brokers, talking to them without a Flux. Sourced by sharness.

WEIR_BUILD_DIR=${WEIR_BUILD_DIR:-$(cd "$SHARNESS_TEST_SRCDIR/.." && pwd)/build/dev}
WEIR_BROKER=$WEIR_BUILD_DIR/bin/weir-broker
WIRE=$SHARNESS_TEST_SRCDIR/tools/call.py
PYTHONPATH=$SHARNESS_TEST_SRCDIR/tools:$PYTHONPATH # `import wire`
unset PYTHONDONTWRITEBYTECODE # compiled once, wire.py starts faster
export WEIR_BUILD_DIR WEIR_BROKER WIRE PYTHONPATH

# A sanitizer keeps memory of its own beside the program's, and makes it slower: a bound on memory is multiplied by the first,
# the length of a demo by the second. It also refuses libraries that replace the C library's functions: such a test needs
# UNSANITIZED.
SANITIZER_MEMORY=1
export SANITIZER_TIME=1
if ldd "$WEIR_BROKER" 2>/dev/null | grep -q "lib[at]san"; then
	SANITIZER_MEMORY=4
	SANITIZER_TIME=4
else
	test_set_prereq UNSANITIZED
fi

# The real command, where there is one, talks to our broker too.
WEIR_FLUX=${WEIR_FLUX:-$(command -v flux || test ! -x /opt/flux/bin/flux || echo /opt/flux/bin/flux)}
test -x "$WEIR_FLUX" && test_set_prereq FLUX

# broker_config MODULES PLUGIN CORES: what most configurations begin with: these modules beside the KVS, this jobtap
# plugin, and one node with these cores.
broker_config() {
	cat <<-EOF
	[weir-broker]
	modules = ["kvs"$(printf ', "%s"' $1)]
	[job-manager]
	plugins = [{ load = "$2" }]
	[[resource.config]]
	hosts = "node0"
	cores = "$3"
	EOF
}

# conf_of_both: writes conf.toml, one node of 8 cores, for the embedded broker and for a stock one.
conf_of_both() {
	cat >conf.toml <<-\EOF
		[weir-broker]
		modules = ["kvs", "resource", "job-manager", "job-exec", "sched-weir-easy"]
		[resource]
		noverify = true
		[[resource.config]]
		hosts = "node0"
		cores = "0-7"
	EOF
}

# start_broker NAME [weir-broker options]: starts a broker with the run directory ./NAME and returns when all its modules
# run; exports FLUX_URI and sets NAME_pid. What it writes on stderr is in NAME.err. Fails if the broker ends instead.
start_broker() {
	broker_name=$1
	shift
	rm -f "$broker_name.ready" && mkfifo "$broker_name.ready" || return 1
	env -u FLUX_URI -u FLUX_JOB_ID -u FLUX_JOB_ID_PATH \
		"$WEIR_BROKER" --rundir "$PWD/$broker_name" --ready-fd 9 "$@" \
		9>"$broker_name.ready" 2>"$broker_name.err" 3>&- 4>&- 5>&- </dev/null >"$broker_name.out" &
	eval "${broker_name}_pid=$!"
	WEIR_TEST_BROKERS="$WEIR_TEST_BROKERS $!"
	read -r FLUX_URI <"$broker_name.ready" || {
		cat "$broker_name.err"
		return 1
	}
	export FLUX_URI
}

# stop_broker NAME: asks it to end and returns its exit code.
stop_broker() {
	eval "kill -TERM \$${1}_pid; wait \$${1}_pid"
}

# broker_pid NAME
broker_pid() {
	eval "echo \$${1}_pid"
}

# Nothing that a test started outlives it, however it ends.
end_test_brokers() {
	for pid in $WEIR_TEST_BROKERS; do
		kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	for pid in $WEIR_TEST_STARTS; do  # of start_weir: each ends its brokers itself
		kill -INT "$pid" 2>/dev/null && cat <&8 >/dev/null && wait "$pid" 2>/dev/null
	done
	:
}
trap 'broker_test_code=$?; end_test_brokers; (exit $broker_test_code); die' EXIT

# call TOPIC [JSON]: the answer, or "error N: text" and status 1. FLUX_URI says where.
call() {
	python3 -S "$WIRE" rpc "$@"
}

# submit [options] -- COMMAND: prints the job's id.
submit() {
	python3 -S "$WIRE" submit "$@"
}

# wait_event ID NAME: waits for the event, prints its context.
wait_event() {
	python3 -S "$WIRE" wait-event "$@"
}

# wait_until TOPIC JSON FILTER: the first answer for which the jq filter holds. It is asked for again whenever the instance
# tells of a job or logs something: for states that have no event of their own.
wait_until() {
	python3 -S "$WIRE" until "$@"
}

# stream TOPIC [JSON] [--count N]: each answer on a line.
stream() {
	python3 -S "$WIRE" stream "$@"
}

# log_has REGEX [N]: returns when N lines of the broker's log match (as Python's re has it), and shows the last of them.
log_has() {
	timeout 120 python3 -S "$WIRE" stream log.dmesg '{"follow":true}' --until "$1" --nth "${2:-1}"
}

# wait_changes FILE COUNT: returns when the file, which is written in place, was seen to change so many times.
wait_changes() {
	python3 - "$1" "$2" <<-\EOF
		import ctypes, os, pathlib, select, sys
		modified = 2  # IN_MODIFY
		file, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
		libc = ctypes.CDLL(None)
		fd = libc.inotify_init1(os.O_CLOEXEC)
		watch = libc.inotify_add_watch(fd, os.fsencode(file), modified)
		text = file.read_bytes()
		while watch >= 0 and count > 0 and select.select([fd], [], [], 60)[0]:
		    os.read(fd, 4096)
		    text, had = file.read_bytes(), text
		    count -= text != had
		sys.exit(count > 0)
	EOF
}

# wait_gone PID: returns when the process has ended; it need not be ours. The kernel tells, nobody sleeps.
wait_gone() {
	python3 - "$1" <<-\EOF
		import os, select, sys
		try:
		    fd = os.pidfd_open(int(sys.argv[1]))
		except ProcessLookupError:
		    sys.exit(0)
		sys.exit(0 if select.select([fd], [], [], 30)[0] else 1)
	EOF
}
