#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='what a job costs is what the site says, also in a partition: usage-factor of a QoS, billing-weights of a queue'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir]
decay = "none"
[weir.users]
alice = 5001
carol = 5003
[weir.qos.high]
usage-factor = 3
[weir.qos.free]
usage-factor = 0
[weir.queues.debug]
billing-weights = "cpu=2"
[[partition]]
name = "batch"
cores = 4
[[partition]]
name = "debug"
cores = 4
EOF
cat >shares.toml <<EOF
"bio" = 1
"bio/@alice" = 1
"bio/@carol" = 1
EOF
# costs USER FACTOR: what the user's jobs, which have ended, count is FACTOR times the core-seconds that they were given.
costs() {
	wait_until job-priority.usage "{}" ".nodes[] | select(.path == \"bio/@$1\") | .running_cores == 0 and .charged_core_us > 900000" &&
	weir usage --json >j && field j "[(n[\"usage_core_s\"], n[\"charged_core_us\"]) for n in d[\"nodes\"] if n[\"path\"] == \"bio/@$1\"]" >got && cat got &&
	test "$(field j "[abs(n[\"usage_core_s\"] * 1e6 - $2 * n[\"charged_core_us\"]) < 1 for n in d[\"nodes\"] if n[\"path\"] == \"bio/@$1\"]")" = "[True]"
}

test_expect_success 'a QoS whose jobs cost three times as much, and a queue whose cores cost twice as much' '
	start_weir --cores 8 --config site.toml --tree shares.toml --statedir "$(pwd)/state" 2>err && ! grep "no effect" err &&
	FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI &&
	weir submit --user alice -q batch -n2 --qos high --simulate=1s --wait x && costs alice 3 &&
	weir submit --user carol -q debug -n2 --simulate=1s --wait x && costs carol 2
'
# is_before FIELD: whether alice has less of it than carol in `weir share show`
is_before() {
	field j "{n[\"path\"]: n[\"$1\"] for n in d[\"nodes\"]}[\"bio/@alice\"] < {n[\"path\"]: n[\"$1\"] for n in d[\"nodes\"]}[\"bio/@carol\"]"
}
test_expect_success 'who has the larger count stands behind, however long the jobs took' '
	weir share show >out && cat out && weir share show --json >j && is_before usage_core_s >count && is_before factor >factor && cat count factor &&
	! test_cmp count factor
'
# counted USER FILE, given USER FILE: what his jobs count, and what they were given.
counted() {
	weir usage --json >j && field j "[n[\"usage_core_s\"] for n in d[\"nodes\"] if n[\"path\"] == \"bio/@$1\"][0]" >"$2"
}
given() {
	weir usage --json >j && field j "[n[\"charged_core_us\"] for n in d[\"nodes\"] if n[\"path\"] == \"bio/@$1\"][0]" >"$2"
}
test_expect_success 'a job that costs nothing was given its cores and counts nothing' '
	counted alice before && given alice cores && weir submit --user alice -q batch -n2 --qos free --simulate=1s --wait x &&
	wait_until job-priority.usage "{}" ".nodes[] | select(.path == \"bio/@alice\") | .running_cores == 0 and .charged_core_us > $(cat cores)" &&
	counted alice after && test_cmp before after && stop_weir
'
test_expect_success 'what counts outlives a restart' '
	start_weir --cores 8 --config site.toml --tree shares.toml --statedir "$(pwd)/state" &&
	counted alice after && test_cmp before after && stop_weir
'
cat >qos.toml <<EOF
"chem" = 1
"chem/@carol" = 1
"chem/qos:high" = 1
"chem/qos:high/@alice" = 1
"chem/@alice" = 1
EOF
test_expect_success 'a node of the share tree for a QoS pays for the jobs of that QoS, a line beside it for the others' '
	start_weir --cores 8 --config site.toml --tree qos.toml && FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI &&
	weir submit --user alice -q batch -n2 --qos high --simulate=1s --wait x &&
	wait_until job-priority.usage "{}" ".nodes[] | select(.path == \"chem/qos:high/@alice\") | .running_cores == 0 and .charged_core_us > 1900000" &&
	call job-priority.usage | jq -e ".nodes[] | select(.path == \"chem/@alice\") | .charged_core_us == 0" &&
	weir submit --user alice -q batch -n2 --simulate=1s --wait x &&
	wait_until job-priority.usage "{}" ".nodes[] | select(.path == \"chem/@alice\") | .running_cores == 0 and .charged_core_us > 1900000" && stop_weir
'
test_done
