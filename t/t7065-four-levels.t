#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='four levels of instances, as partitions of partitions: jobs go down to the leaves, usage comes up exactly, policy is in force below

WEIR_FAN_OUT=4 makes 64 leaves of four children each at every level; the default of 2 makes 8.'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

fan_out=${WEIR_FAN_OUT:-2}
leaves=$((fan_out * fan_out * fan_out))
jobs=$((leaves * 4))

# The partitions of the first instance, each with its own below it.
tables() {
	python3 - "$fan_out" <<-\EOF
		import sys
		fan_out = int(sys.argv[1])
		def tables(depth, key, prefix):
		    for child in range(fan_out):
		        print(f"[[{key}]]\nname = \"{prefix}{child}\"\nqueues = [\"batch\"]\ncores = {2 * fan_out ** (depth - 1)}")
		        if depth > 1:
		            tables(depth - 1, key + ".partition", f"{prefix}{child}-")
		tables(3, "partition", "p")
	EOF
}
cat >shares.toml <<EOF
"physics" = 1
"physics/@alice" = 1
"bio" = 1
"bio/@bob" = 1
EOF
{ cat - <<EOF; tables; } >site.toml
[queues.batch]
[weir]
update-interval = "1s"
[weir.users]
alice = 5001
bob = 5002
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI

# is_up URI: returns when all partitions of that instance serve their queue
is_up() {
	FLUX_URI=$1 wait_until job-route.partitions "{}" "[.partitions[] | select(.state == \"up\")] | length == $fan_out" </dev/null >up.out || { cut -c1-2000 up.out; return 1; }
}
# The first three levels are up when their partitions are; an instance has its socket before that.
all_are_up() {
	is_up "$FLUX_URI" && for name in "p[0-9]" "p[0-9]-[0-9]"; do
		find "$WEIR_RUNDIR" -path "*/$name/local-0" | sed "s|^|local://|" >level &&
		while IFS= read -r uri; do
			is_up "$uri" || return 1
		done <level
	done
}
# The URIs of all instances, and of those of the fourth level.
find_leaves() {
	find "$WEIR_RUNDIR" -name local-0 | sed "s|^|local://|" >all &&
	while IFS= read -r uri; do
		test "$(FLUX_URI=$uri call job-route.tree </dev/null | jq ".children | length")" != 0 || echo "$uri"
	done <all >leaves
}
# below REVISION: returns when this revision of the share tree is in force in every instance, and says how long that took
below() {
	python3 - "$1" <<-\EOF
		import json, sys, time
		from wire import Client
		began, revision, patience_s = time.monotonic(), int(sys.argv[1]), 120
		places = {uri: Client(uri) for uri in open("all", encoding="utf-8").read().split("\n") if uri}
		instances, connected = len(places), time.monotonic()
		while places:
		    for uri, client in list(places.items()):
		        said = json.loads(client.rpc("job-priority.weights", {}))["in_force"]
		        if said["tree"] == revision:
		            del places[uri]
		        elif time.monotonic() > began + patience_s:
		            sys.exit(f"{uri} has {said}")
		print(f"in force in {instances} instances {(time.monotonic() - connected) * 1000:.0f} ms after {(connected - began) * 1000:.0f} ms of connecting")
	EOF
}
# charged PATH: core-microseconds, at the instance of FLUX_URI
charged() {
	weir usage --json >usage.json && field usage.json "[n[\"charged_core_us\"] for n in d[\"nodes\"] if n[\"path\"] == \"$1\"][0]"
}
in_leaves() {
	sum=0
	while IFS= read -r uri; do
		sum=$((sum + $(FLUX_URI=$uri charged "$1" </dev/null))) || return 1
	done <leaves
	echo $sum
}

test_expect_success "an instance, $fan_out below it, as many below each, and as many below each of these" '
	start_weir --cores $((leaves * 2)) --config site.toml --tree shares.toml --statedir "$(pwd)/state" &&
	all_are_up && find_leaves && test "$(wc -l <leaves)" = $leaves && test "$(wc -l <all)" = $((1 + fan_out + fan_out * fan_out + leaves))
'
test_expect_success 'policy: a change of the share tree at the root is in force in every instance, with its revision' '
	below 1 && weir share set bio 3 && below 2 &&
	while IFS= read -r uri; do
		test "$(weir --uri "$uri" share show --json </dev/null | jq -c "[.nodes[] | select(.path == \"bio\") | .shares]")" = "[3]" || return 1
	done <leaves
'
test_expect_success "$jobs jobs of two users, submitted at the root, run in the leaves" '
	for n in $(seq $((jobs / 2))); do
		weir submit -q batch --user alice --simulate=0.2s --json x >>ids && weir submit -q batch --user bob -n2 --simulate=0.1s --json x >>ids || return 1
	done &&
	wait_until job-list.job-stats "{}" ".successful == $jobs" >/dev/null && test "$(jq -s length ids)" = $jobs &&
	ran=0 && while IFS= read -r uri; do
		ran=$((ran + $(FLUX_URI=$uri call job-list.job-stats </dev/null | jq .successful)))
	done <leaves && test "$ran" = $jobs
'
# The last reports need a second at each level.
test_expect_success 'usage: each user is charged at the root what the leaves charged him, to the microsecond' '
	for path in physics/@alice bio/@bob; do
		want=$(in_leaves $path) && test "$want" -gt 0 &&
		wait_until job-priority.usage "{}" "[.nodes[] | select(.path == \"$path\") | .charged_core_us] == [$want]" >/dev/null && echo "$path $want" || return 1
	done
'
test_expect_success 'it ends without a trace' '
	stop_weir && test -z "$(leftovers)" && test -z "$(find . -type s)"
'
test_done
