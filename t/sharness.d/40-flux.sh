# SPDX-License-Identifier: LGPL-3.0-only
# For tests on a stock Flux: where it is, and how to run a script inside an instance. Sourced by sharness.

WEIR_BUILD_DIR=${WEIR_BUILD_DIR:-$(cd "$SHARNESS_TEST_SRCDIR/.." && pwd)/build/dev}
PRIORITY_SO=$WEIR_BUILD_DIR/lib/flux/modules/job-priority.so
PRIORITY_TAP=$WEIR_BUILD_DIR/lib/flux/job-manager/plugins/job-priority-tap.so
export WEIR_BUILD_DIR PRIORITY_SO PRIORITY_TAP

# Prints the flux program: $WEIR_FLUX, else the one in PATH, else the customary prefix. Fails when there is none, and for
# a build with sanitizers, whose modules only a program with the same sanitizers can load.
find_flux() {
	! grep -qs "^WEIR_SANITIZE:[A-Z]*=." "$WEIR_BUILD_DIR/CMakeCache.txt" || return 1
	for candidate in "$WEIR_FLUX" "$(command -v flux)" /opt/flux/bin/flux; do
		if test -x "$candidate" && env -u FLUX_URI "$candidate" version >/dev/null 2>&1; then
			echo "$candidate"
			return 0
		fi
	done
	return 1
}

# finds_modprobe_files FLUX: whether that Flux looks for modprobe files of packages, and so loads modules of Weir by itself.
finds_modprobe_files() {
	grep -qs FLUX_MODPROBE_PATH_APPEND "$("$1" python -c 'import flux.modprobe; print(flux.modprobe.__file__)' 2>/dev/null)"
}

# run_under_flux CONFIG [OPTION...]: runs this test inside one stock instance of one broker, with the configuration
# (a TOML file) and further options of `flux start`; the whole test is skipped, visibly, where there is no Flux.
run_under_flux() {
	if test -n "$WEIR_UNDER_FLUX"; then
		return 0
	fi
	STOCK_FLUX=$(find_flux) || {
		skip_all='no stock Flux here that can load this build: put flux into PATH or set WEIR_FLUX'
		test_done
	}
	export STOCK_FLUX
	PATH=$(dirname "$STOCK_FLUX"):$PATH
	cd "$SHARNESS_TEST_SRCDIR" || exit 1
	test "$debug" = t || rm -rf "$SHARNESS_TRASH_DIRECTORY"
	export PATH
	flux_config=$1 && shift
	WEIR_UNDER_FLUX=$flux_config exec env -u FLUX_URI -u SHARNESS_TEST_SRCDIR -u SHARNESS_TEST_DIRECTORY \
		flux start --test-size=1 --setattr=broker.module-nopanic=1 "--config-path=$flux_config" "$@" \
		bash "$0" ${WEIR_TEST_FLAGS}
}

# rpc TOPIC [JSON]: the answer as one line of JSON, or "error N: text" and status 1.
rpc() {
	flux python -c '
import flux, json, sys
try:
    print(json.dumps(flux.Flux().rpc(sys.argv[1], json.loads(sys.argv[2])).get(), sort_keys=True))
except OSError as e:
    print(f"error {e.errno}: {e.strerror}")
    sys.exit(1)
' "$1" "${2:-{\}}"
}

# A pass now, and every value with the plugin. What happened before this call, seen from the same client, is in it.
sync_priorities() {
	rpc job-priority.sync
}

priority_of() {
	flux jobs -n -o '{priority}' "$1"
}

state_of() {
	flux jobs -n -o '{state}' "$1"
}

# stat_of KEY: one number of the module's stats.
stat_of() {
	rpc job-priority.stats-get | jq -r ".$1"
}

# The process of a module that this instance loaded with --exec.
module_pid() {
	pgrep -f -P "$(flux getattr broker.pid)" "module-exec.*job-priority.so" | head -n 1
}

# ---- the same script on every broker that is here ----

PRIORITY_CONF=$SHARNESS_TEST_SRCDIR/priority-conf
WEIR_BROKER=$WEIR_BUILD_DIR/bin/weir-broker
export PRIORITY_CONF

# The brokers that a script can be run on: `flux`, and `weir` where it is built. Both need the flux command as a client.
brokers() {
	find_flux >/dev/null || return 0
	echo flux
	test ! -x "$WEIR_BROKER" || echo weir
}

# Sets BROKERS, or skips the test.
require_some_broker() {
	BROKERS=$(brokers)
	if test -z "$BROKERS"; then
		skip_all='no flux command here, which drives both brokers: put flux into PATH or set WEIR_FLUX'
		test_done
	fi
	PATH=$(dirname "$(find_flux)"):$PATH
	export PATH
}

# in_instance BROKER STATEDIR SCRIPT: one life of an instance with module and plugin loaded; the script's status.
# SHARES names another share-tree file, EXTRA has lines for [weir] (with \n between them).
# The configuration is one file: a directory would be read whole, tree included.
in_instance() {
	rm -rf instance-conf && mkdir -p instance-conf "$2" || return 1
	shares=${SHARES:-$PRIORITY_CONF/shares.toml}
	cp "$shares" instance-conf/ || return 1
	{
		sed "s|^share-tree.*|share-tree = \"$(basename "$shares")\"${EXTRA:+\n$EXTRA}|" "$PRIORITY_CONF/weir.toml"
		printf '[job-manager]\nplugins = [{ load = "%s" }]\n' "$PRIORITY_TAP"
	} >instance-conf/instance.toml
	{
		echo "SHARNESS_TEST_SRCDIR=$SHARNESS_TEST_SRCDIR"
		echo ". $SHARNESS_TEST_SRCDIR/sharness.d/40-flux.sh"
		tell_failure
		test "$1" = weir || echo "flux module load $PRIORITY_SO"
		cat "$3"
		# A module that is still loaded at the end makes a stock broker exit with 1.
		test "$1" = weir || echo "flux module remove job-priority"
	} >instance.sh
	"in_$1" "$2"
}

# Lines for the head of a script that runs under bash -e: which command of it failed.
tell_failure() {
	echo 'set -E'
	echo 'trap '\''echo "failed, line $LINENO of $0: $BASH_COMMAND" >&2'\'' ERR'
}

# steps_of FILE: that script, where each line that begins with "# " begins a step of that name.
steps_of() {
	sed "s/^# \\(.*\\)/echo \"\\1\" >>\"\$STEPS\"/" "$1"
}

# each_step PREFIX COMMAND...: runs what runs such a script; then one assertion for each step that was begun. The one that
# the command failed in fails, with all that was written.
each_step() {
	step_prefix=$1
	shift
	STEPS=$PWD/steps
	export STEPS
	echo "it starts" >"$STEPS"
	"$@" >steps.out 2>&1
	steps_status=$?
	steps_left=$(wc -l <"$STEPS")
	while read -r step <&7; do
		steps_left=$((steps_left - 1))
		test_expect_success "$step_prefix: $step" "test $steps_left -gt 0 || test $steps_status = 0 || { cat steps.out; false; }"
	done 7<"$STEPS"
}

in_flux() {
	flux start --test-size=1 --setattr=broker.module-nopanic=1 "--setattr=statedir=$1" \
		"--config-path=$PWD/instance-conf/instance.toml" bash -e ./instance.sh
}

in_weir() {
	cat >>instance-conf/instance.toml <<-EOF
	[weir-broker]
	modules = ["kvs", "resource", "job-manager", "job-exec", "sched-weir-fcfs", "job-priority"]
	[resource]
	noverify = true
	[[resource.config]]
	hosts = "test"
	cores = "0-1"
	EOF
	boot_weir "$1" || return 1
	bash -e ./instance.sh
	status=$?
	kill -TERM "$weir_pid"
	wait "$weir_pid" || status=1
	forget_weir
	return $status
}

# boot_weir STATEDIR: our broker with ./instance-conf/instance.toml; sets weir_pid, rundir and FLUX_URI.
boot_weir() {
	rundir=$(mktemp -d) && mkfifo "$rundir/ready" || return 1
	"$WEIR_BROKER" -c "$PWD/instance-conf/instance.toml" -S "statedir=$1" --rundir "$rundir" --ready-fd 9 9>"$rundir/ready" &
	weir_pid=$!
	read -r FLUX_URI <"$rundir/ready" || return 1
	export FLUX_URI
}

# After the end of what boot_weir started, however it ended.
forget_weir() {
	wait "$weir_pid" 2>/dev/null || :
	rm -rf "$rundir"
	unset FLUX_URI
	return 0
}
