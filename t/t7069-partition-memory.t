#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='memory in partitions: a partition reserves it, its jobs get it, and what no partition has is refused'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >memory.json <<EOF
{"weir": {"memory_mib": [{"hosts": "$(uname -n)", "value": 16384}]}}
EOF
cat >site.toml <<EOF
[weir]
update-interval = "200ms"
[resource]
scheduling = "$(pwd)/memory.json"
[[partition]]
name = "small"
queues = ["batch"]
cores = 2
memory-per-node = "4GiB"

[[partition]]
name = "large"
queues = ["batch"]
cores = 2
memory-per-node = "8GiB"

[[partition]]
name = "debug"
cores = 2
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
memory_of() {
	call job-info.lookup "{\"id\":$1,\"keys\":[\"R\"],\"flags\":0}" | jq -c ".R | fromjson | [.scheduling.weir.memory_mib[].value]"
}

test_expect_success 'a partition reserves its memory, and the list says how much' '
	start_weir --cores 8 --config site.toml --statedir "$(pwd)/state" && are_up small large debug &&
	small=$(job_of small) && large=$(job_of large) &&
	weir partition list | tee list && grep "^large  *batch  *at most 8GiB of memory  *2 " list &&
	weir partition list --json | jq -e "[.partitions[].memory_per_node_mib] == [4096, 8192, 0]" &&
	test "$(memory_of $small) $(memory_of $large)" = "[4096] [8192]"
'
test_expect_success 'a job goes where its memory is, and a second one waits for the memory' '
	gated m1 -q batch --memory-per-task 6GiB && wait_event $m1 start && test $(child_of $m1) = $large && test "$(memory_of $m1)" = "[6144]" &&
	gated m2 -q batch --memory-per-task 5GiB && wait_event $m2 weir.route && gated m3 -q batch --memory-per-task 2GiB && wait_event $m3 start &&
	weir why $m2 | tee why && grep "5120 MiB" why && grep "The partition small takes at most 4GiB of memory; it asks for 5GiB for its slot" why &&
	open_gate m1 && ended_well $m1 && wait_event $m2 start && open_gate m2 && ended_well $m2 && open_gate m3 && ended_well $m3
'
test_expect_success 'jobs without a request are spread by load, whatever the memory' '
	gated n1 -q batch && wait_event $n1 start && gated n2 -q batch && wait_event $n2 start &&
	test $(child_of $n1) != $(child_of $n2) && open_gate n1 && ended_well $n1 && open_gate n2 && ended_well $n2
'
test_expect_success 'what no partition of the queue has is refused at submission, with what each has' '
	test_expect_code 1 weir submit -q batch --memory-per-task 9GiB true 2>err && cat err &&
	grep "small takes at most 4GiB of memory (it asks for 9GiB for its slot); large takes at most 8GiB of memory (it asks" err &&
	test_expect_code 1 weir submit -q debug --setattr=weir.memory_per_slot=1GiB true 2>err && cat err &&
	test_expect_code 2 weir submit -q batch --memory-per-task 9GB true 2>wrong && grep "memory-per-task: \"9GB\" is no amount of memory" wrong &&
	grep "debug takes jobs that request no memory, since it has no memory-per-node" err
'
test_expect_success 'resize gives a partition memory; more than the machine has is refused, and nothing changes' '
	weir partition resize debug --memory-per-node 2GiB && wait_event $(job_of debug) start &&
	gated d1 -q debug --memory-per-task 1GiB && wait_event $d1 start && open_gate d1 && ended_well $d1 &&
	test_expect_code 1 weir partition resize debug --memory-per-node 20GiB 2>err && cat err && grep "16384 MiB" err &&
	weir partition list --json | jq -e ".partitions[2].memory_per_node_mib == 2048"
'
test_done
