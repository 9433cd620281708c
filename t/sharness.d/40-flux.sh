# SPDX-License-Identifier: LGPL-3.0-only
# For tests on a stock Flux: where it is, and how to run a script inside an instance. Sourced by sharness.

WEIR_BUILD_DIR=${WEIR_BUILD_DIR:-$(cd "$SHARNESS_TEST_SRCDIR/.." && pwd)/build/dev}
PRIORITY_SO=$WEIR_BUILD_DIR/lib/flux/modules/job-priority.so
PRIORITY_TAP=$WEIR_BUILD_DIR/lib/flux/job-manager/plugins/job-priority-tap.so
export WEIR_BUILD_DIR PRIORITY_SO PRIORITY_TAP

# Prints the flux program: $WEIR_FLUX, else the one in PATH, else the customary prefix. Fails when there is none.
find_flux() {
	for candidate in "$WEIR_FLUX" "$(command -v flux)" /opt/flux/bin/flux; do
		if test -x "$candidate" && "$candidate" version >/dev/null 2>&1; then
			echo "$candidate"
			return 0
		fi
	done
	return 1
}

# Runs this test inside one stock instance of one broker, with the configuration in $1 (a directory); the whole test
# is skipped, visibly, where there is no Flux.
run_under_flux() {
	if test -n "$WEIR_UNDER_FLUX"; then
		return 0
	fi
	STOCK_FLUX=$(find_flux) || {
		skip_all='no stock Flux here: put flux into PATH or set WEIR_FLUX'
		test_done
	}
	export STOCK_FLUX
	PATH=$(dirname "$STOCK_FLUX"):$PATH
	cd "$SHARNESS_TEST_SRCDIR" || exit 1
	test "$debug" = t || rm -rf "$SHARNESS_TRASH_DIRECTORY"
	export PATH
	WEIR_UNDER_FLUX=$1 exec env -u SHARNESS_TEST_SRCDIR -u SHARNESS_TEST_DIRECTORY \
		flux start --test-size=1 --setattr=broker.module-nopanic=1 "--config-path=$1" bash "$0" ${WEIR_TEST_FLAGS}
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
