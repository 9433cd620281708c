#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='limits of the share tree count jobs over all instances, also those that were submitted to a partition'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir]
update-interval = "200ms"
[weir.users]
alice = 5001
bob = 5002
[[partition]]
name = "one"
queues = ["batch"]
cores = 2
[[partition]]
name = "two"
queues = ["other"]
cores = 2
EOF
cat >shares.toml <<EOF
"chem" = 1
"chem/@alice" = { shares = 1, running_jobs_max = 1 }
"chem/@bob" = 1
EOF
# uri INSTANCE: top, or a partition
uri() {
	case $1 in top) echo "local://$WEIR_RUNDIR/local-0" ;; *) echo "local://$WEIR_RUNDIR/$1/local-0" ;; esac
}
FLUX_URI=$(uri top) && export FLUX_URI
begin() {
	start_weir --cores 5 --config site.toml --tree shares.toml --statedir "$(pwd)/state" && are_up one two && wait_attached
}
# wait_attached: both partitions have the share tree that the limits are in
wait_attached() {
	for name in one two; do
		in_ $name wait_until job-priority.weights "{}" "select(.in_force.from == \"parent\" and .in_force.tree > 0)" >/dev/null || return 1
	done
}
# in_ INSTANCE COMMAND...
in_() (
	FLUX_URI=$(uri $1) && shift && "$@"
)
# at INSTANCE NAME WORDS...: a job of alice that is submitted there and ends when its gate is opened; $NAME is its id
at() {
	place=$1 && name=$2 && shift 2 && { test -p $name.gate || mkfifo $name.gate; } &&
		id=$(in_ $place weir submit --json --user alice "$@" sh -c "read line <\"$(pwd)/$name.gate\"" | jq .id) && eval "$name=$id at_$name=$place"
}
# bobs INSTANCE WORDS...: a job of bob; prints its id
bobs() {
	place=$1 && shift && in_ $place weir submit --json --user bob "$@" sleep inf | jq .id
}
# on NAME COMMAND...: at the instance that the job was submitted to
on() {
	eval "place=\$at_$1" && shift && in_ $place "$@"
}
# id_of NAME
id_of() {
	eval "echo \$$1"
}
runs() {
	on $1 wait_event $(id_of $1) start >/dev/null
}
# waits NAME REASON: a limit holds it back, in these words
waits() {
	on $1 wait_until job-priority.explain "{\"id\":$(id_of $1)}" "select(.limit != null and (.limit | test(\"$2\")))" >/dev/null
}
# is_free NAME: no limit holds it back
is_free() {
	on $1 wait_until job-priority.explain "{\"id\":$(id_of $1)}" "select(.limit == null and .pushed > 0)" >/dev/null
}
ends() {
	echo go >$1.gate && on $1 wait_event $(id_of $1) clean >/dev/null
}
# starts NAME: how often it has started
starts() {
	on $1 call job-info.lookup "{\"id\":$(id_of $1),\"keys\":[\"eventlog\"],\"flags\":0}" | jq -r .eventlog | jq -r .name | grep -c "^start"
}
lift() {
	weir share set chem/@alice running_jobs_max=$1
}
limit="chem/@alice runs at most 1 job; 1 run"

test_expect_success 'three jobs of a user, one at the parent and one in each partition: one runs' '
	begin && at two a && runs a && at one b && in_ one weir nice $b -4 && at top c -q batch && waits b "$limit" && waits c "$limit" && at two d && waits d "$limit"
'
test_expect_success 'weir why says the limit in each instance, with the count of all' '
	for job in b c d; do on $job weir why $(id_of $job) | tee why && grep "$limit" why || return 1; done
'
test_expect_success 'a job that ends lets one other go, wherever that is' '
	ends a && runs b && waits c "$limit" && waits d "$limit"
'
test_expect_success 'lifting the limit lets all go at once' '
	lift 5 && runs c && runs d
'
test_expect_success 'a lowered limit holds back what comes then' '
	lift 1 && at two e && waits e "chem/@alice runs at most 1 job; 3 run" && ends b && ends c && waits e "1 run" && ends d && runs e
'
# The place of `e` is in the state file of the parent.
test_expect_success 'with job-priority of the parent loaded anew, the place that a partition holds stays taken' '
	at top f -q batch && waits f "$limit" && call module.remove "{\"name\":\"job-priority\"}" &&
	call module.load "{\"path\":\"job-priority\",\"args\":[]}" && waits f "$limit" && test $(starts f) = 0
'
test_expect_success 'with the parent gone a granted job starts, another does not' '
	ends e && runs f && ends f &&
	filler=$(bobs one -n2) && in_ one wait_event $filler start >/dev/null &&
	at one g && is_free g && at two h && waits h "chem/@alice runs at most 1 job; 0 run, and 1 starts before it" &&
	call module.remove "{\"name\":\"job-priority\"}" &&
	at two i && waits i "has not answered yet" && in_ one weir cancel $filler && runs g && ends g && waits h "1 starts before it"
'
test_expect_success 'when it is back, the others go one after the other' '
	call module.load "{\"path\":\"job-priority\",\"args\":[]}" && runs h && waits i "$limit" && ends h && runs i
'
test_expect_success 'kill -9 of the partition: its place is free, and nothing runs twice' '
	at top j -q batch && waits j "$limit" && kill -9 $(cat run/two/broker.pid) && log_has "partition two serves its queue again" &&
	runs j && ends j
'
test_expect_success 'kill -9 of the parent: its partitions end with it, and again one runs' '
	at two k && runs k && at one l && waits l "$limit" && at top m -q batch && waits m "$limit" &&
	kill -9 $(cat run/broker.pid) && { wait $WEIR_PID; all_gone; } && begin &&
	at two n && waits n "$limit" && test $(($(starts l) + $(starts m))) = 1
'
test_expect_success 'more active jobs than allowed are refused, wherever the others are' '
	weir share set chem/@bob active_jobs_max=1 && first=$(bobs two) &&
	in_ two wait_event $first start >/dev/null && other=$(bobs one) &&
	in_ one wait_event $other exception | tee out && jq -e ".type == \"limit\"" out && grep "chem/@bob has at most 1 job that wait or run; 1 does" out
'
test_expect_success 'stop' '
	stop_weir >/dev/null
'
test_done
