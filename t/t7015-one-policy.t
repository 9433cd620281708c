#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='one policy over all partitions: order, limits and settings of the parent are in force in each of them'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

# The partitions have a configuration without any policy, as `flux batch` would start them.
cat >common.toml <<EOF
[weir-broker]
modules = ["kvs", "resource", "job-manager", "job-exec", "sched-weir-fcfs", "job-priority", "job-route"]
[job-manager]
plugins = [{load = "job-priority-tap.so"}, {load = "job-route-tap.so"}]
EOF
cat >shares.toml <<EOF
"physics"        = 1
"physics/@alice" = 1
"physics/@*"     = 1
"bio"            = 1
"bio/@bob"       = 1
"bio/@*"         = 1
EOF
cat common.toml - >top.toml <<EOF
[[resource.config]]
hosts = "node0"
cores = "0-7"
[queues.batch]
[queues.instances]
[weir]
share-tree = "shares.toml"
update-interval = "100ms"
[weir.weights]
qos = 100000
[weir.qos.high]
priority = 10
[weir.qos.low]
priority = 1
$(for n in 1 3 4 5 7 8 9; do printf '[weir.qos.p%d]\npriority = %d\n' $n $n; done)
[weir.users]
alice = 5001
bob = 5002
[weir.route]
queues = ["batch"]
EOF
cat common.toml - >child.toml <<EOF
[weir.route]
serves = ["batch"]
EOF

uri_of() {
	echo "local://$(pwd)/$1/local-0"
}
at() {
	place=$1 && shift && weir --uri "$(uri_of $place)" "$@"
}
FLUX_URI=$(uri_of top) && export FLUX_URI
is_attached() {
	wait_until job-route.tree "{}" ".children[] | select(.jobid == $(cat "$1.id") and .state == \"attached\")" >/dev/null
}
# partition NAME CORES: a broker as a job of the parent, with its state in NAME.state; returns when it is attached.
partition() {
	mkdir -p "$1.state" "$1" && chmod 700 "$1.state" "$1" &&
	weir submit -q instances -n1 -c"$2" --json sh -c "exec weir-broker -c child.toml --rundir \"\$PWD/$1\" -S \"statedir=\$PWD/$1.state\" >$1.log 2>&1" >"$1.json" &&
	jq .id "$1.json" >"$1.id" && is_attached "$1"
}
# job NAME WORDS...: writes NAME into `ran` when it runs; its id goes to NAME.id
job() {
	name=$1 && shift && weir submit -q batch --json "$@" sh -c "echo $name >>\"$(pwd)/ran\"" >"$name.json" && jq .id "$name.json" >"$name.id"
}
# block NAME [WORDS...]: holds its cores until something is written into the fifo of that name; returns when it runs
block() {
	name=$1 && shift && mkfifo "$name.gate" &&
	weir submit -q batch -A bio --json "$@" sh -c "read line <\"$(pwd)/$name.gate\"" >"$name.json" && jq .id "$name.json" >"$name.id" &&
	wait_event "$(cat "$name.id")" start >/dev/null
}
each() {
	event=$1 && shift &&
	for name in "$@"; do
		wait_event "$(cat "$name.id")" "$event" >/dev/null || return 1
	done
}

test_expect_success 'a parent, and a partition that has no policy of its own' '
	mkdir top && mkfifo ready &&
	{ weir-broker -c top.toml --rundir "$(pwd)/top" --ready-fd 9 9>ready >top.log 2>&1 & } && broker=$! &&
	read -r uri <ready && partition one 1
'
# weights_of PLACE FILTER: of what is in force there
weights_of() {
	FLUX_URI=$(uri_of $1) wait_until job-priority.weights "{}" "$2" >/dev/null
}
in_force() {
	call job-priority.weights | jq -r ".in_force | \"\\(.tree)/\\(.settings)\""
}
test_expect_success 'policy: the weights, QoS and users of the parent, its share tree and its machine are in force below' '
	weights_of one ".weights.qos == 100000 and .qos.high == 10 and .machine_cores == 8 and .in_force.from == \"parent\"" &&
	test "$(in_force)" = "$(FLUX_URI=$(uri_of one) in_force)" &&
	at one share show | grep "physics/*@alice\|@alice" && weir tree | tee tree && test "$(grep -c "$(in_force)" tree)" = 2
'
test_expect_success 'policy: a live change of the share tree is there at once, with its revision; nobody changes it below' '
	weir share set bio 3 && weights_of one ".in_force.tree == 2" && at one share show --json >j &&
	test "$(field j "[n[\"shares\"] for n in d[\"nodes\"] if n[\"path\"] == \"bio\"][0]")" = 3 &&
	test_must_fail at one share set bio 5 2>err && grep "share tree of its parent" err && weir share set bio 1
'
test_expect_success 'order: of the jobs that wait for a partition the best of the parent starts first' '
	block b1 && job low1 --qos low && job none1 && job high1 --qos high && job low2 --qos low && job high2 --qos high &&
	each weir.route low1 none1 high1 low2 high2 &&
	weir prio list && echo go >b1.gate && each clean low1 none1 high1 low2 high2 &&
	printf "high1\nhigh2\nlow1\nlow2\nnone1\n" >want && test_cmp want ran
'
test_expect_success 'order: so it is after a change of the weights while they wait' '
	rm -f ran && block b2 &&
	job first --qos high && job second --qos low && job third && each weir.route first second third &&
	sed -i "s/priority = 10/priority = 0/" top.toml && call config.reload &&
	wait_until job-priority.list "{}" ".jobs[0].id == $(cat second.id)" >/dev/null && weir prio list &&
	echo go >b2.gate && each clean first second third && printf "second\nfirst\nthird\n" >want && test_cmp want ran
'
test_expect_success 'order: what waits in a restarted partition starts in the order of the parent, whatever arrives first' '
	rm -f ran && block b3 &&
	for n in 1 2 3 4 5 6 7 8 9; do job r$n || return 1; done && job best --qos low && each weir.route r9 best &&
	kill -KILL $(cat one/broker.pid) && wait_event $(cat one.id) clean && rm -f one/local-0 && partition one 1 &&
	each clean r1 r9 best && cat ran && test "$(head -n 1 ran)" = best
'
# a job of physics that holds its core until its gate opens
gated() {
	mkfifo "$1.gate" && weir submit -q batch -A physics --json sh -c "echo $1 >>\"$(pwd)/ran\"; read line <\"$(pwd)/$1.gate\"" >"$1.json" &&
	jq .id "$1.json" >"$1.id"
}
with_nobody() {
	for name in "$@"; do
		wait_until job-route.locate "{\"id\":$(cat $name.id)}" ".child == 0" >/dev/null || return 1
	done
}
test_expect_success 'a job that is submitted to the partition directly has its place in the same order' '
	weights_of one ".qos.high == 0" && rm -f ran && block b7 && job routed1 --qos low && each weir.route routed1 &&
	for n in none low; do
		at one submit --json $(test $n = none || echo --qos $n) sh -c "echo direct_$n >>\"$(pwd)/ran\"" >direct_$n.json && jq .id direct_$n.json >direct_$n.id || return 1
	done &&
	FLUX_URI=$(uri_of one) wait_until job-priority.list "{}" ".jobs | length == 3" >/dev/null &&
	at one prio list && echo go >b7.gate && FLUX_URI=$(uri_of one) each clean direct_low direct_none && each clean routed1 &&
	test "$(tail -n 1 ran)" = direct_none && test "$(wc -l <ran)" = 3
'
# to_hold NAME: what such a job runs: it says its name, and holds its core until it dies with its partition
to_hold() {
	echo "echo $1 >\"$(pwd)/told\"; read line <\"$(pwd)/never\""
}
test_expect_success 'order: over six restarts in a row none starts before a better one, also of those submitted to the partition' '
	rm -f ran && mkfifo told never && block b8 &&
	for n in 3 7 1 9 5; do
		weir submit -q batch --json --qos p$n sh -c "$(to_hold p$n)" >p$n.json && jq .id p$n.json >p$n.id || return 1
	done && each weir.route p3 p7 p1 p9 p5 &&
	for n in 8 4; do at one submit -q "" --qos p$n sh -c "$(to_hold p$n)" || return 1; done &&
	weir prio list --json >j && field j "[q[\"id\"] for q in d[\"jobs\"]]" | tr -dc "0-9\n," | tr , "\n" >list && test_cmp list - <<-EOT &&
	$(cat p9.id p7.id p5.id p3.id p1.id)
	EOT
	for round in 1 2 3 4 5 6; do
		kill -KILL $(cat one/broker.pid) && wait_event $(cat one.id) clean && rm -f one/local-0 && partition one 1 &&
		read -r name <told && echo $name >>ran || return 1
	done && printf "p9\np8\np7\np5\np4\np3\n" >want && test_cmp want ran && weir cancel $(cat p1.id) $(cat p3.id) && each clean p1 p3
'
test_expect_success 'a live limit over two partitions holds what waits in them: one of four runs' '
	partition two 1 && rm -f ran && block b4 && block b5 &&
	for n in 1 2 3 4; do gated held$n || return 1; done && each weir.route held1 held2 held3 held4 &&
	weir share set physics running_jobs_max=1 && with_nobody held2 held3 held4 &&
	echo go >b4.gate && echo go >b5.gate && each start held1 && each clean b4 b5 &&
	call job-route.tree | jq -e "[.children[].jobs | .pending + .running] | add == 1" &&
	shown=$(weir prio list --json | jq ".jobs[] | select(.id == $(cat held2.id)) | .priority") && test $shown -gt 0 &&
	weir jobs --json | jq -e ".jobs[] | select(.id == $(cat held2.id)) | .priority == $shown" &&
	weir why $(cat held2.id) | tee why && grep "physics runs at most 1 job; 1 runs" why && test "$(cat ran)" = held1
'
test_expect_success 'the next one starts when that one ends, and no other' '
	echo go >held1.gate && each clean held1 && each start held2 && with_nobody held3 held4
'
test_expect_success 'without the limit the rest goes at once' '
	weir share set physics running_jobs_max=100 && each start held3 && echo go >held2.gate && each start held4 &&
	echo go >held3.gate && echo go >held4.gate && each clean held2 held3 held4
'
test_expect_success 'a partition with a policy of its own says so, here too' '
	sed "s/^.weir.route.$/[weir]\nparent-factors = false\n&/" child.toml >own.toml && cp child.toml other.toml && cp own.toml child.toml &&
	partition three 1 && weights_of top "[.in_force.children[] | select(.from == \"own\")] | length == 1" &&
	weights_of three ".weights.qos == 1000" && weir prio weights | tee out && grep "has a policy of its own" out &&
	weir tree | grep " own "
'
test_expect_success 'of one that was killed nothing is said any more' '
	kill -9 $(cat three/broker.pid) && wait_event $(cat three.id) clean >/dev/null &&
	weights_of top "all(.in_force.children[]; .jobid != $(cat three.id)) and (.in_force.children | length) > 0"
'
# load_again NAME: a module of the parent
load_again() {
	call module.remove "{\"name\":\"$1\"}" && call module.load "{\"path\":\"$1\",\"args\":[]}"
}
# The second time the partitions have the same to say as the first time.
test_expect_success 'the job-priority of the parent is loaded again, twice: the partitions attach anew and say what is in force there' '
	for round in 1 2; do
		load_again job-priority >/dev/null &&
		weights_of top ".in_force as {\$tree, \$settings} | [.in_force.children[] | select(.tree == \$tree and .settings == \$settings and .from == \"parent\")] | length == 2" || return 1
	done && weir share set bio 2 && weights_of one ".in_force.tree == 2" && weights_of two ".in_force.tree == 2"
'
mkdir small && mount -t tmpfs -o size=1m none small 2>/dev/null && test_set_prereq TMPFS
trap 'policy_test_code=$?; umount "$SHARNESS_TRASH_DIRECTORY/small" 2>/dev/null; (exit $policy_test_code); die' EXIT
test_expect_success TMPFS 'a partition that cannot write the policy of its parent attaches again until it can' '
	{ cat other.toml && printf "[weir]\nstate = \"%s/small/four.sqlite\"\n" "$(pwd)"; } >child.toml &&
	partition four 1 && weights_of four ".in_force.tree == 2" && { head -c 2000000 /dev/zero >small/fill; true; } &&
	for n in $(seq 3 40); do weir share set bio $n >/dev/null || return 1; done &&
	(FLUX_URI=$(uri_of four) && log_has "no link to the parent.*the parent.s policy could not be written") && weights_of one ".in_force.tree == 40" &&
	(FLUX_URI=$(uri_of four) && call job-priority.weights | jq -e ".in_force.tree < 40") && rm small/fill &&
	weights_of four ".in_force.tree == 40 and .in_force.from == \"parent\""
'
test_expect_success 'it ends' '
	kill $broker && wait $broker; umount small 2>/dev/null; test -z "$(leftovers)"
'
test_done
