#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the examples of etc/ load and do what their comments say'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir
ETC=$SHARNESS_TEST_SRCDIR/../etc

test_expect_success 'shares.toml and weir.toml: a tree that starts and the settings in force' '
	start_weir --tree "$ETC/shares.toml" --config "$ETC/weir.toml" &&
	weir share show --json >j && test $(field j "[n[\"shares\"] for n in d[\"nodes\"] if n[\"path\"] == \"chem/@dave\"][0]") = 3 &&
	weir prio weights --json >j && test $(field j "d[\"half_life_s\"]") = 1382400.0 &&
	weir prio weights | grep "^wait counts after 3d 12h or 4.5 time limits" &&
	weir submit --user dave --simulate=1s --wait x && weir jobs -a | grep "dave *.*completed" && stop_weir
'
test_expect_success 'weir.toml gives every key its default' '
	start_weir --tree "$ETC/shares.toml" && weir prio weights --json >defaults && stop_weir &&
	for file in j defaults; do
		jq -S "walk(if type == \"object\" then del(.settings, .jobid) else . end)" "$file" >"$file.values" || return 1
	done && test_cmp j.values defaults.values
'
test_expect_success 'every key of doc/configuration.md is in weir.toml' '
	sed -n "/^## \[weir\]/,/^## Tables/s/^| [^a-z]\([a-z-]*\)[^a-z] |.*/\1/p" "$SHARNESS_TEST_SRCDIR/../doc/configuration.md" >keys &&
	test $(wc -l <keys) -ge 15 && while read -r key; do
		grep "^#\?$key = " "$ETC/weir.toml" || { echo "$key"; return 1; }
	done <keys
'
test_expect_success 'cluster.toml and partition.toml: forty imagined nodes and a partition on 36 of them' '
	rm -f ready && mkfifo ready && mkdir cluster && cp "$ETC/shares.toml" cluster && cp "$ETC"/*.toml . &&
	{ weir-broker -c cluster.toml --rundir "$(pwd)/cluster" --ready-fd 9 9>ready >log 2>&1 & } && broker=$! &&
	read -r uri <ready && WEIR_RUNDIR=$(pwd)/cluster && weir tree | grep "0/160" &&
	weir submit -q instances -N36 -n1 -c4 weir-broker -c "$(pwd)/partition.toml" --rundir "$(pwd)/partition" &&
	weir submit --wait -n 64 --simulate=1s x && weir tree | grep "batch *fcfs *.*/144" && weir jobs -a | grep "batch.*completed"
'
test_expect_success 'it ends without a trace' '
	weir cancel --all --partitions && kill $broker && wait $broker; test -z "$(leftovers)" && test -z "$(find . -type s)"
'
test_expect_success 'without its plugin the cluster says why nothing is routed' '
	rm -f ready && mkfifo ready log2 said && sed "s/, {load = .job-route-tap.so.}//" "$ETC/cluster.toml" >cluster.toml &&
	{ weir-broker -c cluster.toml --rundir "$(pwd)/cluster" --ready-fd 9 9>ready 2>log2 & } && broker=$! &&
	{ { grep -m1 "plugin job-route-tap.so is loaded" >said; cat >>log; } <log2 & } && hears=$! && read -r uri <ready &&
	weir submit -q instances -N36 -n1 -c4 weir-broker -c "$(pwd)/partition.toml" --rundir "$(pwd)/partition" &&
	read -r line <said && weir cancel --all && kill $broker && wait $broker; wait $hears && test -n "$line" && test -z "$(leftovers)"
'

test_done
