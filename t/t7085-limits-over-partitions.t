#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='limits of usage are checked against the usage of the whole site, not by that of one partition'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir]
decay = "none"
update-interval = "200ms"
[weir.users]
alice = 5001
bob = 5002
[[partition]]
name = "batch"
cores = 4
[[partition]]
name = "debug"
cores = 4
EOF
cat >shares.toml <<EOF
"bio" = 1
"bio/@alice" = { shares = 1, usage_max = "60%" }
"bio/@bob" = 1
EOF
# has_used PLACE USER CORE_US: the user's jobs have ended there, and so many microseconds of a core are charged
has_used() {
	FLUX_URI=local://$WEIR_RUNDIR/$1local-0 wait_until job-priority.usage "{}" \
		".nodes[] | select(.path == \"bio/@$2\") | .running_cores == 0 and .charged_core_us > $3" >/dev/null
}

in_debug() (
	FLUX_URI=local://$WEIR_RUNDIR/debug/local-0 && "$@"
)

test_expect_success 'bob uses most of the site, alice all that was used in debug' '
	start_weir --cores 9 --config site.toml --tree shares.toml && FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI &&
	weir submit --user bob -q batch -n4 --simulate=3s --wait x && weir submit --user alice -q debug -n2 --simulate=1s --wait x &&
	has_used "" bob 11000000 && has_used "" alice 1900000 && has_used debug/ alice 1900000
'
test_expect_success 'her next job starts in debug: she is below 60 % of all' '
	second=$(weir submit --json --user alice -q debug -n2 --simulate=1s x | jq .id) && wait_event $second start && wait_event $second clean
'
test_expect_success 'so does one that she submits to debug itself' '
	direct=$(in_debug weir submit --json --user alice -q "" -n1 --simulate=1s x | jq .id) &&
	in_debug wait_event $direct start && in_debug wait_event $direct clean
'
test_expect_success 'when she has used 60 % of all, she waits for the site' '
	weir submit --user alice -q debug -n4 --simulate=6s --wait x && has_used "" alice 20000000 &&
	last=$(weir submit --json --user alice -q debug -n1 --simulate=1s x | jq .id) && wait_event $last priority &&
	weir why $last | tee why && grep "bio/@alice has used its 60%" why &&
	direct=$(in_debug weir submit --json --user alice -q "" -n1 --simulate=1s x | jq .id) &&
	in_debug wait_until job-priority.explain "{\"id\":$direct}" "select(.limit != null and (.limit | test(\"bio/@alice has used its 60%\")))" >/dev/null &&
	in_debug weir why $direct | tee why && grep "bio/@alice has used its 60%" why && stop_weir
'
test_done
