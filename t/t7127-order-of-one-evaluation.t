#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='jobs are compared by factors of one evaluation, which counts the usage of now, in a partition too'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

# The only full pass is the first. The first job of a member of an @* line has the tree evaluated.
cat >shares.toml <<EOF
"bio" = 1
"bio/@*" = 1
"physics" = 1
"physics/@*" = 1
EOF
cat >site.toml <<EOF
[weir]
share-tree = "$PWD/shares.toml"
update-interval = "1h"
[[partition]]
name = "batch"
cores = 2
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# job ACCOUNT: submits a job that runs until it is ended; its id in digits
job() {
	weir submit --json -A "$1" -c 2 -t 1h sleep inf | jq -r .id
}

test_expect_success 'jobs of an account wait while one of it runs' '
	start_weir --config site.toml --cores 2 &&
	runs=$(job bio) && wait_event $runs start &&
	first=$(job bio) && second=$(job bio) && wait_event $second weir.route
'
test_expect_success 'the first job of another account is before them, above and in the partition' '
	best=$(job physics) && wait_event $best weir.route &&
	wait_until job-priority.places "{\"ids\":[$best]}" ".places[0][1] == 1" &&
	wait_until job-route.locate "{\"id\":$best}" ".id != 0" >located && copy=$(jq .id located) &&
	FLUX_URI=local://$WEIR_RUNDIR/batch/local-0 wait_until sched.why "{\"id\":$copy}" ".place == 1"
'
test_expect_success 'stop' '
	stop_weir >/dev/null
'

# No new member has the tree evaluated. Within update-interval/30 after an evaluation no event does.
sed "s/@\*/@$(id -un)/" shares.toml >shares.new && mv shares.new shares.toml
sed -i "s/1h/5m/" site.toml
passes() {
	rpc job-priority.stats-get | jq .passes
}
test_expect_success 'usage that began soon after an evaluation is counted at its end, though nothing happens then' '
	start_weir --config site.toml --cores 2 &&
	runs=$(job bio) && other=$(job bio) && best=$(job physics) && wait_event $runs start && wait_event $best weir.route &&
	before=$(passes) &&
	wait_until job-priority.places "{\"ids\":[$best]}" ".places[0][1] == 1" &&
	wait_until job-route.locate "{\"id\":$best}" ".id != 0" >located && copy=$(jq .id located) &&
	FLUX_URI=local://$WEIR_RUNDIR/batch/local-0 wait_until sched.why "{\"id\":$copy}" ".place == 1" &&
	test "$(passes)" = "$before"
'
test_done
