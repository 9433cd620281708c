#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='partitions as configuration: [[partition]] and weir partition; the instance keeps them, nothing is lost'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir]
update-interval = "200ms"
[weir.weights]
qos = 100000
[weir.qos.high]
priority = 10

[[partition]]
name = "debug"
cores = 1
scheduler = "fcfs"

[[partition]]
name = "wide"
queues = ["batch"]
cores = 3
EOF
cp site.toml good.toml
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
begin() {
	start_weir --cores 10 --config site.toml --statedir "$(pwd)/state"
}

field_of() {
	call job-route.partitions | jq -r ".partitions[] | select(.name == \"$1\") | $2"
}

test_expect_success 'they are there as the file says' '
	begin && weir partition list | tee list && grep "^debug  *debug  *1  *sched-weir-fcfs .* up" list && grep "^wide  *batch  *3 .* up" list &&
	weir partition list --json >j && json_is j weir.partitions/1 && weir tree | tee tree && grep "debug  *fcfs  *0/1" tree && grep "wide  *easy  *0/3" tree
'
test_expect_success 'weir cancel --all touches none of them' '
	weir cancel --all 2>err && weir tree | grep "wide  *easy" && grep "Left out" err
'
test_expect_success 'kill -9 of a busy one: it is back, what waited runs in the order of the parent, nothing is lost' '
	gated b1 -q batch -c3 && wait_event $b1 start && gated w1 -q batch -c3 && gated w2 -q batch -c3 --qos high &&
	wait_event $w1 weir.route && wait_event $w2 weir.route &&
	kill -9 $(cat run/wide/broker.pid) && log_has "The partition wide ended .killed by signal 9.; it starts again now" &&
	wait_event $b1 clean && log_has "The partition wide serves its queue again" &&
	wait_event $w2 start && open_gate w2 && ended_well $w2 && wait_event $w1 start && open_gate w1 && ended_well $w1 &&
	printf "b1\nw2\nw1\n" >want && test_cmp want ran
'
test_expect_success 'kill -9 of the process that launched it: that is no success either' '
	old=$(field_of debug .instances[0].job) && kill -9 $(ps -o ppid= -p $(cat run/debug/broker.pid)) &&
	log_has "The partition debug ended .killed by signal 9." && wait_event $old finish | jq -e ".status == 9" && is_alone debug &&
	weir tree | grep -o "debug  *fcfs\|wide  *easy" | cut -d" " -f1 >places && printf "debug\nwide\n" >want && test_cmp want places
'
test_expect_success 'drain: what runs goes on, what waits waits here; resume: it starts' '
	gated d1 -q batch -c3 && wait_event $d1 start && gated d2 -q batch && wait_event $d2 weir.route && test $(child_of $d2) -gt 0 &&
	weir partition drain wide 2>out && grep "resume wide" out && wait_until job-route.locate "{\"id\":$d2}" ".child == 0" &&
	weir partition list | grep "wide .* drained" && weir tree | grep "wide .* drained" &&
	weir why $d2 | tee why && grep "waits for a partition of its queue that can run it: wide is drained" why && open_gate d1 && ended_well $d1 && test $(child_of $d2) = 0 &&
	weir partition resume wide && wait_event $d2 start && open_gate d2 && ended_well $d2
'
test_expect_success 'a drained one gets no job either when job-route is loaded again' '
	weir partition drain wide && load_route_again && wait_until job-route.tree "{}" ".children[] | select(.jobid == $(job_of wide)) | .state == \"attached\" and .drained" &&
	gated d3 -q batch && test $(child_of $d3) = 0 && weir partition list | grep "wide .* drained" && weir partition resume wide && wait_event $d3 start && end d3
'
test_expect_success 'drain and resume take several: all or, where a name is wrong, none; of one that is so already nothing changes' '
	test_expect_code 5 weir partition drain wide debgu 2>err && grep "no partition has the name debgu; did you mean debug?" err && test "$(field_of wide .state)" = up &&
	weir partition resume wide 2>err && cat err && grep "The partition wide is not drained: nothing was changed" err &&
	weir partition drain wide debug 2>err && cat err && grep "partitions wide and debug start no more jobs. They wait here:  weir partition resume wide debug" err &&
	test "$(field_of wide .state)$(field_of debug .state)" = draineddrained &&
	weir partition drain debug wide 2>err && cat err && grep "The partitions debug and wide are drained already: nothing was changed" err &&
	test_expect_code 5 weir partition resume wide debgu && test "$(field_of wide .state)" = drained &&
	weir partition resume wide && weir partition resume debug wide 2>err && cat err && grep "The partition debug takes jobs again" err &&
	grep "The partition wide is not drained[.]" err && test "$(field_of wide .state)$(field_of debug .state)" = upup
'
test_expect_success 'resize: a running job ends in the old instance, the new one takes what waits' '
	gated r1 -q batch -c3 && wait_event $r1 start && old=$(child_of $r1) && gated r3 -q batch -c3 &&
	wait_event $r3 weir.route && weir partition resize wide --cores 4 && partition wide "select(.state == \"up\" and .cores == 4)" &&
	wait_event $r3 start && test $(child_of $r3) != $old && weir partition list | grep "wide  *batch  *4 .* older instance" &&
	open_gate r1 && ended_well $r1 && wait_event $old clean && is_alone wide && open_gate r3 && ended_well $r3 && weir tree | grep "wide  *easy  *[0-9]*/4"
'
test_expect_success 'a job that was submitted to the old instance directly ends there, too' '
	place=$(field_of wide .instances[0].uri) && old=$(field_of wide .instances[0].job) && mkfifo direct.gate &&
	id=$(weir --uri "$place" submit --json sh -c "read line <\"$(pwd)/direct.gate\"; echo direct >>\"$(pwd)/ran\"" | jq .id) &&
	FLUX_URI="$place" wait_event $id start && partition wide "select(.instances[0].own == 1)" &&
	weir partition restart wide && partition wide "select(.state == \"up\" and (.instances | length == 2))" &&
	gated n1 -q batch && wait_event $n1 start && open_gate n1 && ended_well $n1 &&
	partition wide "select(.instances | length == 2)" && new=$(field_of wide .instances[0].job) && test $new != $old &&
	load_route_again && partition wide "select([.instances[].job] == [$new, $old])" && open_gate direct && wait_event $old clean && is_alone wide && tail -n 1 ran | grep direct
'
test_expect_success 'add: options that its scheduler does not have are refused, and nothing changes' '
	test_expect_code 1 weir partition add odd --queue batch --cores 1 --scheduler-option=policy=bogus 2>err; cat err &&
	grep "partition odd. options: .*bogus" err && weir partition list >list && test_must_fail grep "^odd" list
'
test_expect_success 'add, on demand: it starts when a job waits, and is given back' '
	weir partition add spare --queue debug --cores 2 --on-demand --idle-time 1s && weir partition list | grep "spare  *debug  *2 .* off" &&
	weir top --once >top && cat top && grep "spare  *off" top && grep "^ *wide" top &&
	weir partition drain debug && gated s1 -q debug -c2 && wait_event $s1 start && is_alone spare && open_gate s1 && ended_well $s1 &&
	log_has "The partition spare had no job for 1s: it is given back" && partition spare "select(.state == \"off\" and .instances == [])" &&
	weir partition resume debug
'
test_expect_success 'it starts, too, for a job that waits in another partition of its queue, and not for a job that it cannot hold' '
	weir partition add wider --queue debug --cores 3 && is_alone wider && weir partition drain debug &&
	gated o1 -q debug -c3 && wait_event $o1 start && gated o2 -q debug -c3 -t 1h && partition wider "select(.instances[0].pending == 1)" &&
	partition spare "select(.state == \"off\")" && gated o3 -q debug -c2 -t 1h && wait_event $o3 start && is_alone spare &&
	open_gate o3 && ended_well $o3 && open_gate o1 && ended_well $o1 && open_gate o2 && ended_well $o2 &&
	weir partition remove wider && wait_until job-route.partitions "{}" "[.partitions[].name] == [\"debug\", \"spare\", \"wide\"]" >/dev/null &&
	partition spare "select(.state == \"off\")" && weir partition resume debug
'
test_expect_success 'reload refuses what [weir.route] cannot have, and says when a change takes effect' '
	cp site.toml kept.toml && printf "[weir.route]\nhand-down = 0\n" >>site.toml && test_expect_code 1 weir reload 2>err; cat err &&
	grep "hand-down = 0: must be a whole number from 1 to 100000" err && cp kept.toml site.toml &&
	printf "[weir.route]\nhand-down = 4\n" >>site.toml && weir reload 2>err && cat err && grep "take effect at the next start" err &&
	cp kept.toml site.toml && weir reload
'
test_expect_success 'a partition that died starts although the next instance of another one waits for cores' '
	gated u1 -q batch -c3 && wait_event $u1 start && weir partition resize wide --cores 5 &&
	old=$(field_of debug .instances[0].uri) && pid=$(FLUX_URI=$old call attr.get "{\"name\":\"broker.pid\"}" | jq -r .value) &&
	kill -9 $pid && log_has "The partition debug ended" && partition debug "select(.state == \"up\")" &&
	open_gate u1 && ended_well $u1 && is_alone wide && weir partition resize wide --cores 4 && is_alone wide
'
test_expect_success 'the list says what a partition that is starting waits for' '
	gated u2 -q batch -c3 && wait_event $u2 start && weir partition resize wide --cores 8 &&
	next=$(weir partition list --json | jq ".partitions[] | select(.name == \"wide\") | .instances[] | select(.current).id") &&
	wait_event $next priority && weir partition list | tee list && grep "^The partition wide waits for 8 cores" list &&
	weir partition list --json | jq -e ".partitions[] | select(.name == \"wide\") | .waits | startswith(\"waits for 8 cores\")" &&
	weir reload 2>err && cat err && grep "warning: wide is starting and was not asked" err &&
	open_gate u2 && ended_well $u2 && is_alone wide && weir partition resize wide --cores 4 && is_alone wide
'
test_expect_success 'remove: a running job ends first; with --kill it does not' '
	weir partition add more --queue debug --cores 1 && is_alone more && weir partition drain debug && gated k1 -q debug && wait_event $k1 start &&
	weir partition remove more && weir partition list | grep "more .* ending" && open_gate k1 && ended_well $k1 &&
	wait_until job-route.partitions "{}" "[.partitions[].name] == [\"debug\", \"spare\", \"wide\"]" >/dev/null &&
	weir partition add more --queue debug --cores 1 && is_alone more && gated k3 -q debug && wait_event $k3 start &&
	weir partition remove more && test_must_fail weir partition remove more 2>err && grep "more is ending already; --kill ends its jobs too" err &&
	weir partition remove more --kill && wait_event $k3 clean &&
	wait_until job-route.partitions "{}" "[.partitions[].name] == [\"debug\", \"spare\", \"wide\"]" >/dev/null &&
	weir partition resume debug && gated k2 -q batch && wait_event $k2 start && k4=$(weir submit --json -q batch -c4 true | jq .id) &&
	wait_event $k4 priority && weir partition remove wide --kill 2>err && cat err &&
	grep "warning: 1 job waits for the queue batch, which no partition has any more, and stays" err && weir cancel $k4 && wait_event $k4 clean &&
	wait_event $k2 clean && wait_until job-route.partitions "{}" "[.partitions[].name] == [\"debug\", \"spare\"]" >/dev/null
'
test_expect_success 'a job of its queue waits, and weir why says for what' '
	gated l1 -q batch && weir why $l1 | tee why && grep "no partition serves the queue" why
'
test_expect_success 'an instance that starts again has what operators changed' '
	stop_weir && begin && weir partition list | tee list && test_expect_code 1 grep "^wide" list && grep "^spare .* off" list
'
test_expect_success 'reload: a changed table counts again, a new one is started, the waiting job runs' '
	cat >>site.toml <<-\EOF &&

	[[partition]]
	name = "extra"
	queues = ["debug", "batch"]
	cores = 2
	EOF
	weir reload && is_alone extra && wait_event $l1 start && open_gate l1 && ended_well $l1 &&
	sed -i "s/cores = 3/cores = 2/" site.toml && weir reload && is_alone wide && log_has "configuration of the partition wide has changed"
'
test_expect_success 'a mistake is refused with file, line, value and what is right; nothing changes' '
	cp site.toml before.toml && sed "s/cores = 2/cores = \"two\"/" before.toml >site.toml && line=$(grep -n "two" site.toml | head -n 1 | cut -d: -f1) &&
	test_expect_code 1 weir reload 2>err && cat err && grep "site.toml:$line: .partition wide. cores = \"two\": must be a whole number" err &&
	sed "s/^scheduler/shceduler/" before.toml >site.toml && test_expect_code 1 weir reload 2>err && grep "unknown key; did you mean \"scheduler\"" err &&
	sed "s/\"batch\"\]/\"bacth\"]/" before.toml >site.toml && test_expect_code 1 weir reload 2>err && grep "there is no queue bacth; write a table .queues.bacth" err &&
	cp before.toml site.toml && weir reload && is_alone wide && is_alone extra
'
same() {
	weir partition list --json | jq -S "[.partitions[] | {name, cores, nodes, instances: [.instances[].id]}]"
}
test_expect_success 'so is what the table does not show: a size, a scheduler, its own [weir]' '
	same >was && sed "s/cores = 2/cores = 99/" before.toml >site.toml && test_expect_code 1 weir reload 2>err && cat err &&
	grep "The partition wide cannot have this size, and nothing is changed: the scheduler says: .* asks for 99 cores" err &&
	sed "s/\"fcfs\"/\"esay\"/" before.toml >site.toml && test_expect_code 1 weir reload 2>err && cat err &&
	grep "partition debug. scheduler = \"esay\": there is no such module; it must be \"easy\"" err &&
	test_expect_code 1 weir partition add odd --queue batch --cores 1 --scheduler esay 2>err && grep "partition odd. scheduler = \"esay\"" err &&
	{ cat before.toml && printf "[partition.config.weir]\nhalflife = \"3d\"\n"; } >site.toml && test_expect_code 1 weir reload 2>err && cat err &&
	grep "config.weir: .*halflife" err && cp before.toml site.toml && weir reload && same >is && test_cmp was is && is_alone wide
'
test_expect_success 'so are mistakes in commands' '
	test_must_fail weir partition add x --queue nowhere --cores 1 2>err && grep "there is no queue nowhere" err &&
	test_must_fail weir partition add wide --cores 1 2>err && grep "there is a partition wide already" err &&
	test_must_fail weir partition resize nobody --cores 1 2>err && grep "no partition has the name nobody" err &&
	for c in "drain wied" "resize wied --cores 1" "remove wied" "restart wied"; do
		test_expect_code 5 weir partition $c 2>err && grep "no partition has the name wied; did you mean wide?" err || return 1
	done &&
	test_expect_code 2 weir partition resize wide 2>err && grep -e "--cores N" err
'
test_expect_success 'a job that is larger than every partition of its queue is refused at submission' '
	test_expect_code 1 weir submit -q batch -n9 true 2>err && cat err && grep "wide takes at most [0-9]* cores (it asks for 9 cores)" err
'
test_expect_success 'a size that the machine does not have is refused with the reason, and nothing changes' '
	same >was &&
	test_must_fail weir partition resize wide --cores 11 2>err && cat err && grep "The partition wide cannot have this size, and nothing is changed: the scheduler says: unsatisfiable request: the job asks for " err &&
	test_must_fail weir partition resize wide --nodes 2 --cores-per-node 1 --kill 2>err && grep "cannot have this size" err &&
	test_must_fail weir partition add huge --queue batch --cores 11 2>err && grep "The partition huge cannot have this size" err && same >is && test_cmp was is && is_alone wide
'
test_expect_success 'a partition that was added and that the machine cannot hold any more: a warning, the others serve' '
	weir partition add late --queue debug --cores 2 && is_alone late && stop_weir &&
	start_weir --cores 5 --config site.toml --statedir "$(pwd)/state" && cat start.out &&
	is_alone wide && is_alone debug && weir partition list | tee list && grep "^late " list && weir partition remove late --kill &&
	stop_weir && begin && is_alone wide
'
test_expect_success 'it ends, and leaves nothing' '
	stop_weir && test -z "$(leftovers)" && ! test -e run
'
test_expect_success 'a file with a mistake starts nothing, and says what and where' '
	sed "s/cores = 1/cores = 0/" good.toml >site.toml && test_expect_code 1 weir start --config site.toml 2>err && cat err &&
	grep "site.toml:[0-9]*: .partition debug. cores = 0: must be a whole number" err
'
cat >deep.toml <<EOF
[weir]
update-interval = "200ms"
[[partition]]
name = "batch"
cores = 4
[[partition.partition]]
name = "left"
queues = ["batch"]
cores = 2
[[partition.partition]]
name = "right"
queues = ["batch"]
cores = 2
[partition.partition.config.weir]
parent-factors = false
half-life = "1d"
EOF
test_expect_success 'partitions of partitions: a job runs at the third level, and weir tree shows all' '
	start_weir --cores 4 --config deep.toml &&
	FLUX_URI=local://$WEIR_RUNDIR/batch/local-0 partition left "select(.state == \"up\")" && FLUX_URI=local://$WEIR_RUNDIR/batch/local-0 partition right "select(.state == \"up\")" &&
	weir submit -q batch --wait -c2 echo third | grep third && weir tree | tee tree && grep "left" tree && grep "right .* own" tree
'
in_batch() (
	FLUX_URI=local://$WEIR_RUNDIR/batch/local-0 && export FLUX_URI && "$@"
)
test_expect_success 'job-route of the middle one is loaded again: its partitions go on, though an instance of one died before' '
	died=$(in_batch job_of left) && kill -9 $(cat run/batch/left/broker.pid) && in_batch log_has "The partition left serves its queue again" &&
	left=$(in_batch job_of left) && test $left != $died && load_route_again "local://$WEIR_RUNDIR/batch/local-0" && in_batch is_alone left && test $(in_batch job_of left) = $left
'
test_expect_success 'and a middle one that is killed comes back with its own' '
	kill -9 $(cat run/batch/broker.pid) && log_has "The partition batch serves its queue again" &&
	weir submit -q batch --wait -c2 echo again | grep again && stop_weir && test -z "$(leftovers)"
'
test_done
