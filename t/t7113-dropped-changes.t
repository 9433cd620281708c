#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='what `weir partition` had set and a changed configuration dropped stays dropped, also after a restart'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[[partition]]
name = "batch"
cores = 3
[[partition]]
name = "debug"
cores = 1
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
begin() {
	start_weir --cores 6 --config site.toml --statedir "$(pwd)/state"
}
# kept FILTER: whether the file of the changes fulfills the jq filter
kept() {
	jq -e "$1" "$(find state -maxdepth 1 -name partitions.json)"
}
# has_cores N: what the file says is in force
has_cores() {
	sed -i "s/^cores = [23]/cores = $1/" site.toml && weir reload && partition batch "select(.state == \"up\" and .cores == $1 and .changed == false)"
}

test_expect_success 'a partition is resized and drained, another one is drained' '
	begin && are_up batch debug && weir partition resize batch --cores 4 && weir partition drain batch && weir partition drain debug &&
	kept ".changes | keys == [\"batch\", \"debug\"]"
'
test_expect_success 'the file changes the first: the command is dropped, that of the other stays' '
	has_cores 2 && log_has "The configuration of the partition batch has changed" && kept ".changes | keys == [\"debug\"]" && partition debug "select(.state == \"drained\")"
'
test_expect_success 'the file is as it was: nothing comes back, neither now nor by a restart' '
	has_cores 3 && stop_weir && begin && partition batch "select(.state == \"up\" and .cores == 3 and .changed == false)" &&
	partition debug "select(.state == \"drained\")"
'
test_expect_success 'the file changes while the instance is down: the same' '
	weir partition drain batch && stop_weir && sed -i "s/^cores = 3/cores = 2/" site.toml && begin && are_up batch && kept ".changes | keys == [\"debug\"]" &&
	stop_weir && sed -i "s/^cores = 2/cores = 3/" site.toml && begin && are_up batch
'
test_expect_success 'a configuration with which a change is not valid is refused, and nothing is dropped' '
	stop_weir && printf "[weir.users]\nguest = 4711\n" >>site.toml && begin && are_up batch &&
	weir partition add more --queue batch --cores 1 --takes users=guest && weir partition drain batch && cp site.toml good.toml &&
	sed -i "/^guest/d" site.toml && test_must_fail weir reload 2>err && cat err && grep "there is no user guest on this machine" err && grep "weir partition. has set that" err &&
	partition batch "select(.state == \"drained\")" && partition more "select(.state == \"up\")" && kept ".changes | has(\"more\")"
'
test_expect_success 'at a start with it the partitions are as configured, and what is drained stays so' '
	stop_weir && begin && log_has "there is no user guest.*the partitions are as configured" && partition batch "select(.state == \"drained\")" &&
	weir partition list >list && ! grep more list && stop_weir && cp good.toml site.toml && begin && are_up more && partition batch "select(.state == \"drained\")"
'
# Kills: the partition begins in its first folder again, and the jobs come back with the next resize.
test_expect_success 'after a resize and a restart of the instance a partition has the jobs that it alone knows' '
	weir partition resume batch && are_up batch && weir partition resize batch --cores 1 && is_alone batch &&
	{ kept ".folders.batch" || { weir partition restart batch && is_alone batch && kept ".folders.batch"; }; } &&
	below=$(weir partition list --json | jq -r ".partitions[] | select(.name == \"batch\") | .instances[0].uri") &&
	own=$(FLUX_URI=$below weir submit --wait --json true | jq .id) && stop_weir && begin && are_up batch &&
	FLUX_URI=$below weir jobs -a --json >jobs && jq -e ".jobs[] | select(.id == $own)" jobs
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
