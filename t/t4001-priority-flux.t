#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='job-priority in a stock Flux: priorities follow usage, start order follows priorities, life and traps'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

CONFIG=$SHARNESS_TEST_SRCDIR/priority-conf
run_under_flux "$CONFIG/weir.toml"

weir_toml() {
	cat "$CONFIG/weir.toml"
}

# pending BANK [flux submit options]: a waiting one-core job; prints its id when it has entered PRIORITY.
pending() {
	bank=$1
	shift
	id=$(flux submit -n1 --setattr=system.bank="$bank" "$@" sleep 100) &&
	flux job wait-event -q -t 30 "$id" depend &&
	echo "$id"
}

test_expect_success 'plugin: loads, without a module a job waits in PRIORITY' '
	flux jobtap load "$PRIORITY_TAP" &&
	flux jobtap query job-priority-tap.so | jq -e ".mode == \"starting\"" &&
	flux submit -n2 --urgency=31 sleep inf >blocker &&
	flux job wait-event -q -t 30 "$(cat blocker)" alloc &&
	pending bio >early &&
	test "$(state_of "$(cat early)")" = PRIORITY
'
test_expect_success 'module: loads, and gives the waiting job its priority' '
	flux module load "$PRIORITY_SO" &&
	flux job wait-event -q -t 30 "$(cat early)" priority &&
	sync_priorities &&
	test "$(priority_of "$(cat early)")" -gt 16 &&
	flux jobtap query job-priority-tap.so | jq -e ".mode == \"synced\" and .waiting == 0"
'
test_expect_success 'module: the share tree is in force' '
	rpc job-priority.tree-get >tree &&
	jq -e ".revision == 1 and .author == \"file\" and (.problem | not)" tree &&
	jq -e "[.nodes[] | select(.kind == \"account\" and (.path | contains(\"/\") | not)) | .entitled] | add == 1" tree
'
test_expect_success 'module: answers ping and stats, and names what it does not know' '
	flux ping -c 1 job-priority &&
	flux module stats job-priority | jq -e ".synced and .plugin == \"present\"" &&
	test_must_fail rpc job-priority.explain "{\"id\":1}" >unknown &&
	grep "no active job" unknown &&
	test_must_fail rpc job-priority.explain "{\"id\":\"x\"}" >bad &&
	grep "does not fit" bad
'
test_expect_success 'usage: the account that runs jobs falls behind the one that does not' '
	pending physics/lattice >lattice &&
	sync_priorities &&
	flux cancel "$(cat blocker)" &&
	flux job wait-event -q -t 30 "$(cat lattice)" alloc &&
	flux job wait-event -q -t 30 "$(cat early)" alloc &&
	flux cancel "$(cat early)" "$(cat lattice)" &&
	flux job wait-event -q -t 30 "$(cat lattice)" clean &&
	flux submit -n2 --setattr=system.bank=physics/lattice sleep inf >blocker &&
	flux job wait-event -q -t 30 "$(cat blocker)" alloc &&
	pending physics/lattice >l1 && pending bio >b1 && pending physics/lattice >l2 && pending bio >b2 &&
	sync_priorities &&
	test "$(priority_of "$(cat b1)")" -gt "$(priority_of "$(cat l1)")" &&
	test "$(priority_of "$(cat b2)")" -gt "$(priority_of "$(cat l2)")"
'
test_expect_success 'usage: charged core-seconds of the account are cores times seconds of its jobs' '
	rpc job-priority.usage >usage &&
	jq -e ".total.running_cores == 2 and .total.charged_core_us > 0" usage &&
	jq -e "(.nodes[] | select(.path == \"physics\") | .charged_core_us) as \$account |
	       ([.nodes[] | select(.path | startswith(\"physics/lattice/@\")) | .charged_core_us] | add) == \$account" usage
'
test_expect_success 'explain: terms add up to the priority, and the words say the rank' '
	rpc job-priority.explain "{\"id\":$(flux job id --to=dec "$(cat l1)")}" >explained &&
	jq -e "(.terms | length) == 6 and ((([.terms[].contribution] | add) - .priority) | fabs) <= 0.5" explained &&
	jq -e ".pushed == .priority and (.words | join(\" \") | test(\"number [0-9]+ of 4\"))" explained &&
	jq -e ".ahead[0].why | length > 0" explained
'
test_expect_success 'held and expedited jobs bypass the sum; released, the computed value is back' '
	before=$(priority_of "$(cat b1)") &&
	flux job urgency "$(cat b1)" hold && sync_priorities &&
	test "$(priority_of "$(cat b1)")" = 0 &&
	flux job urgency "$(cat b2)" expedite && sync_priorities &&
	test "$(priority_of "$(cat b2)")" = 4294967295 &&
	flux job urgency "$(cat b1)" 16 && flux job urgency "$(cat b2)" 16 && sync_priorities &&
	test "$(priority_of "$(cat b1)")" = "$before"
'
test_expect_success 'a lower urgency lowers the priority at once' '
	before=$(priority_of "$(cat b2)") &&
	flux job urgency "$(cat b2)" 10 && sync_priorities &&
	test "$(priority_of "$(cat b2)")" -lt "$before" &&
	flux job urgency "$(cat b2)" 16 && sync_priorities
'
test_expect_success 'own priority events do not feed back: pushes converge' '
	sync_priorities && sync_priorities &&
	events=$(stat_of events) &&
	sync_priorities >converged &&
	jq -e ".pushed == 0" converged &&
	test "$(stat_of events)" = "$events"
'
test_expect_success 'start order follows priority, not submission' '
	rpc job-priority.list | jq -r ".jobs | sort_by(-.priority, .id) | .[].id" >want &&
	flux cancel "$(cat blocker)" &&
	for id in $(cat want); do
		flux job wait-event -q -t 60 "$id" alloc && flux cancel "$id" && flux job wait-event -q -t 30 "$id" clean ||
		return 1
	done &&
	for id in $(cat want); do
		echo "$(flux job eventlog "$id" | grep " alloc" | cut -d" " -f1) $id"
	done | sort -n | cut -d" " -f2 >got &&
	test_cmp want got
'
test_expect_success 'submissions: unknown account and unknown user are refused with a sentence' '
	test_must_fail flux submit --setattr=system.bank=phsyics true 2>refused &&
	grep "there is no account .phsyics. in the share tree" refused &&
	flux submit --setattr=system.bank=lattice true
'
# bank_of ID: the account in the jobspec of a job
bank_of() {
	flux job wait-event -q -t 30 "$1" depend && flux job info "$1" jobspec | jq -r .attributes.system.bank
}
test_expect_success 'submissions: the default account is in the jobspec of the job, also of one of the owner' '
	id=$(flux submit --urgency=0 true) && test "$(bank_of $id)" = physics/lattice &&
	flux jobs -no "{bank}" $id | grep -x physics/lattice && flux cancel $id
'
test_expect_success 'submissions: a job that serves queues gets none, for nobody pays for a partition; what is no object stops nothing' '
	id=$(flux submit --urgency=0 --setattr=system.weir.serves="[\"batch\"]" true) && test "$(bank_of $id)" = null && flux cancel $id &&
	id=$(flux submit --urgency=0 --setattr=system.weir=7 true) && bank_of $id && flux cancel $id
'
test_expect_success 'tree: an edit is checked, shown, applied, refused when stale' '
	test_must_fail rpc job-priority.tree-set "{\"toml\":\"\\\"a\\\" = -1\\n\\\"b/c\\\" = 1\\n\"}" >bad &&
	grep "1:1: shares" bad &&
	rpc job-priority.tree-set "{\"dry_run\":true,\"toml\":\"\\\"bio\\\" = 5\\n\\\"bio/@*\\\" = 1\\n\"}" >dry &&
	jq -e ".revision == 2 and ([.changes[].op] | contains([\"remove\"]))" dry &&
	test "$(stat_of revision)" = 1 &&
	test_must_fail rpc job-priority.tree-set "{\"base_revision\":7,\"toml\":\"\\\"bio\\\" = 5\\n\"}" >stale &&
	grep "error 116:.*revision 1, not 7" stale &&
	jq -Rs "{toml: (. + \"\\\"chemistry\\\" = 1\\n\\\"chemistry/@*\\\" = 1\\n\"), author: \"me\", reason: \"a test\", base_revision: 1}" \
		<"$CONFIG/shares.toml" >edit &&
	rpc job-priority.tree-set "$(cat edit)" >applied &&
	jq -e ".revision == 2 and .changes[-1].op == \"add\"" applied &&
	rpc job-priority.history | jq -e ".revisions[-1] | .author == \"me\" and .reason == \"a test\""
'
test_expect_success 'explain: a question about a job whose user is not in the tree yet changes neither tree nor state' '
	id=$(flux submit --begin-time=+1h --setattr=system.bank=chemistry true) &&
	flux job wait-event -q -t 30 "$id" dependency-add &&
	sync_priorities &&
	rpc job-priority.usage | jq -c "[.nodes[].path]" >before &&
	revision=$(stat_of revision) &&
	position=$(stat_of journal_position) &&
	rpc job-priority.explain "{\"id\":$(flux job id --to=dec "$id")}" >explained &&
	jq -e ".state == \"DEPEND\" and .account == \"chemistry\"" explained &&
	rpc job-priority.usage | jq -c "[.nodes[].path]" >after &&
	test_cmp before after &&
	test "$(stat_of revision) $(stat_of journal_position)" = "$revision $position" &&
	flux cancel "$id"
'
test_expect_success 'config: a bad reload is refused, names key and remedy, and changes nothing' '
	flux config get weir >before &&
	{ weir_toml && echo "[weir.weights]" && echo "fairshar = 3"; } >bad.toml &&
	test_must_fail flux config load bad.toml 2>refused &&
	cat refused && grep "weights.fairshar.*unknown key" refused &&
	rpc job-priority.weights | jq -e ".weights.fairshare == 10000"
'
test_expect_success 'config: a good reload takes effect at once' '
	{ weir_toml && echo "[weir.weights]" && echo "fairshare = 20000"; } >good.toml &&
	flux config load good.toml &&
	rpc job-priority.weights | jq -e ".weights.fairshare == 20000" &&
	weir_toml | flux config load
'
test_expect_success 'a job blocks the machine for the next tests' '
	flux submit -n2 --urgency=31 sleep inf >blocker &&
	flux job wait-event -q -t 30 "$(cat blocker)" alloc &&
	pending bio >p1 && pending physics/lattice >p2 && sync_priorities
'
test_expect_success 'clamp: sums below 1 are 1, never the 0 that means held' '
	flux module reload "$PRIORITY_SO" weights.wait=0 weights.fairshare=0 weights.size=0 weights.user=0 &&
	sync_priorities &&
	test "$(priority_of "$(cat p1)")" = 1
'
test_expect_success 'clamp: sums beyond the range are 2^32-2, never the 2^32-1 that means expedited' '
	flux module reload "$PRIORITY_SO" weights.fairshare=4000000000 weights.user=4000000000 weights.size=4000000000 &&
	sync_priorities &&
	test "$(priority_of "$(cat p1)")" = 4294967294 &&
	flux module reload "$PRIORITY_SO" && sync_priorities
'
test_expect_success 'load: a bad module argument fails the load, the broker lives' '
	flux module remove job-priority &&
	test_must_fail flux module load "$PRIORITY_SO" update-intervall=1s &&
	flux dmesg | grep "update-intervall.*unknown key" &&
	flux module load "$PRIORITY_SO" && sync_priorities
'
test_expect_success 'unload: known jobs keep their values, new ones stand behind them and do not wait for ever' '
	kept=$(priority_of "$(cat p1)") &&
	flux module remove job-priority &&
	flux jobtap query job-priority-tap.so | jq -e ".mode == \"fallback\"" &&
	test "$(priority_of "$(cat p1)")" = "$kept" &&
	pending bio >p3 &&
	flux job wait-event -q -t 30 "$(cat p3)" priority &&
	test "$(priority_of "$(cat p3)")" -gt 0 &&
	test "$(priority_of "$(cat p3)")" -le "$(priority_of "$(cat p2)")"
'
test_expect_success 'reload: the module is back and everybody has a computed value' '
	flux module load "$PRIORITY_SO" && sync_priorities &&
	test "$(priority_of "$(cat p3)")" = "$(priority_of "$(cat p1)")"
'
test_expect_success 'plugin removed under the module: noticed; loaded again after .priority-default: told everything' '
	flux jobtap remove job-priority-tap.so &&
	test_must_fail sync_priorities >absent &&
	grep "error 38: .*plugin .* is not loaded" absent &&
	flux jobtap load "$PRIORITY_TAP" &&
	flux jobtap list -a | grep -n . >stack &&
	sync_priorities &&
	flux jobtap query job-priority-tap.so | jq -e ".mode == \"synced\" and .known == 3" &&
	test "$(priority_of "$(cat p1)")" -gt 16
'
test_expect_success 'plugin: loading another plugin (which asks for every priority) changes nothing' '
	kept=$(priority_of "$(cat p1)") &&
	flux jobtap load alloc-bypass.so &&
	test "$(priority_of "$(cat p1)")" = "$kept" &&
	flux jobtap remove alloc-bypass.so
'
test_expect_success '.so replaced while loaded: the old code goes on, the file is unmapped by the removal' '
	cp "$PRIORITY_SO" ./replaced-priority.so &&
	flux module remove job-priority &&
	flux module load --name=job-priority ./replaced-priority.so && sync_priorities &&
	cp "$PRIORITY_SO" ./new.so && mv new.so replaced-priority.so &&
	sync_priorities &&
	grep -c replaced-priority /proc/$(flux getattr broker.pid)/maps &&
	flux module remove job-priority &&
	test_must_fail grep replaced-priority /proc/$(flux getattr broker.pid)/maps &&
	flux module load --name=job-priority ./replaced-priority.so && sync_priorities &&
	flux module remove job-priority && flux module load "$PRIORITY_SO" && sync_priorities
'
flux module load --help 2>&1 | grep -q -e --exec && test_set_prereq MODULE_EXEC  # later than flux-core 0.77
test_expect_success MODULE_EXEC 'module as a process of its own, killed: the broker lives, values stay, a new one takes over' '
	kept=$(priority_of "$(cat p1)") &&
	flux module remove job-priority &&
	flux module load --exec "$PRIORITY_SO" && sync_priorities &&
	pid=$(module_pid) &&
	test -n "$pid" && kill -9 "$pid" &&
	test "$(priority_of "$(cat p1)")" = "$kept" &&
	flux getattr broker.pid &&
	until flux module load "$PRIORITY_SO" 2>exists; do grep -i exist exists || break; done &&
	sync_priorities
'
test_expect_success 'held, expedited or changed before their first value: jobs go on, and the module does not count as absent' '
	flux module remove job-priority &&
	flux jobtap remove job-priority-tap.so && flux jobtap load "$PRIORITY_TAP" &&
	for what in expedited held twice back changed; do pending bio >$what || return 1; done &&
	for what in expedited held twice back changed; do
		test "$(state_of "$(cat $what)")" = PRIORITY || return 1
	done &&
	flux job urgency "$(cat expedited)" expedite &&
	flux job urgency "$(cat held)" hold &&
	flux job urgency "$(cat twice)" expedite && flux job urgency "$(cat twice)" 16 &&
	flux job urgency "$(cat twice)" expedite &&
	flux job urgency "$(cat back)" expedite && flux job urgency "$(cat back)" 16 &&
	flux update "$(cat changed)" duration=2m &&
	flux module load "$PRIORITY_SO" &&
	for what in expedited held twice back changed; do
		flux job wait-event -q -t 20 "$(cat $what)" priority || return 1
	done &&
	sync_priorities &&
	test "$(priority_of "$(cat expedited)")" = 4294967295 &&
	test "$(priority_of "$(cat twice)")" = 4294967295 &&
	test "$(priority_of "$(cat held)")" = 0 &&
	test "$(priority_of "$(cat back)")" = "$(priority_of "$(cat changed)")" &&
	test "$(priority_of "$(cat back)")" -gt 16 &&
	flux jobtap query job-priority-tap.so | jq -e ".mode == \"synced\" and .waiting == 0" &&
	flux cancel "$(cat expedited)" "$(cat held)" "$(cat twice)" "$(cat back)" "$(cat changed)"
'
test_expect_success 'job-manager reloaded under the module: the journal is followed again' '
	flux cancel --all && flux queue idle -t 60 &&
	charged=$(rpc job-priority.usage | jq .total.charged_core_us) &&
	flux module reload job-manager &&
	flux module reload job-exec && flux module reload sched-simple &&
	flux module remove -f job-list && flux module load job-list &&
	flux jobtap load "$PRIORITY_TAP" &&
	flux submit -n2 --urgency=31 sleep inf >blocker &&
	flux job wait-event -q -t 30 "$(cat blocker)" alloc &&
	pending bio >after &&
	flux job wait-event -q -t 60 "$(cat after)" priority &&
	sync_priorities &&
	test "$(priority_of "$(cat after)")" -gt 16 &&
	flux cancel --all && flux queue idle -t 60 && sync_priorities &&
	test "$(rpc job-priority.usage | jq .total.charged_core_us)" -gt "$charged"
'
test_expect_success 'weir jobs: a pending job of whole nodes has its nodes, not 0 cores' '
	id=$(flux submit -N4 --urgency=0 --setattr=system.bank=bio true) && flux job wait-event -q -t 30 "$id" depend &&
	"$WEIR_BUILD_DIR/bin/weir" jobs >listed && cat listed && grep " 4 nodes " listed && "$WEIR_BUILD_DIR/bin/weir" jobs --json | jq -e "[.jobs[].nodes] == [4]" &&
	flux cancel "$id"
'
test_expect_success 'everything unloads' '
	flux module remove job-priority &&
	flux jobtap remove job-priority-tap.so &&
	test_must_fail grep job-priority /proc/$(flux getattr broker.pid)/maps
'
test_done
