#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='rules: a partition takes the jobs that its table says; what none takes is refused, or waits and says why'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir]
update-interval = "200ms"
[weir.users]
bob = 4711
[[partition]]
name = "short"
queues = ["batch"]
cores = 2
takes = { duration-max = "1h" }

[[partition]]
name = "long"
queues = ["batch"]
cores = 2
takes = { cores-max = 1 }

[[partition]]
name = "club"
cores = 1
takes = { users = ["bob"] }
EOF
cp site.toml good.toml
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
begin() {
	start_weir --cores 8 --config site.toml --statedir "$(pwd)/state" &&
	are_up short long club && short=$(job_of short) && long=$(job_of long)
}
is_with() {
	wait_until job-route.locate "{\"id\":$1}" ".child == $2" >/dev/null
}
long_takes() {
	sed "s/cores-max = 1/$1/" good.toml >site.toml && weir reload
}

test_expect_success 'the list has the rules, in the order of the file' '
	begin && weir partition list | tee list && grep "^short  *batch  *at most 1h  *2 " list && grep "^long  *batch  *at most 1 core  *2 " list &&
	weir partition list --json | tee j | jq -e "[.partitions[] | [.name, .rules, .takes]] == [[\"short\", \"at most 1h\", {\"duration-max\": \"1h\"}],
		[\"long\", \"at most 1 core\", {\"cores-max\": 1}], [\"club\", \"user bob\", {\"users\": [\"bob\"]}]]"
'
test_expect_success 'the first of the file that takes a job and has room gets it, else the next; not one that does not take it' '
	gated l1 -q batch -t2h && wait_event $l1 start && test $(child_of $l1) = $long &&
	gated s1 -q batch -t30m -c2 && wait_event $s1 start && test $(child_of $s1) = $short &&
	gated s2 -q batch -t30m && wait_event $s2 start && test $(child_of $s2) = $long &&
	gated s3 -q batch -t30m -c2 && is_with $s3 $short && gated l2 -q batch -t2h && is_with $l2 $long
'
test_expect_success 'weir why says which partitions do not take it, and for what' '
	weir why $s3 | tee why && grep "It is in the partition short" why && grep "^The partition long takes at most 1 core; it asks for 2 cores" why &&
	weir why --json $l2 | tee j | jq -e ".not_taken == [{name: \"short\", takes: false, rules: \"at most 1h\", rule: \"at most 1h\", job: \"it asks for 2h\"}]"
'
test_expect_success 'an estimate of one partition says that another which takes the job may start it earlier' '
	gated s9 -q batch -t30m && is_with $s9 $short && wait_until job-route.ask "{\"id\":$s9,\"topic\":\"sched.why\"}" ".answer.t_estimate > 0" >/dev/null &&
	weir why $s9 | tee why && grep "; estimated start in short: 20.*; it may start earlier in long\.$" why &&
	weir why --json $s9 | jq -e ".may_start_in == [\"long\"]" && weir why $s3 | tee why && grep "; estimated start: 20" why && ! grep earlier why &&
	weir prio list | tee list && test $(grep -c " short #.* in [0-9].* \*$" list) = 1 && grep "^\* in that partition; it may start earlier in another one" list &&
	weir prio list --json | jq -e "[.jobs[] | select(.id == $s9).may_start_in] == [[\"long\"]] and [.jobs[] | select(.id == $s3).may_start_in] == [null]" &&
	weir cancel $s9 && wait_event $s9 clean
'
test_expect_success 'weir prio list says why it leaves cells empty' '
	for i in $(seq 60); do weir submit --json -q batch -t30m --simulate=1h x | jq .id || return 1; done >many && last=$(tail -n 1 many) &&
	wait_until job-priority.list "{\"limit\":0}" "select([.jobs[].id] | index($last) != null)" >/dev/null &&
	weir prio list -c 0 >out && cat out && grep "^A job without a partition waits here until one has room for it" out && grep "those of the first 50 jobs alone" out &&
	weir prio list -c 3 >out && ! grep "first 50" out && weir cancel $(cat many)
'
test_expect_success 'a job that no partition of its queue takes is refused, and the sentence names the rules' '
	test_expect_code 1 weir submit -q batch -t2h -c2 true 2>err && cat err &&
	grep "no partition of the queue batch takes this job: short takes at most 1h (it asks for 2h); long takes at most 1 core (it asks for 2 cores)" err &&
	test_expect_code 1 weir submit -q batch -c2 true 2>err && grep "it has no time limit" err &&
	test_expect_code 1 weir submit -q club true 2>err && grep "club takes user bob (it is another user.s)" err
'
test_expect_success 'reload: what waits where it is not taken any more comes back, what runs goes on; no new instance is needed' '
	long_takes "cores-max = 1, duration-min = \"3h\"" && is_with $l2 0 && weir why $l2 | tee why &&
	grep "waits for a partition that takes it: no partition of the queue \"batch\" does" why && grep "^The partition short takes at most 1h; it asks for 2h" why &&
	grep "^The partition long takes at least 3h; it asks for 2h" why && test $(child_of $l1) = $long && test $(job_of long) = $long &&
	test_expect_code 1 weir submit -q batch -t2h true 2>err && grep "long takes at least 3h" err
'
test_expect_success 'so it does when job-route is loaded anew, in the parent and in the child' '
	load_route_again && are_up short long && is_with $l2 0 && is_with $s3 $short &&
	load_route_again "local://$WEIR_RUNDIR/short/local-0" && are_up short && is_with $s3 $short && is_with $l2 0 && weir why $l2 | grep "no partition of the queue"
'
test_expect_success 'rules that take it let it run' '
	end s2 && long_takes "cores-max = 1" && is_with $l2 $long && wait_event $l2 start && end l1 && end s1 && wait_event $s3 start && test $(child_of $s3) = $short
'
test_expect_success 'a partition that is added may have rules; a job that it alone takes is not refused while it is there, by a plugin that was loaded again either' '
	weir partition add big --queue batch -c 2 --takes duration-min=2h --takes cores-min=2 && weir partition list | tee list &&
	grep "^big  *batch  *at least 2h, at least 2 cores  *2 " list && gated b1 -q batch -t2h -c2 && wait_event $b1 start && test $(child_of $b1) = $(job_of big) &&
	plugin=$(call job-manager.jobtap-query "{\"name\":\"job-route-tap.so\"}" | jq -r .path) && call job-manager.jobtap "{\"remove\":\"job-route-tap.so\"}" &&
	call job-manager.jobtap "{\"load\":\"$plugin\"}" &&
	wait_until job-manager.jobtap-query "{\"name\":\"job-route-tap.so\"}" ".partitions == 4" >/dev/null && gated b2 -q batch -t2h -c2 && end b1 && wait_event $b2 start && test $(child_of $b2) = $(job_of big) &&
	end b2 && weir partition remove big && test_expect_code 1 weir submit -q batch -t2h -c2 true &&
	test_expect_code 1 weir partition add odd --queue batch -c 2 --takes cores-min=x 2>err && grep "partition odd.takes. cores-min = \"x\": must be a whole number" err &&
	test_expect_code 2 weir partition add odd --queue batch -c 2 --takes duration-max 2>err && grep "write KEY=VALUE" err
'
test_expect_success 'kill -9 of a partition: what waited there does not go to one that does not take it' '
	gated s4 -q batch -t30m -c2 && is_with $s4 $short && kill -9 $(cat run/short/broker.pid) && wait_event $s3 clean &&
	wait_event $s4 start && short=$(job_of short) && test $(child_of $s4) = $short
'
test_expect_success 'kill -9 of the parent: it comes back with the rules, and what no partition takes waits' '
	gated l3 -q batch -t2h && gated l4 -q batch -t2h && is_with $l4 $long && long_takes "cores-max = 1, duration-min = \"3h\"" && is_with $l4 0 &&
	kill -9 $(cat run/broker.pid) && { wait $WEIR_PID; begin; } && weir why $l4 | tee why && grep "The partition long takes at least 3h; it asks for 2h" why && is_with $l4 0 &&
	long_takes "cores-max = 1" && wait_event $l4 start && test $(child_of $l4) = $long && end l4
'
test_expect_success 'a mistake is refused with file, line, value and what is right; nothing changes' '
	refused() {
		sed "s/takes = { duration-max = .1h. }/takes = { $1 }/" good.toml >site.toml && test_expect_code 1 weir reload 2>err && cat err && grep "site.toml:9: .partition short.takes. $2" err
	} && refused "duration-max = 60" "duration-max = 60: must be a duration above 0 with its unit" &&
	refused "duration-mxa = \"1h\"" "duration-mxa = .1h.: unknown key; did you mean .duration-max." &&
	refused "cores-min = 3" "cores-min = 3: must be at most 2, the cores of the partition" &&
	refused "users = [\"eve-is-nobody\"]" "users = ..eve-is-nobody..: there is no user eve-is-nobody on this machine; .weir.users. can give it a number" &&
	cp good.toml site.toml && weir reload && weir partition list | grep "^short  *batch  *at most 1h"
'
test_expect_success 'a partition that a command added still takes its jobs after a reload that was refused' '
	weir partition add big --queue batch -c 2 --takes duration-min=2h --takes cores-min=2 && are_up big && gated b3 -q batch -t2h -c2 &&
	sed "s/^cores = 2/cores = 64/" good.toml >site.toml && test_expect_code 1 weir reload 2>err && cat err && cp good.toml site.toml &&
	wait_until job-manager.jobtap-query "{\"name\":\"job-route-tap.so\"}" ".partitions == 4" >/dev/null &&
	gated b4 -q batch -t2h -c2 && end b3 && wait_event $b4 start && test $(child_of $b4) = $(job_of big) && end b4
'
test_done
