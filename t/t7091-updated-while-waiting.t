#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a waiting job whose account, project or time limit changes goes down anew; only partitions use their queue'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir.users]
alice = 5001
[[partition]]
name = "batch"
cores = 2
EOF
cat >shares.toml <<EOF
"bio" = 1
"bio/@alice" = 1
"chem" = 1
"chem/@alice" = 1
"bio/@$(id -un)" = 1
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# set_to ID KEY VALUE: as flux update
set_to() {
	call job-manager.update "{\"id\":$1,\"updates\":{\"attributes.system.$2\":$3}}"
}
# went_down_again ID: it was handed down twice
went_down_again() {
	wait_until job-info.lookup "{\"id\":$1,\"keys\":[\"eventlog\"],\"flags\":0}" ".eventlog | [scan(\"weir.route\")] | length >= 2" >/dev/null
}
# charged ACCOUNT: what the report of usage has of it and its queue
charged() {
	weir usage --json >j && field j "[n[\"charged_core_us\"] > 0 for n in d[\"nodes\"] if n[\"path\"] == \"$1/@alice\"][0]"
}
idle="([.nodes[] | select(.running_cores > 0)] | length) == 0"

test_expect_success 'a job waits in a partition, its account changes: the new one is charged, and the old one not' '
	start_weir --cores 4 --config site.toml --tree shares.toml --statedir "$(pwd)/state" && are_up batch &&
	gated runs -q batch -n1 -c2 && wait_event $runs start && a=$(weir submit --user alice -q batch -A bio --simulate=1s --json x | jq .id) &&
	wait_event $a weir.route && set_to $a bank "\"chem\"" && went_down_again $a && end runs && wait_event $a clean &&
	wait_until job-priority.usage "{}" ".nodes[] | select(.path == \"chem/@alice\") | .charged_core_us > 0" &&
	test "$(charged chem)" = True && test "$(charged bio)" = False
'
test_expect_success 'its time limit changes: the new one is in force' '
	gated more -q batch -n1 -c2 && wait_event $more start && b=$(weir submit --user alice -q batch -A bio -t 1s --simulate=2s --json x | jq .id) &&
	wait_event $b weir.route && set_to $b duration 60 && end more && ended_well $b
'
test_expect_success 'of a job that runs in a partition it is refused: it would have no effect' '
	gated long -q batch -n1 -c2 -t 1h && wait_event $long start && test_expect_code 1 set_to $long duration 7200 >out && cat out &&
	grep "the job runs in a partition, where its time limit does not change any more" out
'
test_expect_success 'a change while the module was away is followed when it is back' '
	c=$(weir submit --user alice -q batch -A bio --simulate=1s --json x | jq .id) && wait_event $c weir.route &&
	call module.remove "{\"name\":\"job-route\"}" && set_to $c bank "\"chem\"" && call module.load "{\"path\":\"job-route\",\"args\":[]}" && end long && wait_event $c clean
'
test_expect_success 'the queue of the partitions takes no job of a user, and says where to submit; the owner may use it' '
	test_expect_code 1 weir submit --user alice -q instances --simulate=1s x 2>err && cat err &&
	grep "the queue instances is for the partitions themselves: submit to batch" err && weir submit -q instances --simulate=0.1s --wait x
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
