# SPDX-License-Identifier: LGPL-3.0-only
# For tests of the weir command: an instance tree by `weir start`, waited for by its first line of output. Sourced by
# sharness.

WEIR_BUILD_DIR=${WEIR_BUILD_DIR:-$(cd "$SHARNESS_TEST_SRCDIR/.." && pwd)/build/dev}
export WEIR_BUILD_DIR

# Puts the built weir first in PATH and forgets instances of the surroundings; skips the test where it is not built.
use_weir() {
	if ! test -x "$WEIR_BUILD_DIR/bin/weir" || ! test -x "$WEIR_BUILD_DIR/bin/weir-broker"; then
		skip_all="weir and weir-broker are not built in $WEIR_BUILD_DIR"
		test_done
	fi
	PATH=$WEIR_BUILD_DIR/bin:$PATH
	WEIR_RUNDIR=$SHARNESS_TRASH_DIRECTORY/run
	LC_ALL=C.UTF-8
	export PATH WEIR_RUNDIR LC_ALL
	unset FLUX_URI XDG_RUNTIME_DIR NO_COLOR
}

# as_guest COMMAND...: as another user than the owner, whose id is $NOBODY. Tests of the prerequisite GUEST run where this
# user can be tried. After use_weir.
use_guest() {
	NOBODY=65534
	test "$(id -u)" = 0 && as_guest weir version >/dev/null 2>&1 && as_guest test -x "$PWD" && test_set_prereq GUEST
	return 0
}
as_guest() {
	PATH=$WEIR_BUILD_DIR/bin:/usr/bin:/bin setpriv --reuid=$NOBODY --regid=$NOBODY --clear-groups timeout 60 "$@"
}

# start_weir [OPTION...]: returns when the tree is up; output in start.out and start.err, process in $WEIR_PID.
start_weir() {
	rm -f start.fifo && mkfifo start.fifo || return 1
	weir start "$@" >start.fifo 2>start.err &
	WEIR_PID=$!
	exec 8<start.fifo
	WEIR_TEST_STARTS="$WEIR_TEST_STARTS $WEIR_PID"
	IFS= read -r line <&8 || { cat start.err; return 1; }
	echo "$line" >start.out
}

# Ctrl-C; returns weir's exit code. What it still says goes to start.out.
stop_weir() {
	kill -INT "$WEIR_PID" && cat <&8 >>start.out
	exec 8<&-
	wait "$WEIR_PID"
}

# Is the last output JSON with this schema? json_is FILE SCHEMA
json_is() {
	python3 -c 'import json, sys; got = json.load(open(sys.argv[1]))["schema"]; sys.exit(got != sys.argv[2] and got)' "$1" "$2"
}

# field FILE EXPRESSION: a Python expression on the document `d`
field() {
	python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

# Processes whose command line names this test's folder.
leftovers() {
	for f in /proc/[0-9]*/cmdline; do
		tr '\0' ' ' <"$f" | grep -q "weir-broker.*$SHARNESS_TRASH_DIRECTORY" && echo "$f"
	done 2>/dev/null
	return 0
}

# Waits for the end of the processes whose command line names this test's folder: of children that end by themselves
# because their parent was killed.
all_gone() {
	for left in $(leftovers); do
		left=${left#/proc/}
		timeout 60 tail -s 0.02 --pid="${left%/cmdline}" -f /dev/null || return 1
	done
	test -z "$(leftovers)"
}
