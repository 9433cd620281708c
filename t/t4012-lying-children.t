#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='children that lie: a guest with a running job changes nothing but what his own job is charged'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"

broker_config "resource job-manager job-exec sched-weir-fcfs job-priority" job-priority-tap.so 0-7 >broker.toml
cat >>broker.toml <<EOF
[weir]
share-tree = "shares.toml"
half-life = "1h"
update-interval = "1h"
[weir.users]
alice = 5001
bob = 5002
[access]
allow-guest-user = true
EOF
cat >shares.toml <<EOF
"physics" = 1
"physics/@alice" = 1
"bio" = 1
"bio/@bob" = 1
"bio/@*" = 1
EOF

# as USERID WHAT...: as a guest
as() {
	id=$1 && shift && python3 "$WIRE" --userid $id --rolemask 2 "$@"
}
# submit_as USERID OPTIONS: on behalf of a user, as the owner may
submit_as() {
	id=$1 && shift && python3 "$WIRE" --userid $id --rolemask 1 submit "$@" -- true
}
# report USERID JOB SEQ RECORDS
report() {
	as $1 rpc job-priority.report "{\"jobid\":$2,\"seq\":$3,\"records\":[$4]}"
}
# record start ID USER ACCOUNT CORES SECONDS, or record end ID SECONDS
record() {
	case $1 in
	start) printf '[%s,%s000000,"%s","%s",%s]' "$2" "$6" "$3" "$4" "$5" ;;
	end) printf '[%s,%s000000]' "$2" "$3" ;;
	esac
}
usage() {
	call job-priority.usage "{}" >usage.json
}
# node PATH KEY
node() {
	jq ".nodes[] | select(.path == \"$1\") | .$2" usage.json
}
# Nothing that was charged is more than the four cores since the beginning, or less than nothing.
is_conserved() {
	usage && jq -e "[.nodes[].charged_core_us] | min >= 0" usage.json &&
	jq -e ".total.charged_core_us <= 4 * (.now - $before + 1) * 1e6" usage.json &&
	jq -e ".total.usage_core_s * 1e6 <= .total.charged_core_us and .total.usage_core_s * 1e6 > 0.9 * .total.charged_core_us" usage.json
}

test_expect_success 'two users run jobs of two cores; alice says that hers is an instance' '
	mkdir state && before=$(date +%s) && start_broker here -c broker.toml -S statedir="$PWD/state" &&
	alices=$(submit_as 5001 -n2 --simulate 1000 --setattr bank=physics) && wait_event $alices alloc &&
	bobs=$(submit_as 5002 -n2 --simulate 1000 --setattr bank=bio) && wait_event $bobs alloc &&
	call job-priority.sync "{}" &&
	as 5001 stream job-priority.attach "{\"jobid\":$alices,\"instance\":\"one\"}" --count 1 | jq -e ".seq_acked == 0"
'
test_expect_success 'she speaks for no job but her own' '
	test_must_fail as 5001 stream job-priority.attach "{\"jobid\":$bobs,\"instance\":\"one\"}" --count 1 >out &&
	grep "^error 1:.*another user" out &&
	test_must_fail report 5001 $bobs 1 "$(record end 1 1)" >out && grep "^error 1:" out
'
test_expect_success 'no time that she names counts outside of her job, and none moves the ledger on' '
	report 5001 $alices 1 "$(record start 6 alice bio 1 -4000000000),$(record end 6 4000000000),$(record start 7 alice bio 1 4000000000),$(record end 7 1)" &&
	is_conserved
'
test_expect_success 'the same hours, told again and again, are charged once' '
	records=$(for n in $(seq 1000 1099); do record start $n alice bio 2 1 && printf , && record end $n 4000000000 && printf ,; done) &&
	report 5001 $alices 5 "${records%,}" && is_conserved &&
	jq -e "(.nodes[] | select(.path == \"bio/@alice\") | .charged_core_us) <= 2 * (.now - $before + 1) * 1e6" usage.json
'
test_expect_success 'a colleague pays nothing for her jobs, by name or by number' '
	report 5001 $alices 205 "$(record start 1 bob bio 1 1),$(record start 2 5002 bio 1 1)" | jq -e ".seq_acked == 206" &&
	usage && test "$(node bio/@bob running_cores)" = 2 && test "$(node physics/@alice running_cores)" = 2 &&
	test "$(node bio/@bob charged_core_us)" -lt $((($(date +%s) - before + 1) * 2000000))
'
test_expect_success 'she cannot leave the tree to pay nothing, nor pay less than she runs' '
	report 5001 $alices 207 "$(record start 3 alice nowhere 2 1),$(record start 4 alice nowhere 2 4000000000),$(record start 5 nobody "" 2 1)" &&
	usage && test "$(node physics/@alice running_cores)" = 2 && jq -e ".unassociated.running_cores == 0" usage.json
'
test_expect_success 'she invents no users' '
	call job-priority.stats-get "{}" | jq .nodes >nodes.before &&
	records=$(for n in $(seq 100); do record start $((100 + n)) zed$n bio 1 1 && printf , && record start $((300 + n)) $((70000 + n)) bio 0 1 && printf ,; done) &&
	report 5001 $alices 210 "${records%,}" | jq -e ".seq_acked == 409" &&
	call job-priority.stats-get "{}" | jq .nodes >nodes.after && cmp nodes.before nodes.after
'
test_expect_success 'what is no record, and more of them than a batch has, are refused whole' '
	for bad in "[1,1,\"alice\"]" "$(record start 1 alice bio -1 1)" "$(record start 1 alice bio 1 1000000000000)"; do
		test_must_fail report 5001 $alices 410 "$bad" >out && grep "^error 71:" out || return 1
	done &&
	records=$(for n in $(seq 501); do record start $n alice bio 1 1 && printf ,; done) &&
	test_must_fail report 5001 $alices 410 "${records%,}" >out && grep "^error 71:.*500" out &&
	long=$(head -c 5000 /dev/zero | tr "\0" a) && test_must_fail as 5001 stream job-priority.attach \
		"{\"jobid\":$alices,\"instance\":\"$long\"}" --count 1 >out && grep "^error 71:" out
'
test_expect_success 'reports sent faster than they are answered are refused, not lost: who waits for each answer gets all in' '
	python3 - $alices <<-\EOF
		import json, sys, time, wire
		client, job = wire.Client(userid=5001, rolemask=2), int(sys.argv[1])

		def report(seq):
		    records = [[5000 + seq, 4 * 10**15, "alice", "bio", 1], [5000 + seq, 4 * 10**15]]
		    return client.start("job-priority.report", {"jobid": job, "seq": seq, "records": records})

		def answers(tags):
		    refused, acked = 0, 0
		    for tag in tags:
		        try:
		            acked = max(acked, json.loads(client.answer(tag))["seq_acked"])
		        except wire.Failed as failed:
		            assert failed.errnum == 11 and "wait for the answer" in str(failed), failed
		            refused += 1
		    return refused, acked

		first = 410
		assert answers([report(first)]) == (0, first + 1)
		refused, acked = answers([report(first + 2 * i) for i in range(1, 201)])
		assert refused > 100, refused
		assert first < acked < first + 200, acked  # the one that is served may lack those before it
		for i in range(10):
		    refused, now = answers([report(acked + 1)])
		    assert (refused, now) == (0, acked + 2), (refused, now, acked)
		    acked = now
		owner = wire.Client()
		payload = {"jobid": job, "seq": acked + 1, "records": []}
		for tag in [owner.start("job-priority.report", payload) for i in range(20)]:
		    owner.answer(tag)
	EOF
'
test_expect_success 'a report larger than any honest one is refused unread' '
	long=$(head -c 100000 /dev/zero | tr "\0" a) &&
	printf "{\"jobid\":$alices,\"seq\":1,\"records\":[\"%s\"]}" "$(yes $long | head -n 30 | tr -d "\n")" >big &&
	python3 - <<-\EOF
		import json, wire
		try:
		    wire.Client(userid=5001, rolemask=2).rpc("job-priority.report", json.load(open("big")))
		    raise AssertionError("it was taken")
		except wire.Failed as failed:
		    assert failed.errnum == 71 and "2097152 bytes" in str(failed), failed
	EOF
'
test_expect_success 'fifty attaches of one job are one, and the earlier ones are told so' '
	python3 - $alices <<-\EOF
		import json, sys, wire
		client = wire.Client(userid=5001, rolemask=2)
		payload = {"jobid": int(sys.argv[1]), "instance": "one"}
		tags = [client.start("job-priority.attach", payload, wire.STREAMING) for _ in range(50)]
		client.answer(tags[-1])
		stats = json.loads(wire.Client().rpc("job-priority.stats-get"))
		assert stats["attached"] == 1, stats
		client.answer(tags[0])
		try:
		    client.answer(tags[0])
		    raise AssertionError("the first stream goes on")
		except wire.Failed as failed:
		    assert failed.errnum == wire.ENODATA, failed
	EOF
'
test_expect_success 'attaches under other names cost no commit each' '
	python3 - $alices <<-\EOF
		import json, sys, wire
		client, owner = wire.Client(userid=5001, rolemask=2), wire.Client()

		def commits():
		    return json.loads(owner.rpc("job-priority.metrics"))["commits"]["count"]

		before, names = commits(), 500
		for n in range(names):
		    payload = {"jobid": int(sys.argv[1]), "instance": f"name {n}"}
		    answer = json.loads(client.answer(client.start("job-priority.attach", payload, wire.STREAMING)))
		    assert answer["seq_acked"] == 0, answer
		assert commits() - before < names / 2, commits() - before
	EOF
'
test_expect_success 'after a restart the state file says the same, and what runs is charged on' '
	stop_broker here && start_broker here -c broker.toml -S statedir="$PWD/state" && call job-priority.sync "{}" &&
	is_conserved && cp usage.json before.json &&
	next=$(submit_as 5002 -n1 --simulate 0.1 --setattr bank=bio) && wait_event $next clean && call job-priority.sync "{}" &&
	is_conserved && test "$(jq .total.charged_core_us usage.json)" -gt "$(jq .total.charged_core_us before.json)"
'
test_expect_success 'it ends' '
	stop_broker here
'
test_done
