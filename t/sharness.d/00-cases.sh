# SPDX-License-Identifier: LGPL-3.0-only
# Sourced by sharness.sh. A case that fails shows what it wrote, also where nobody asked for that with -v: a failure that does
# not come twice has to explain itself the first time. Replaces sharness's own test_failure_ (1.1.0), which shows the case alone.
if test "$verbose" != t; then
	cases_written=$(mktemp) && exec 3>"$cases_written" 4>&3 && rm -f "$cases_written" # read by its descriptor, gone with the test
fi
test_failure_() {
	test_failure=$((test_failure + 1))
	say_color error "not ok $test_count - $1"
	test "$verbose" = t ||
		awk '/^expecting success: / { text = "" } { text = text "#  " $0 "\n" } END { printf "%s", text }' /proc/$$/fd/3 | tail -n 60
	test "$immediate" = "" || { EXIT_OK=t; exit 1; }
}
