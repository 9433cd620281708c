#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='three levels of instances: what runs at the third is charged to its user at the first'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >common.toml <<EOF
[weir-broker]
modules = ["kvs", "resource", "job-manager", "job-exec", "sched-weir-fcfs", "job-priority"]
[job-manager]
plugins = [{load = "job-priority-tap.so"}]
[weir.users]
alice = 5001
bob = 5002
middle = 5003
EOF
printf '"physics" = 1\n"physics/@alice" = 1\n"bio" = 1\n"bio/@bob" = 1\n"bio/@*" = 1\n' >shares.toml
{ cat common.toml && cat <<EOF; } >top.toml
[[resource.config]]
hosts = "node0"
cores = "0-15"
[weir]
share-tree = "shares.toml"
EOF

at() {
	level=$1
	shift
	weir --uri "$(pwd)/$level" "$@"
}
# instance PARENT NAME CORES: a broker as a job of another instance; returns when it answers.
instance() {
	mkfifo "$2.ready" &&
	at "$1" submit -n1 -c"$3" sh -c "exec weir-broker -c common.toml --rundir \"\$PWD/$2\" --ready-fd 9 9>$2.ready" >"$2.id" &&
	read -r uri <"$2.ready"
}
charged() {
	at "$1" usage --json >usage.json && field usage.json "[n[\"charged_core_us\"] for n in d[\"nodes\"] if n[\"path\"] == \"$2\"][0]"
}

test_expect_success 'an instance in an instance in an instance' '
	mkdir top && mkfifo ready &&
	{ weir-broker -c top.toml --rundir "$(pwd)/top" --ready-fd 9 9>ready >top.log 2>&1 & } && broker=$! &&
	read -r uri <ready && instance top middle 16 && instance middle low 8
'
test_expect_success 'users run at the third level' '
	at low submit --user alice -n4 --simulate=0.5s --wait x && at low submit --user bob -n3 --simulate=0.5s --wait x &&
	at low jobs -a --json >jobs.json && cat jobs.json
'
test_expect_success 'when the instances have ended, the first level has charged each user for what ran' '
	at middle cancel $(cat low.id) && ! at middle output --wait $(cat low.id) >/dev/null;
	at top cancel $(cat middle.id) && ! at top output --wait $(cat middle.id) >/dev/null;
	alice=$(charged top physics/@alice) && bob=$(charged top bio/@bob) && echo "alice $alice bob $bob" &&
	test $alice -ge 2000000 && test $alice -lt 8000000 && test $bob -ge 1500000 && test $bob -lt 6000000
'
test_expect_success 'it ends without a trace' '
	kill $broker && wait $broker; test -z "$(leftovers)" && test -z "$(find . -type s)"
'
test_done
