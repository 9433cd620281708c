#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='policies as configuration: fcfs, LSF, APS, Moab, load threshold on every broker that is here'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

require_some_broker

# What all scripts begin with: two cores that a blocker holds; jobs of two accounts wait behind it.
cat >words.sh <<'EOF'
weir() { "$WEIR_BUILD_DIR/bin/weir" "$@"; }
pending() { id=$(flux submit -n1 -t 10m "$@" sleep 100) && flux job wait-event -q -t 30 "$id" depend && echo "$id"; }
# policy TEXT: [weir] with these lines, in force with every value pushed
policy() {
	{ sed '/^\[weir\]/q' instance-conf/instance.toml; echo "$1"
	  sed '1,/^\[weir\]/d' instance-conf/instance.toml; echo "$2"; } >policy.toml
	flux config load policy.toml && sync_priorities >/dev/null
}
# `bash -e` does not see a failed `! ...`
not() { if "$@"; then return 1; fi; }
# in_order JOB...: the jobs stand so, as the job-manager sees them
in_order() {
	last=4294967295
	for job in "$@"; do
		value=$(priority_of "$job")
		test "$value" -lt "$last" || { echo "$job has $value, not below $last"; flux jobs -no '{id} {priority} {bank}'; return 1; }
		last=$value
	done
}
EOF

cat >policies.sh <<'EOF'
. "$OUT/words.sh"
flux submit -n2 --urgency=31 sleep inf >blocker
flux job wait-event -q -t 30 "$(cat blocker)" alloc
a=$(pending --setattr=system.bank=bio) b=$(pending --setattr=system.bank=bio) c=$(pending --setattr=system.bank=physics/lattice)
sync_priorities >/dev/null

# fcfs: one value for all, in words and without zeros for factors it does not have
policy 'policy = "fcfs"'
test "$(priority_of "$a")" = "$(priority_of "$c")"
weir prio explain "$c" >explained
grep 'in order of submission (policy = "fcfs")' explained
grep 'it was submitted earlier' explained
not grep fairshare explained
weir prio list >list
test "$(wc -l <list)" = 4
weir prio list --long | head -1 >columns
not grep '+wait' columns
weir prio weights | grep 'policy fcfs'
weir prio when "$a" "$c"
flux job urgency "$b" hold
sync_priorities >/dev/null
test "$(priority_of "$b")" = 0
flux job urgency "$b" expedite
sync_priorities >/dev/null
test "$(priority_of "$b")" = 4294967295
flux job urgency "$b" default
sync_priorities >/dev/null
test "$(priority_of "$b")" = "$(priority_of "$a")"

# LSF: physics has twice the shares, but the blocker's two slots; whoever went lowers the account's priority: they take turns
policy 'policy = "lsf"'
in_order "$a" "$c" "$b"
weir prio explain "$c" >explained
grep "share account's dynamic priority is" explained
grep 'dynamic priority is higher: bio' explained
grep cpu-time explained
weir prio when "$a" "$c" | grep 'Waiting alone never changes that while dynamic priorities'
weir prio list --long | grep '+slots'
rpc job-priority.weights | jq -e '.policy == "lsf" and .weights.slots == 3' >/dev/null
weir usage | grep "priorities go by LSF's history"

flux module reload "$PRIORITY_SO" # a restart: the state file and the journal
sync_priorities >/dev/null
in_order "$a" "$c" "$b"

# APS: one number a job; the administrator's value counts as it is
policy 'policy = "lsf"' '[weir.lsf.aps]
proc = 1'
weir prio site "$b" 50
sync_priorities >/dev/null
in_order "$b" "$a"
weir prio explain "$a" | grep 'absolute priority is 51 against 1: +50 from admin'

# Moab: the account's priority decides, then the minutes in the queue; then a cap that keeps its jobs waiting
policy 'policy = "moab"' '[weir.moab.credential]
account = 1000
[weir.moab.accounts]
bio = { priority = 5 }
"*" = { priority = 1 }'
in_order "$a" "$c"
test "$(priority_of "$a")" -ge 5000
weir prio explain "$c" >explained
grep 'credential.account' explained
grep '+4000 from credential.account' explained
# a short job's expansion factor outgrows the account's priority in some 100 minutes; jobs alike stay as they stand
short=$(pending -t 1m --setattr=system.bank=physics/lattice --urgency=14)
policy 'policy = "moab"' '[weir.moab.credential]
account = 1000
[weir.moab.accounts]
bio = { priority = 5 }
"*" = { priority = 1 }
[weir.moab.service]
xfactor = 100
user-priority = 3
bypass = 50
[weir.moab.resource]
nodes = 2
user-jobs = -7
user-processors = { weight = 1, cap = 1 }
processor-equivalents = 4'
in_order "$a" "$short"
weir prio when "$short" "$a" >when
grep 'passes .* in 1h' when
grep 'So it is until .* while usage' when
weir prio when "$a" "$c" | grep 'Waiting alone does not change that until'
rpc job-priority.explain "{\"id\":$(flux job id --to=dec "$short")}" >explained.json
term() { jq -e ".terms[] | select(.name == \"$1\") | .raw == $2 and .contribution == $3" explained.json; }
term resource.user-jobs 1 -7
term resource.user-processors 2 1
term service.user-priority -2 -6
term resource.nodes 1 2
term resource.processor-equivalents 1 4
term service.bypass 0 0
weir prio list --long | grep '+service.bypass'
flux cancel "$short"
policy 'policy = "moab"' '[weir.moab.accounts]
"physics/lattice" = { cap = "100^" }'
test "$(priority_of "$c")" = 0
test "$(priority_of "$a")" -ge 1
weir prio explain "$c" | grep 'cap of \[weir.moab.accounts.physics/lattice\]'

# the load threshold: its queue's priority and what the machine gave; nothing while all cores are in use
policy 'policy = "load-threshold"'
test "$(priority_of "$c")" -ge 1
weir prio when "$a" "$c" | grep 'Waiting alone does not change that until .*load'
weir prio explain "$c" >explained
grep 'E is 0: 2 of 2 cores are in use' explained
grep 'P is .* of at most 55' explained
flux cancel "$(cat blocker)"
flux job wait-event -q -t 30 "$a" alloc
flux job wait-event -q -t 30 "$b" alloc

# a mistake changes nothing; multifactor comes back as it was
not policy 'policy = "lottery"'
rpc job-priority.weights | jq -e '.policy == "load-threshold"'
policy 'policy = "multifactor"'
rpc job-priority.explain "{\"id\":$(flux job id --to=dec "$c")}" | jq -e '(.terms | length) == 6'
flux cancel --all
flux queue idle -t 60
EOF

OUT=$PWD
export OUT

for broker in $BROKERS; do
	steps_of policies.sh >steps.sh
	each_step "$broker" in_instance "$broker" "$PWD/state-$broker" ./steps.sh
done
test_done
