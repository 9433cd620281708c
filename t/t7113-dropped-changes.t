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
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
