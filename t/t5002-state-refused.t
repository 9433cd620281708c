#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='state: a full disk, a file that is not ours, a file or a log that is gone: refused or told, nothing half done'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
require_some_broker

STATE_FILE=job-priority.sqlite
mkdir small && mount -t tmpfs -o size=1m none small 2>/dev/null && test_set_prereq TMPFS
trap 'state_test_code=$?; umount "$SHARNESS_TRASH_DIRECTORY/small" 2>/dev/null; (exit $state_test_code); die' EXIT

# set_tree REASON: a share tree that differs from the one in force.
cat >words.sh <<'EOF'
set_tree() {
	jq -Rsc --arg why "$1" '{toml: (. + "# " + $why + "\n"), reason: $why}' <"$PRIORITY_CONF/shares.toml" >edit.json
	rpc job-priority.tree-set "$(cat edit.json)"
}
site_of() {
	rpc job-priority.explain "{\"id\":$1}" | jq -c '[.terms[] | select(.name == "site") | .raw]'
}
EOF
cat >full.sh <<'EOF'
. ./words.sh
id=$(flux submit -n1 --urgency=hold --setattr=system.bank=bio true)
flux job wait-event -q -t 60 "$id" depend
sync_priorities
dec=$(flux job id --to=dec "$id")
set_tree first >first
rpc job-priority.site-set "{\"values\":[[$dec,0.25]]}" >site.first
site_of "$dec" >site.before
head -c 2000000 /dev/zero >small/fill || true
set_tree second >second || true
for n in $(seq 100 400); do # some still fit into what the log has
	rpc job-priority.site-set "{\"values\":[[$dec,0.$n]]}" >site.second || break
	jq -nc "[0.$n]" >site.before
done
rpc job-priority.tree-get | jq .revision >revision.full
rpc job-priority.history | jq '.revisions | length' >revisions.full
site_of "$dec" >site.after
for n in $(seq 40); do sync_priorities; done
stat_of state_failed >failed
stat_of state_failures >failures
rm small/fill
set_tree third >third
stat_of state_failed >failed.after
flux dmesg >log
EOF
cat >look.sh <<'EOF'
rpc job-priority.sync
rpc job-priority.history | jq -c "[.revisions[].reason]" >reasons
rpc job-priority.usage | jq .total.charged_core_us >charged
flux dmesg >log
EOF
cat >work.sh <<'EOF'
. ./words.sh
id=$(flux submit -n1 --setattr=system.bank=bio --setattr=system.exec.test.run_duration=0.2s true)
flux job wait-event -q -t 60 "$id" clean
sync_priorities
set_tree by-command
rpc job-priority.usage | jq .total.charged_core_us >charged.before
EOF
echo true >nothing.sh

for broker in $BROKERS; do
	dir=state-$broker
	test_expect_success TMPFS "$broker: on a full disk a tree and a value are refused, and nothing of them is in force" '
		rm -f small/* &&
		EXTRA="state = \"$PWD/small/$STATE_FILE\"" in_instance '$broker' "$PWD/'$dir'-full" ./full.sh &&
		jq -e ".revision == 2" first &&
		grep "^error 5: the share tree was not changed: state file" second &&
		grep "^error 5: the values were not changed: state file" site.second &&
		test "$(cat revision.full) $(cat revisions.full)" = "2 2" &&
		test_cmp site.before site.after
	'
	test_expect_success TMPFS "$broker: a failing write is tried seldom, told once, and its end is told" '
		test "$(cat failed)" = true && test "$(cat failures)" -lt 12 &&
		ends=$(grep -c "the state file is written again" log) && test "$ends" -gt 0 &&
		test "$(grep -c "changes are kept in memory" log)" = "$ends" &&
		jq -e ".revision == 3" third && test "$(cat failed.after)" = false
	'
	test_expect_success "$broker: the file of another program is refused and stays where it is, byte for byte" '
		mkdir -p '$dir'-foreign &&
		python3 -c "import sqlite3; c = sqlite3.connect(\"'$dir'-foreign/$STATE_FILE\"); c.execute(\"create table t (x)\"); c.commit()" &&
		cp '$dir'-foreign/$STATE_FILE foreign &&
		test_must_fail in_instance '$broker' "$PWD/'$dir'-foreign" ./nothing.sh >refused 2>&1 &&
		grep "$STATE_FILE is a SQLite file of another program.*\[weir\] state" refused &&
		test_cmp foreign '$dir'-foreign/$STATE_FILE &&
		test_must_fail test -e '$dir'-foreign/$STATE_FILE.corrupt-1
	'
	test_expect_success "$broker: without its file the usage is counted again from the journal, and the loss is told" '
		in_instance '$broker' "$PWD/'$dir'-lost" ./work.sh &&
		rm '$dir'-lost/$STATE_FILE* &&
		in_instance '$broker' "$PWD/'$dir'-lost" ./look.sh &&
		test_cmp charged.before charged && test "$(cat charged)" -gt 0 &&
		grep "there was no state in .*$STATE_FILE, but the job-manager knows 1 jobs that have ended" log &&
		test "$(jq length reasons)" = 1
	'
	test_expect_success "$broker: an emptied file is told as well" '
		: >'$dir'-lost/$STATE_FILE &&
		in_instance '$broker' "$PWD/'$dir'-lost" ./look.sh &&
		test_cmp charged.before charged &&
		grep "state file .*$STATE_FILE was empty" log
	'
done

if echo "$BROKERS" | grep -q -w weir; then
	test_expect_success 'weir: after a kill a log that is there loses nothing, one that is gone is told' '
		in_instance weir "$PWD/log-there" ./nothing.sh &&
		boot_weir "$PWD/log-there" &&
		{ echo ". \"$SHARNESS_TEST_SRCDIR/sharness.d/40-flux.sh\"" && cat work.sh; } >work-now.sh &&
		bash -e ./work-now.sh &&
		kill -9 $weir_pid && forget_weir && cp -r log-there log-gone && rm log-gone/$STATE_FILE-wal &&
		in_instance weir "$PWD/log-there" ./look.sh &&
		test_cmp charged.before charged && jq -e ".[-1] == \"by-command\"" reasons &&
		test_must_fail grep "write-ahead log" log &&
		in_instance weir "$PWD/log-gone" ./look.sh &&
		test_cmp charged.before charged &&
		grep "$STATE_FILE-wal is missing or empty" log
	'
	# A guest's child: reports until one is applied and not written.
	cat >child.py <<-\EOF
		import json, sys, wire
		child, job, owner = wire.Client(userid=5001, rolemask=2), int(sys.argv[1]), wire.Client()

		def attached():
		    client = wire.Client(userid=5001, rolemask=2)
		    payload = {"jobid": job, "instance": "one"}
		    return json.loads(client.answer(client.start("job-priority.attach", payload, wire.STREAMING)))["seq_acked"]

		def report(seq):
		    records = [[seq, 10**12 + seq, "alice", "bio", 1], [seq, 10**12 + seq + 1]]
		    return json.loads(child.rpc("job-priority.report", {"jobid": job, "seq": seq, "records": records}))["seq_acked"]

		acked = attached()
		try:
		    while acked < 4000:
		        acked = report(acked + 1)
		    sys.exit("all was written")
		except wire.Failed as failed:
		    assert failed.errnum == 11 and "cannot be written" in str(failed), failed
		try:
		    sys.exit(f"it was told {attached()}, and {acked} are written")
		except wire.Failed as failed:
		    assert failed.errnum == 11 and "cannot be written" in str(failed), failed
		print(acked)
	EOF
	test_expect_success TMPFS 'weir: a child of a guest that attaches is not told of what is not written' '
		rm -f small/* && broker_config "resource job-manager job-exec sched-weir-fcfs job-priority" job-priority-tap.so 0-7 >full.toml &&
		printf "[weir]\nstate = \"%s\"\n[weir.users]\nalice = 5001\n[access]\nallow-guest-user = true\n" "$PWD/small/$STATE_FILE" >>full.toml &&
		start_broker full -c full.toml &&
		job=$(python3 "$WIRE" --userid 5001 --rolemask 1 submit -n2 --simulate 1000 -- true) && wait_event $job alloc &&
		call job-priority.sync "{}" && { head -c 2000000 /dev/zero >small/fill || :; } &&
		python3 child.py $job >written && rm small/fill &&
		wait_until job-priority.stats-get "{}" ".state_failed | not" &&
		python3 "$WIRE" --userid 5001 --rolemask 2 stream job-priority.attach "{\"jobid\":$job,\"instance\":\"one\"}" --count 1 >told &&
		test "$(jq .seq_acked told)" -gt "$(cat written)" && stop_broker full
	'
fi
test_done
