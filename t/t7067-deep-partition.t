#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a partition with some thousand waiting jobs: their order there is that of the parent soon after each change'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

EACH=2000
cat >site.toml <<EOF
[weir]
update-interval = "1s"
half-life = "1s"
[weir.users]
alice = 5001
bob = 5002
carol = 5003
[[partition]]
name = "batch"
cores = 1
[[partition]]
name = "side"
cores = 1
EOF
printf '"@alice" = 1\n"@bob" = 1\n"@carol" = 1\n"instances" = 0\n"instances/@*" = 1\n' >shares.toml
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# submit UID: that many jobs of a user, who get no core before the test ends.
submit() {
	python3 "$SHARNESS_TEST_SRCDIR/tools/job.py" --userid $1 --rolemask 3 submit -q batch -r 3600 -t 7200 --copies $EACH >ids.$1
}
# first USER: returns when each waiting job of USER is ahead of all others in the partition.
first() {
	FLUX_URI=local://$WEIR_RUNDIR/batch/local-0 wait_until job-priority.list "{}" \
		"(.jobs | length == 2 * $EACH) and (.jobs[:$EACH] | all(.user == \"$1\"))" >/dev/null
}

test_expect_success 'a partition has four thousand waiting jobs of two users' '
	start_weir --cores 3 --config site.toml --tree shares.toml --statedir "$(pwd)/state" &&
	weir submit --user carol --queue=batch --simulate=1h holds &&
	FLUX_URI=local://$WEIR_RUNDIR/batch/local-0 wait_until job-priority.stats-get "{}" ".running == 1" >/dev/null &&
	submit 5001 && submit 5002 &&
	FLUX_URI=local://$WEIR_RUNDIR/batch/local-0 wait_until job-priority.stats-get "{}" ".pending == 2 * $EACH" >/dev/null
'
# Mutant: 20 values a second go down, as where they are for display alone: 2000 take longer than wait_until waits.
test_expect_success 'who has used less is first with all of his jobs, and then the other one' '
	used=$(weir submit --user alice --queue=side --simulate=1h x) && first bob &&
	weir cancel $used && weir submit --user bob --queue=side --simulate=1h x && first alice
'
test_done
