#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='limits of a partition: no job over one is started there, and lifting one lets it go at once'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir]
update-interval = "200ms"
[[partition]]
name = "small"
queues = ["batch"]
cores = 4
limits = { running-jobs-max = 2, user-cores-max = 3 }

[[partition]]
name = "other"
queues = ["batch"]
cores = 1
takes = { duration-max = "1h" }

[[partition]]
name = "third"
cores = 2
EOF
cp site.toml good.toml
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
begin() {
	start_weir --cores 12 --config site.toml --statedir "$(pwd)/state" &&
	are_up small other third && small=$(job_of small) && other=$(job_of other)
}
# waits_for ID LIMIT: it waits here, and small has no place for it by that limit
waits_for() {
	wait_until job-route.locate "{\"id\":$1}" ".child == 0 and any(.partitions[]; .name == \"small\" and .limit == \"$2\")" >/dev/null
}
# runs_in ID PARTITION_JOB: it started there
runs_in() {
	wait_event $1 start >/dev/null && test $(child_of $1) = $2
}
limits() {
	sed "s/^limits = .*/limits = { $1 }/" good.toml >site.toml && weir reload
}
# The process of its instance, whose folder has a number after a resize.
broker_of_small() {
	cat "$(weir partition list --json | jq -r ".partitions[] | select(.name == \"small\") | .instances[0].uri | sub(\"^local://\"; \"\") | sub(\"/[^/]*$\"; \"\")")/broker.pid"
}
# small_has CORES: the present instance of small serves with so many, and none is draining
small_has() {
	partition small "select(.state == \"up\" and .cores == $1 and (.instances | length) == 1)"
}
two_run="runs at most 2 jobs; 2 run"

test_expect_success 'the list has the limits, and a job that is larger than one is refused' '
	begin && weir partition list | tee list && grep "^small  *batch  *at most 3 cores  *2 jobs; a user 3 cores  *4 " list && grep "^other  *batch  *at most 1h  *none  *1 " list &&
	weir partition list --json | tee j | jq -e "[.partitions[].limits] == [{\"running-jobs-max\": 2, \"user-cores-max\": 3}, {}, {}]" &&
	test_expect_code 1 weir submit -q batch -c4 -t2h true 2>err && cat err && grep "small takes at most 3 cores (it asks for 4 cores)" err
'
test_expect_success 'a job over the limit waits although cores are free, and weir why names limit and count' '
	gated a -q batch -t2h && gated b -q batch -t2h && runs_in $a $small && runs_in $b $small && gated c -q batch -t2h && waits_for $c "$two_run" &&
	weir why $c | tee why && grep "waits until a limit of a partition of its queue allows it" why && grep "^The partition small $two_run\.$" why &&
	grep "^The partition other takes at most 1h; it asks for 2h" why &&
	weir why --json $c | tee j | jq -e ".reason == \"partition-limit\" and .limited[0].name == \"small\""
'
test_expect_success 'a job that another partition takes goes there' '
	gated d -q batch -t30m && runs_in $d $other && end d
'
test_expect_success 'the next starts when one ends; a smaller job passes one that exceeds the limit of cores' '
	end a && runs_in $c $small && gated e -q batch -t2h -c3 && end b && waits_for $e "runs jobs of a user on at most 3 cores; 1 is in use" &&
	gated f -q batch -t2h -c2 && runs_in $f $small && end f && end c && runs_in $e $small && end e
'
test_expect_success 'a lifted limit lets all go at once, without a new instance' '
	for one in g h r s; do gated $one -q batch -t2h || return 1; done && runs_in $g $small && runs_in $h $small && waits_for $r "$two_run" && waits_for $s "$two_run" &&
	limits "running-jobs-max = 4" && runs_in $r $small && runs_in $s $small && test $(job_of small) = $small
'
test_expect_success 'a lowered one ends nothing; what was handed down and has not started comes back' '
	limits "running-jobs-max = 5" && gated k -q batch -t2h && wait_until job-route.locate "{\"id\":$k}" ".child == $small" && limits "running-jobs-max = 3" &&
	waits_for $k "runs at most 3 jobs; 4 run" && end g && waits_for $k "runs at most 3 jobs; 3 run" && end h && runs_in $k $small && test $(job_of small) = $small
'
test_expect_success 'jobs in an earlier instance of the partition count' '
	weir partition resize small --cores 3 && gated l -q batch -t2h && waits_for $l "runs at most 3 jobs; 3 run" &&
	partition small "select(any(.instances[]; .role == \"draining\" and .running == 3))" && end r && runs_in $l $(job_of small) && end s && end k && end l &&
	weir partition resize small --cores 4 && small_has 4 && cp good.toml site.toml && weir reload && small_has 4 && small=$(job_of small)
'
test_expect_success 'the limit holds when job-route is loaded anew, and over kill -9 of the parent and of the partition' '
	gated m -q batch -t2h && gated n -q batch -t2h && gated o -q batch -t2h && runs_in $n $small && waits_for $o "$two_run" &&
	load_route_again && are_up small && waits_for $o "$two_run" && kill -9 $(cat run/broker.pid) && { wait $WEIR_PID; begin; } && runs_in $o $small && wait_event $n clean &&
	gated p -q batch -t2h && gated q -q batch -t2h && runs_in $p $small && waits_for $q "$two_run" && kill -9 $(broker_of_small) && wait_event $p clean && runs_in $q $(job_of small) && end q
'
test_expect_success 'once a partition serves, nobody is told that it has not started' '
	small=$(job_of small) && for one in u v w; do gated $one -q batch -t2h || return 1; done && runs_in $u $small && runs_in $v $small && waits_for $w "$two_run" &&
	weir partition restart small && partition small "select(.state == \"up\" and (.instances | length) == 2)" &&
	call job-route.locate "{\"id\":$w}" | tee j | jq -e ".partitions[] | select(.name == \"small\") | .limit == \"$two_run\" and (has(\"away\") | not)" &&
	end u && runs_in $w $(job_of small) && end v && end w
'
# of all jobs that ran in small: the most at once, from the allocation to the end
cat >most.py <<EOF
import json, subprocess, sys
steps = []
for job in sys.argv[1:]:
    log = json.loads(subprocess.run([sys.executable, "$WIRE", "rpc", "job-info.lookup", json.dumps({"id": int(job), "keys": ["eventlog"], "flags": 0})],
                                    check=True, stdout=subprocess.PIPE).stdout)["eventlog"]
    at = {event["name"]: event["timestamp"] for event in map(json.loads, log.splitlines())}
    if "alloc" in at:
        steps += [(at["alloc"], 1), (at.get("finish", at["clean"]), -1)]
most = now = 0
for _, step in sorted(steps):
    now += step
    most = max(most, now)
print(most)
EOF
test_expect_success 'a stream of jobs never exceeds it, whatever else happens' '
	limits "running-jobs-max = 2" && partition small "select(.state == \"up\")" && ids= &&
	for i in $(seq 30); do ids="$ids $(weir submit -q batch -t2h --json sleep 0.05 | jq .id)" || return 1; done && set -- $ids &&
	wait_event ${10} clean && load_route_again && are_up small && wait_event ${16} clean && weir partition restart small && wait_event ${22} clean && weir partition resize small -c 3 &&
	for id in $ids; do wait_event $id clean >/dev/null || return 1; done && python3 most.py $ids | tee most && test $(cat most) = 2
'
test_expect_success 'a partition that is added may have limits; a mistake is refused, and nothing changes' '
	weir partition add more --queue third -c 1 --limit running-jobs-max=1 && weir partition list | tee list && grep "^more  *third  *all  *1 job  *1 " list && weir partition remove more &&
	test_expect_code 1 weir partition add odd --queue third -c 2 --limit cores-max=x 2>err && grep "partition odd.limits. cores-max = \"x\": must be a whole number" err &&
	test_expect_code 2 weir partition add odd --queue third -c 2 --limit cores-max 2>err && grep "write KEY=N" err &&
	refused() {
		sed "s/^limits = .*/limits = { $1 }/" good.toml >site.toml && test_expect_code 1 weir reload 2>err && cat err && grep "site.toml:7: .partition small.limits. $2" err
	} && refused "running-jobs-max = 0" "running-jobs-max = 0: must be a whole number from 1 to" &&
	refused "runing-jobs-max = 1" "runing-jobs-max = 1: unknown key; did you mean .running-jobs-max." && cp good.toml site.toml && weir reload && weir partition list | grep "^small .* 2 jobs; a user 3 cores"
'
test_done
