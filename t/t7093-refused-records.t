#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='usage of a partition that its parent cannot read holds nothing up'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir]
enforce = false
[weir.users]
alice = 5001
carol = 5003
[[partition]]
name = "batch"
cores = 4
EOF
cat >shares.toml <<EOF
"bio" = 1
"bio/@alice" = 1
"bio/@carol" = 1
EOF
# has_paid USER SECONDS: none of the user's jobs runs, and they had so many core-seconds
has_paid() {
	wait_until job-priority.usage "{}" ".nodes[] | select(.path == \"bio/@$1\") | .running_cores == 0 and .charged_core_us > $2 * 1000000" >/dev/null
}
begin() {
	start_weir --cores 4 --config site.toml --tree shares.toml --statedir "$(pwd)/state" &&
	FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI && are_up batch
}
longest=$(printf "%01100d" 0)

test_expect_success 'the next job counts after one whose account has a name of 1100 bytes' '
	begin && weir submit --user alice -q batch --account $longest --simulate=1s --wait x &&
	weir submit --user carol -q batch --simulate=1s --wait x && has_paid carol 0.9
'
cat >add_records.py <<EOF
# FILE: adds three records that the parent does not have, and cannot read the second
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1])
seq = int(db.execute("SELECT value FROM meta WHERE key = 'uplink_seq'").fetchone()[0])
with db:
    for i, account in enumerate(["bio", "$longest", "bio"], 1):
        db.execute("INSERT INTO uplink (seq, is_start, job, user, account, cores, time_us) VALUES (?, 1, ?, 'alice', ?, 0, ?)",
                   (seq + i, 70 + i, account, int(time.time() * 1e6)))
    db.execute("UPDATE meta SET value = ? WHERE key = 'uplink_seq'", (str(seq + 3),))
print(seq + 2)
EOF
test_expect_success 'such a record in the state file of a partition is dropped, and what follows counts' '
	stop_weir && python3 add_records.py state/batch/job-priority.sqlite >number && begin &&
	weir submit --user carol -q batch --simulate=1s --wait x && has_paid carol 1.8 &&
	grep "is dropped" state/batch.log >dropped && cat dropped && grep "usage record $(cat number) is dropped: the parent.s job-priority cannot read it (record 0 must be" dropped
'
test_expect_success 'stop' 'stop_weir'
test_done
