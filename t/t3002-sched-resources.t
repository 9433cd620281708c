#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='sched-weir-easy hands out gpus and memory, heeds constraints and chooses nodes, on every broker here'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
require_some_broker
MODULES=$WEIR_BUILD_DIR/lib/flux/modules
export MODULES
test -f "$MODULES/sched-weir-easy.so" || { skip_all="sched-weir-easy.so is not built in $MODULES"; test_done; }

cat >machine.toml <<'EOF'
[job-exec]
[resource]
noverify = true
[[resource.config]]
hosts = "fake[0-1]"
cores = "0-3"
[[resource.config]]
hosts = "fake1"
gpus = "0-1"
properties = ["fast"]
EOF

cat >memory.json <<'EOF'
{"weir": {"memory_mib": [{"hosts": "fake0", "value": 8192}, {"hosts": "fake1", "value": 4096}]}}
EOF

cat >common.sh <<'EOF'
. $SHARNESS_TEST_SRCDIR/sharness.d/40-flux.sh
hold() { flux submit --setattr=exec.test.run_duration=1000s "$@" true; }
runs() { flux job wait-event -t 60 "$1" alloc; }
r_of() { flux job info "$1" R | jq -c "[.execution.R_lite[], .execution.nodelist]"; }
refused() { ! flux job attach "$1" 2>err && grep "$2" err; }
EOF

# try NAME SCRIPT: the script in an instance of each broker, without its scheduler. With MEMORY, a file, the nodes' memory
# is known.
try() {
	for broker in $BROKERS; do
		{ tell_failure; echo "SHARNESS_TEST_SRCDIR=$SHARNESS_TEST_SRCDIR"; cat common.sh; echo "$2"; } >instance.sh
		mkdir -p instance-conf && sed "${MEMORY:+s|^noverify.*|&\nscheduling = \"$MEMORY\"|}" machine.toml >instance-conf/instance.toml
		if test $broker = weir; then
			printf '[weir-broker]\nmodules = ["kvs", "resource", "job-manager", "job-exec"]\n' >>instance-conf/instance.toml
		fi
		test_expect_success "$broker: $1" "scheduled_on_$broker"
	done
}
scheduled_on_flux() {
	{ echo 'flux module remove sched-simple'; cat instance.sh; echo 'flux cancel --all; flux queue drain
		flux module remove sched-weir-easy; flux module load sched-simple'; } >whole.sh
	flux start --test-size=2 "--test-hosts=fake[0-1]" --setattr=broker.module-nopanic=1 \
		"--config-path=$PWD/instance-conf/instance.toml" bash -e ./whole.sh
}
scheduled_on_weir() {
	rm -rf state && mkdir state && boot_weir "$PWD/state" || return 1
	bash -e ./instance.sh
	status=$?
	kill -TERM "$weir_pid" && wait "$weir_pid" || status=1
	forget_weir
	return $status
}

try 'gpus go to those who ask, and are waited for' '
flux module load $MODULES/sched-weir-easy.so
both=$(hold -n2 -g1) && runs $both
r_of $both | grep "\"rank\":\"1\"" | grep "\"gpu\":\"0-1\""
waits=$(hold -n1 -g1)
plain=$(hold -n1) && runs $plain && r_of $plain | grep -v gpu
flux jobs -no {state} $waits | grep SCHED
flux cancel $both && runs $waits && r_of $waits | grep "\"gpu\":\"0\""
refused $(hold -n1 -g3) "at most 4 cores and 2 gpus"
'
try 'constraints are respected: properties, hosts, ranks, not' '
flux module load $MODULES/sched-weir-easy.so
fast=$(hold -n1 --requires=fast) && runs $fast && r_of $fast | grep fake1
slow=$(hold -n1 --requires=^fast) && runs $slow && r_of $slow | grep fake0
named=$(hold -n1 --requires=host:fake1) && runs $named && r_of $named | grep fake1
ranked=$(hold -n1 --requires="rank:1 and not host:fake0") && runs $ranked && r_of $ranked | grep fake1
wide=$(hold -N2 -n2 --requires="rank:0 or fast") && runs $wide
waits=$(hold -n2 --requires=fast)
other=$(hold -n2) && runs $other && r_of $other | grep fake0
flux jobs -no {state} $waits | grep SCHED
refused $(hold -N2 -n2 --requires=fast) "of the 1 node that satisfy its constraints"
refused $(hold -n1 --requires=none) "none of the 2 nodes does"
'
try 'a scheduler that is loaded again knows the gpus that are held' '
flux module load $MODULES/sched-weir-easy.so
one=$(hold -n1 -g1) && runs $one
flux module reload $MODULES/sched-weir-easy.so
next=$(hold -n1 -g1) && runs $next && r_of $next | grep "\"gpu\":\"1\""
'
try 'the least loaded node is taken, as measured and as given' '
flux module load $MODULES/sched-weir-easy.so node-choice=least-loaded
rpc sched.load "{\"nodes\": [{\"hosts\": \"fake0\", \"cpu_load\": 0.9}, {\"ranks\": \"1\", \"cpu_load\": 0.1}]}"
first=$(hold -n1) && runs $first && r_of $first | grep fake1
rpc sched.load "{\"nodes\": [{\"ranks\": \"0\", \"cpu_load\": 0}]}"
second=$(hold -n1) && runs $second && r_of $second | grep fake0
! rpc sched.load "{\"nodes\": [{\"ranks\": \"0\", \"cpu_load\": 2}]}" >err && grep "\[0\].cpu_load: must be from 0 to 1" err
rpc sched-weir-easy.stats-get | jq -e ".node_choice == \"least-loaded\""
'
try 'memory is set apart where the nodes memory is known' '
flux module load $MODULES/sched-weir-easy.so
refused $(hold -n1 --setattr=weir.memory_per_slot=4GiB) "of no node the memory is known"
'
MEMORY=$PWD/memory.json
try 'memory is taken, waited for and given back, and so is what a scheduler finds taken' '
flux module load $MODULES/sched-weir-easy.so
flux jobtap load $PRIORITY_TAP && flux module load $PRIORITY_SO
flux kvs get resource.R | jq -e ".scheduling.weir.memory_mib | length == 2"
hold_memory() { hold -n1 --setattr=weir.memory_per_slot=$1; }
large=$(hold_memory 6GiB) && runs $large && flux job info $large R | jq -e ".execution.nodelist == [\"fake0\"]"
flux job info $large R | jq -e ".scheduling.weir.memory_mib == [{\"hosts\": \"fake0\", \"value\": 6144}]"
waits=$(hold_memory 5GiB)
small=$(hold_memory 4GiB) && runs $small && flux job info $small R | jq -e ".execution.nodelist == [\"fake1\"]"
flux job wait-event -t 60 $waits priority
rpc job-priority.sync
"$WEIR_BUILD_DIR/bin/weir" prio explain $waits >why && cat why && grep "^It waits for 1 core and 5120 MiB, next to start; free: 6 cores and 2 gpus; at most 2048 MiB on one node" why
flux module reload $MODULES/sched-weir-easy.so
flux job wait-event -t 60 $waits priority && rpc job-priority.sync
rpc sched.why "{\"id\": $(flux job id $waits)}" | jq -e ".reason == \"resources\""
flux cancel $large && runs $waits && flux job info $waits R | jq -e ".execution.nodelist == [\"fake0\"]"
refused $(hold_memory 9GiB) "at most .* 8192 MiB"
flux cancel --all && flux queue drain
flux module remove job-priority && flux jobtap remove all
'
MEMORY=
ALL_BROKERS=$BROKERS
BROKERS=flux  # the embedded broker has no dependencies but those of plugins
try 'who waits for a job or a time is told so' '
flux module load $MODULES/sched-weir-easy.so
flux jobtap load $PRIORITY_TAP && flux module load $PRIORITY_SO
explain() { "$WEIR_BUILD_DIR/bin/weir" prio explain "$@"; }
first=$(flux submit -n8 --urgency=0 true) && flux job wait-event -t 60 $first priority
second=$(flux submit --dependency=afterok:$first true) && third=$(flux submit --begin-time=2100-01-02 true)
both=$(flux submit --begin-time=2100-01-02 --dependency=afterstart:$first true)
for job in $second $third $both; do flux job wait-event -t 60 $job dependency-add; done
rpc job-priority.sync
explain $second >why && cat why && grep "^It waits until $first has succeeded\.$" why && ! grep "^term" why
explain $third >why && cat why && grep "^It waits for its begin time; not before 2100-01-02 " why
explain --json $both | jq -e ".scheduler.reason == \"dependencies\" and (.scheduler.dependencies | length) == 2"
flux cancel --all && flux queue drain
flux module remove job-priority && flux jobtap remove all
'
BROKERS=$ALL_BROKERS
try 'R has the properties of the nodes, so that an instance has them' '
flux module load $MODULES/sched-weir-easy.so
fast=$(hold -n1 --requires=fast) && runs $fast
flux job info $fast R | jq -e ".execution.properties == {\"fast\": \"1\"}"
plain=$(hold -n1 --requires=^fast) && runs $plain
flux job info $plain R | jq -e ".execution | has(\"properties\") | not"
'
try 'every job is told why it waits, behind whom and until when' '
flux module load $MODULES/sched-weir-easy.so
long=$(hold -N2 -n4 -c1 -t 10m) && runs $long
head=$(hold -n8 -t 10m) && behind=$(hold -n1 -t 1h) && big=$(hold -n6 -t 1m) && held=$(hold -n1 --urgency=0)
flux job wait-event -t 60 $held priority
why() { rpc sched.why "{\"id\": $(flux job id $1)}"; }
why $head | jq -e ".reason == \"resources\" and .place == 1 and (.text | startswith(\"waits for 8 cores, next to start; free: 4 cores\"))"
why $behind | jq -e ".reason == \"reservation\" and .behind == $(flux job id $head) and .behind_start <= .t_estimate"
why $big | jq -e ".reason == \"resources\" and .t_estimate > .behind_start"
! why $held
! why $long
'
try 'wrong arguments are named' '
! flux module load $MODULES/sched-weir-easy.so node-choice=worst
flux dmesg | grep "node-choice is first, best-fit or least-loaded"
flux module load $MODULES/sched-weir-easy.so node-choice=best-fit
'
try 'any policy of the library can be asked for' '
! flux module load $MODULES/sched-weir-easy.so policy=conservativ
flux dmesg | grep "did you mean \"conservative\""
flux module load $MODULES/sched-weir-easy.so policy=hybrid:depth=2
rpc sched-weir-easy.stats-get | jq -e ".policy == \"hybrid:depth=2\""
long=$(hold -N2 --exclusive) && runs $long
'
test_expect_success 'a machine whose R ends in ten minutes' '
	jq -n "{version: 1, execution: {R_lite: [{rank: \"0-1\", children: {core: \"0-3\"}}],
		nodelist: [\"fake[0-1]\"], starttime: (now | floor), expiration: ((now | floor) + 600)}}" >machine.json &&
	printf "[job-exec]\n[resource]\nnoverify = true\npath = \"%s\"\n" "$PWD/machine.json" >machine.toml
'
try 'a job keeps its time limit beyond the end of the instance, which is no estimated start' '
flux module load $MODULES/sched-weir-easy.so
end=$(jq .execution.expiration machine.json)
# A stock Flux takes no such job, but such a duration from the owner.
limited=$(hold -n4 -t 1m --urgency=hold) && flux update $limited duration=1h && flux job urgency $limited default
runs $limited && flux job info $limited R | jq -e ".execution | (.expiration - .starttime | round) == 3600"
endless=$(hold -n4) && runs $endless && flux job info $endless R | jq -e "(.execution.expiration | round) == $end"
waits=$(hold -n4 -t 1m) && flux job wait-event -t 60 $waits priority
why() { rpc sched.why "{\"id\": $(flux job id $waits)}"; }
why | jq -e ".place == 1 and has(\"t_estimate\") == false"
'
test_done
