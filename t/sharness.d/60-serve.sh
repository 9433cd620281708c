# SPDX-License-Identifier: LGPL-3.0-only
# For tests of `weir serve`. Sourced by sharness. WEIR_PAGES: process ids of the servers that a test started.
SERVE_CLIENT=$SHARNESS_TEST_SRCDIR/tools/serve_client.py
export SERVE_CLIENT

# start_serve NAME [OPTION...]: returns when it takes connections; its JSON is in NAME.json, stderr in NAME.err, its process
# id in NAME_pid.
start_serve() {
	serve_name=$1
	shift
	rm -f "$serve_name.fifo" && mkfifo "$serve_name.fifo" || return 1
	weir serve --json "$@" >"$serve_name.fifo" 2>"$serve_name.err" 8<&- &
	eval "${serve_name}_pid=$!"
	WEIR_TEST_BROKERS="$WEIR_TEST_BROKERS $!"
	exec 7<"$serve_name.fifo"
	sed '/^}/q' <&7 >"$serve_name.json"
	exec 7<&-
	test -s "$serve_name.json" || { cat "$serve_name.err"; return 1; }
}

# serve_url NAME: the address with its token.
serve_url() {
	field "$1.json" "d[\"url\"]"
}

# stop_serve NAME: Ctrl-C; its exit code.
stop_serve() {
	eval "kill -INT \$${1}_pid; wait \$${1}_pid"
}

# Sets the prerequisite CHROMIUM where there is one, and SCREENS, where pictures of the page are kept.
use_browser() {
	command -v chromium >/dev/null && test_set_prereq CHROMIUM
	SCREENS=$WEIR_BUILD_DIR/screens
	export SCREENS
}
