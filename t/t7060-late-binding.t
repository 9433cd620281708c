#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='late binding: a job waits in the parent until a partition of its queue can use it, and moves where there is room'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir]
update-interval = "200ms"
[queues.own]
[weir.route]
hand-down = 2
[weir.weights]
qos = 100000
[weir.qos]
q1 = { priority = 1 }
q2 = { priority = 2 }
q3 = { priority = 3 }
q4 = { priority = 4 }
q5 = { priority = 5 }
high = { priority = 10 }

[[partition]]
name = "one"
queues = ["batch"]
cores = 2

[[partition]]
name = "two"
queues = ["batch"]
cores = 2

[[partition]]
name = "large"
queues = ["batch", "large"]
cores = 4
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
name_of() {
	call job-route.partitions | jq -r ".partitions[] | select(.instances[0].job == $1) | .name"
}
specs_read() {
	FLUX_URI=$1 call job-manager.stats-get "{}" | jq .plugin_jobspecs
}
waits_in_parent() {
	wait_until job-route.locate "{\"id\":$1}" ".child == 0" >/dev/null
}

test_expect_success 'three partitions of one queue, and a job in each' '
	start_weir --cores 10 --config site.toml && are_up one two large &&
	large=$(job_of large) && gated l1 -q large -c4 && wait_event $l1 start &&
	gated a1 -q batch -c2 && wait_event $a1 start && gated b1 -q batch -c2 && wait_event $b1 start && test $(child_of $a1) != $(child_of $b1)
'
test_expect_success 'big jobs wait in all; one becomes idle, and they run there, in the order of the parent' '
	for i in 1 2 3 4 5; do gated w$i -q batch -c2 --qos q$i && wait_event $id weir.route || return 1; done &&
	free=$(child_of $b1) && end b1 &&
	for i in 5 4 3 2 1; do eval "id=\$w$i" && wait_event $id start && test $(child_of $id) = $free && end w$i || return 1; done &&
	tail -n 5 ran | tr -d "\n" >order && test "$(cat order)" = w5w4w3w2w1
'
test_expect_success 'a job that only the large one can hold waits for that one, and smaller ones pass into the others' '
	gated l2 -q batch -c4 && wait_event $l2 weir.route && test $(child_of $l2) = $large &&
	weir why $l2 | tee why && grep "It is in the partition large (" why && weir why --json $l2 | tee j && grep "\"partition\": *\"large\"" j &&
	gated s1 -q batch -c1 && wait_event $s1 start && test $(child_of $s1) = $free && end l1 && wait_event $l2 start && end l2 && end s1
'
test_expect_success 'the depth: what is more waits in the parent, and weir why says for what' '
	gated l3 -q large -c4 && wait_event $l3 start && gated b2 -q batch -c2 && wait_event $b2 start &&
	for i in $(seq 20); do weir submit --json -q batch -c2 true | jq .id >>many || return 1; done && last=$(tail -n 1 many) && wait_event $last priority &&
	wait_until job-route.tree "{}" ".waiting == 14" && waits_in_parent $last &&
	weir why $last | tee why && grep "waits until a partition of its queue has room for it" why
'
test_expect_success 'a job of high priority is handed down at once, past those' '
	gated h1 -q batch -c2 --qos high && end a1 && wait_event $h1 start
'
test_expect_success 'a job that is too large for all is refused; one that its partition cannot place fails, and the text names it' '
	test_expect_code 1 weir submit -q large -c9 true 2>err && cat err && grep "large takes at most 4 cores (it asks for 9 cores)" err &&
	id=$(weir submit --json -q large -N2 true | jq .id) && wait_event $id exception | tee why && grep "in the partition large: .*2 nodes" why &&
	weir partition list | tee list && grep "^one  *batch  *2  *sched-weir-easy " list
'
test_expect_success 'a job of a queue that no partition serves runs on the own cores of the parent, beside full partitions' '
	gated o1 -q own -c2 && wait_event $o1 start && gated o2 -q own -c2 && wait_event $o2 priority && weir why $o2 | tee why &&
	grep "waits for 2 cores, next to start; free: 0 cores" why && end o1 && wait_event $o2 start && ! call job-route.locate "{\"id\":$o2}"
'
test_expect_success 'one is killed (-9) while the others run: its job is lost, what waited there runs, the others do not notice' '
	dead=$(name_of $(child_of $h1)) && kill -9 $(cat run/$dead/broker.pid) && log_has "The partition $dead ended .killed by signal 9." &&
	wait_event $h1 exception | jq -e ".type == \"child-lost\"" && wait_event $h1 clean && partition $dead "select(.state == \"up\")" &&
	for id in $(cat many); do ended_well $id || return 1; done && end b2 && end l3 && end o2
'
# A count of work: reading one takes some 50 us, and a job passes the plugins twenty times.
test_expect_success 'the job-managers read the jobspec of a job twice for their plugins, whatever becomes of the job' '
	in_large=local://$WEIR_RUNDIR/large/local-0 && above=$(specs_read "$FLUX_URI") && below=$(specs_read "$in_large") &&
	id=$(weir submit --json -q large true | jq .id) && ended_well $id && test $(specs_read "$FLUX_URI") = $((above + 2)) && test $(specs_read "$in_large") = $((below + 2))
'
test_expect_success 'hand-down = 0 is refused: a partition that waits for each job by itself cannot backfill' '
	sed "s/^hand-down = 2/hand-down = 0/" site.toml >zero.toml && test_expect_code 1 timeout 60 weir start --cores 10 --config zero.toml --rundir "$(pwd)/zero" 2>err &&
	grep "zero.toml:5: .weir.route. hand-down = 0: must be a whole number from 1 to" err
'
test_done
