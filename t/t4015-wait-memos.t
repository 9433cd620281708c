#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='flux jobs shows why a job is held back: volatile memos and the format why, on every broker here'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
require_some_broker

cat >shares.toml <<'EOF'
"bio" = {shares = 1, running_jobs_max = 1}
"bio/@*" = 1
EOF
SHARES=$PWD/shares.toml
export SHARES
mkdir -p xdg/flux && cp "$SHARNESS_TEST_SRCDIR/../etc/flux/flux-jobs.weir.toml" xdg/flux/
XDG_CONFIG_DIRS=$PWD/xdg
export XDG_CONFIG_DIRS

cat >script.sh <<'EOF'
job() { flux submit -n1 --setattr=system.bank=bio "$@" sleep inf; }
memo() { timeout 60 flux python "$SHARNESS_TEST_SRCDIR/tools/annotation.py" "$1" user.why "$2"; }
# a job over a limit and a job on hold say so
first=$(job)
flux job wait-event -q -t 30 $first alloc
second=$(job)
memo $second "^limit: bio runs at most 1 job; 1 runs"
held=$(job --urgency=hold)
memo $held "^held: urgency 0"
# the format file shows them in a column
flux jobs -o why >table
cat table
grep "limit: bio runs at most 1 job" table
grep "held: urgency 0" table
# nothing of it is in an eventlog
flux job eventlog $second >eventlog
if grep memo eventlog; then false; fi
# the memo goes when the reason goes
flux cancel $first
flux job wait-event -q -t 30 $second alloc
memo $second ""
flux job urgency $held 16
memo $held "^limit: "
# a stopped queue says so, one without a name as well
flux queue stop
memo $held "^the queue starts no jobs"
flux queue start
memo $held "^limit: "
EOF

for broker in $BROKERS; do
	rm -rf "state-$broker"
	steps_of script.sh >"steps-$broker.sh"
	each_step "$broker" in_instance $broker "$PWD/state-$broker" "$PWD/steps-$broker.sh"
done

test_done
