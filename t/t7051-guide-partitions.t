#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='doc/partitions.md: its files and commands, as a person follows them'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir
PAGE=$SHARNESS_TEST_SRCDIR/../doc/partitions.md
HOME=$(pwd) && WEIR_RUNDIR=$HOME/weir-run && export HOME

run() {
	block "run: $1" >$1.sh && sh -e $1.sh >$1.out 2>&1 || { cat $1.out; false; }
}

test_expect_success 'describe them, and start' '
	block "file: site.toml" >site.toml && grep "weir start --config site.toml --cores 8 --rundir ~/weir-run --statedir ~/weir-state" "$PAGE" &&
	start_weir --config site.toml --cores 8 --rundir ~/weir-run --statedir ~/weir-state && FLUX_URI=local://$HOME/weir-run/local-0 && export FLUX_URI
'
test_expect_success 'look' '
	run look && grep "^batch  *batch  *5 .* up" look.out && grep "^spare .* off" look.out && grep "debug  *fcfs  *[0-9]/2" look.out
'
test_expect_success 'change them while jobs run' '
	id=$(weir submit --queue debug --json sleep 600 | jq .id) && wait_event $id start &&
	run change && weir partition list | tee list && grep "^debug  *debug  *1 .* older instance" list &&
	weir cancel $id && wait_until job-route.partitions "{}" "[.partitions[] | select(.state == \"up\" and (.instances | length == 1)) | .name] == [\"batch\", \"debug\"]"
'
test_expect_success 'one dies' '
	run kill && grep "it is back" kill.out
'
test_expect_success 'the file counts again when its table changes' '
	sed -i "s/cores = 2 */cores = 2\nidle-time = \"1h\" /" site.toml && weir reload && wait_until job-route.partitions "{}" ".partitions[] | select(.name == \"debug\" and .cores == 2 and .state == \"up\")" &&
	weir submit --queue debug --wait -n 2 true && stop_weir && test -z "$(leftovers)"
'
test_done
