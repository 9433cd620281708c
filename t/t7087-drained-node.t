#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a node that is drained in the parent is drained in the partition that has it, and undrained with it'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[[resource.config]]
hosts = "node[0-5]"
cores = "0-1"
[[partition]]
name = "wide"
queues = ["batch"]
nodes = 2
cores-per-node = 2
hosts = "node[0-1]"
[[partition]]
name = "more"
queues = ["batch"]
nodes = 1
cores-per-node = 2
hosts = "node2"
[[partition]]
name = "debug"
nodes = 1
cores-per-node = 2
hosts = "node[3-4]"
[[partition]]
name = "deep"
nodes = 1
cores-per-node = 2
hosts = "node5"
[[partition.partition]]
name = "leaf"
queues = ["deep"]
nodes = 1
cores-per-node = 2
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# drain NODES REASON; undrain NODES
drain() {
	call resource.drain "{\"targets\":\"$1\",\"reason\":\"$2\"}"
}
undrain() {
	call resource.undrain "{\"targets\":\"$1\"}"
}
# in_partition NAME COMMAND...
in_partition() (
	FLUX_URI=local://$WEIR_RUNDIR/$1/local-0 && shift && "$@"
)
# drains_of NAME JSON: returns when the partition's drained ranks and their reasons are these
drains_of() {
	in_partition $1 wait_until resource.status "{}" "[.drain | to_entries[] | {(.key): .value.reason}] | add // {} | . == $2" >/dev/null
}
# has_no NAME CORES: returns when this instance knows that jobs can have all cores of the partition but these
has_no() {
	wait_until job-route.tree "{}" ".children[] | select(.partition == \"$1\") | .own_cores == $2" >/dev/null
}
# node_of ID: where the job ran
node_of() {
	call job-manager.getattr "{\"id\":$1,\"attrs\":[\"R\"]}" | jq -r ".R.execution.nodelist[0]"
}
# job NAME OPTION...: a job of an hour; $NAME is its id
job() {
	name=$1 && shift && id=$(weir submit --json --simulate=1h "$@" x | jq .id) && eval "$name=$id"
}
# waits_in NAME COUNT: so many jobs are in SCHED there
waits_in() {
	in_partition $1 wait_until job-manager.list "{\"max_entries\":0,\"attrs\":[\"state\"]}" "[.jobs[] | select(.state == 8)] | length == $2" >/dev/null
}

test_expect_success 'drained above: the partition drains its node, keeps what runs there, and starts nothing' '
	start_weir --config site.toml --statedir "$(pwd)/state" && are_up wide more debug deep &&
	job runs -q debug && wait_event $runs start && test "$(node_of $runs)" = node3 &&
	drain node3 broken && drains_of debug "{\"0\": \"drained above: broken\"}" && job waits -q debug && waits_in debug 1 &&
	weir why $waits | tee why && grep "too many of the nodes are drained or down" why && grep "in the partition debug" why && weir partition list | grep "^debug.*up; drained: node3$" &&
	weir cancel $runs && wait_event $runs clean && in_partition debug call resource.sched-status | jq -e ".down.execution.nodelist == [\"node3\"]" &&
	call job-manager.getattr "{\"id\":$waits,\"attrs\":[\"eventlog\"]}" | jq -e "[.eventlog[].name] | index(\"alloc\") | not"
'
test_expect_success 'undrained above: it starts' '
	undrain node3 && wait_event $waits start && drains_of debug "{}" && weir cancel $waits && wait_event $waits clean
'
test_expect_success 'a job of a queue with two partitions goes at once to the one that has a node left' '
	drain node[0-1] dead && has_no wide 4 && job a -q batch -c2 && wait_event $a start && test "$(node_of $a)" = node2 &&
	call job-manager.getattr "{\"id\":$a,\"attrs\":[\"eventlog\"]}" | jq -e "[.eventlog[] | select(.name == \"weir.route\")] | length == 1" &&
	job b -q batch -c2 && undrain node1 && wait_event $b start && test "$(node_of $b)" = node1 && has_no wide 2 &&
	weir cancel $a && weir cancel $b && undrain node0 && has_no wide 0
'
test_expect_success 'a drain by hand in the partition stays, with its reason' '
	in_partition wide drain 0 "by hand" && drain node[0-1] fan &&
	drains_of wide "{\"0\": \"by hand\", \"1\": \"drained above: fan\"}" && undrain node[0-1] && drains_of wide "{\"0\": \"by hand\"}" &&
	drain node[0-1] fan && drains_of wide "{\"0\": \"by hand\", \"1\": \"drained above: fan\"}" &&
	in_partition wide undrain 0-1 && drains_of wide "{\"0-1\": \"drained above: fan\"}"
'
test_expect_success 'another reason is the reason below' '
	call resource.drain "{\"targets\":\"node[0-1]\",\"reason\":\"disk\",\"mode\":\"overwrite\"}" && drains_of wide "{\"0-1\": \"drained above: disk\"}"
'
test_expect_success 'job-route is loaded again, above and in the partition: what changed meanwhile is in force' '
	call module.remove "{\"name\":\"job-route\"}" && undrain node1 && call module.load "{\"path\":\"job-route\",\"args\":[]}" &&
	drains_of wide "{\"0\": \"drained above: disk\"}" &&
	in_partition wide call module.remove "{\"name\":\"job-route\"}" && undrain node0 && drain node1 fan &&
	in_partition wide call module.load "{\"path\":\"job-route\",\"args\":[]}" && drains_of wide "{\"1\": \"drained above: fan\"}" && undrain node1 && drains_of wide "{}"
'
test_expect_success 'a partition of a partition has the same drain' '
	drain node5 deep && drains_of deep "{\"0\": \"drained above: deep\"}" && drains_of deep/leaf "{\"0\": \"drained above: deep\"}" &&
	job c -q deep && waits_in deep/leaf 1 && undrain node5 && wait_event $c start && weir cancel $c
'
test_expect_success 'the partition is killed: it starts on the other node, which is not drained, and no job starts on the drained one' '
	drain node3 broken && drains_of debug "{\"0\": \"drained above: broken\"}" && before=$(job_of debug) && job d -q debug &&
	kill -9 $(cat run/debug/broker.pid) && wait_event $before clean && wait_event $d start && test "$(node_of $d)" = node4 &&
	drains_of debug "{}" && drain node4 worse && drains_of debug "{\"0\": \"drained above: worse\"}"
'
test_expect_success 'an instance starts without the partitions whose nodes are drained; undrained: they start' '
	drain node5 gone && stop_weir && start_weir --config site.toml --statedir "$(pwd)/state" && are_up wide more &&
	weir partition list | tee list && grep "^The partition debug .* too many of the nodes are drained or down" list &&
	undrain node[3-5] && are_up debug deep
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
