#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a scheduler of Weir in a stock Flux: every one of more than a thousand waiting jobs is at its place, and they start in that order'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

CONFIG=$SHARNESS_TEST_SRCDIR/priority-conf
run_under_flux "$CONFIG/weir.toml"
SCHED=$WEIR_BUILD_DIR/lib/flux/modules/sched-weir-easy.so
EACH=600

# places BANK: whether the waiting jobs, of which every fifth is asked for, are at the scheduler in the order of their
# present priorities, those of BANK before those of the other one that have the same urgency.
cat >places.py <<'EOF'
import flux, sys
handle = flux.Flux()
jobs = handle.rpc("job-priority.list", {}).get()["jobs"]
priority = {job["id"]: job["priority"] for job in jobs}
asked = sorted(priority)[::5]
place = {id: handle.rpc("sched.why", {"id": id}).get()["place"] for id in asked}
ordered = sorted(asked, key=place.get)
passed = [(a, b) for a, b in zip(ordered, ordered[1:]) if priority[a] < priority[b]]
print(f"{len(priority)} jobs, asked for {len(asked)}, places up to {max(place.values())}, out of order {passed}")
deepest = {int(id): bank for id, bank in (line.split() for line in open("banks"))}
last = deepest[ordered[-1]]
print(f"the last one is of {last}")
sys.exit(bool(passed) or max(place.values()) < 1000 or last == sys.argv[1])
EOF

# The bank with so many shares is behind as soon as it alone has usage, and before when the other one has some as well.
sed 's/^"bio" .*/"bio" = 100000/' "$CONFIG/shares.toml" >shares.toml

# starts: whether the jobs of each bank got their resources by urgency, then by submission.
cat >starts.py <<'EOF'
import flux, json, sys
from flux.constants import FLUX_RPC_STREAMING
banks = {int(id): bank for id, bank in (line.split() for line in open("banks"))}
stream = flux.Flux().rpc("job-manager.events-journal", {"full": True}, flags=FLUX_RPC_STREAMING)
log = {}
while True:
    answer = stream.get()
    if answer["id"] == -1 or not answer["events"]:
        break
    for event in answer["events"]:
        log.setdefault(answer["id"], {}).setdefault(event["name"], event)
    stream.reset()
wrong = 0
for bank in set(banks.values()):
    started = sorted((log[id]["alloc"]["timestamp"], -log[id]["submit"]["context"]["urgency"], log[id]["submit"]["timestamp"], id)
                     for id in banks if banks[id] == bank)
    keys = [key[1:] for key in started]
    wrong += sum(a > b for a, b in zip(keys, keys[1:]))
    print(f"{bank}: {len(keys)} starts, {wrong} before one of a higher priority")
sys.exit(wrong > 0)
EOF

# two_passes: returns after two passes that job-priority made by itself. After a sync the job-manager has all priorities
# of now, which would hide an order that the scheduler lacks.
two_passes() {
	last=$(($(stat_of passes) + 2))
	wait_until job-priority.stats-get "{}" ".passes >= $last" >/dev/null
}

# submit BANK URGENCY: a fifth of its jobs, of no length.
submit() {
	flux submit --cc=1-$((EACH / 5)) -n1 -t 1m --setattr=system.bank="$1" --setattr=system.exec.test.run_duration=1ms \
		--urgency="$2" true >new && flux job id --to=dec $(cat new) | sed "s|\$| $1|" >>banks
}

test_expect_success 'more than a thousand jobs of two banks wait while one bank holds the machine' '
	flux module remove sched-simple &&
	flux module load "$SCHED" &&
	flux jobtap load "$PRIORITY_TAP" &&
	flux module load "$PRIORITY_SO" push=head push-rate=0.1 update-interval=1s &&
	rpc job-priority.tree-set "$(jq -Rs "{toml: .}" <shares.toml)" &&
	flux submit -n$(nproc) --setattr=system.bank=bio sleep inf >blocker &&
	flux job wait-event -q -t 30 $(cat blocker) alloc &&
	for urgency in 9 12 10 16 11; do
		submit bio $urgency && submit physics/lattice $urgency || return 1
	done &&
	for id in $(cat new); do
		flux job wait-event -q -t 30 $id priority || return 1
	done &&
	test $(wc -l <banks) = $((2 * EACH))
'
test_expect_success 'one that came late has the lowest number in flux jobs, and its explanation says why' '
	last=$(tail -n 1 banks | cut -d" " -f1) &&
	test "$(flux jobs -n -o "{priority}" $last)" = 1 &&
	rpc job-priority.explain "{\"id\": $last}" >explained &&
	jq -e ".priority > 1 and .pushed == 1" explained &&
	jq -r ".words[]" explained | grep "has it as 1: the job came to a deep queue"
'
test_expect_success 'the scheduler has each at the place of its priority' '
	sync_priorities &&
	flux python places.py physics/lattice
'
test_expect_success 'when usage makes the banks swap ranks, each is at its new place' '
	flux submit -n$(nproc) --urgency=31 --setattr=system.bank=physics/lattice sleep inf >other &&
	flux cancel $(cat blocker) &&
	flux job wait-event -q -t 30 $(cat other) alloc &&
	two_passes &&
	flux python places.py bio
'
test_expect_success 'a scheduler that is loaded again gets the order of all again' '
	flux module remove sched-weir-easy &&
	flux module load "$SCHED" &&
	sync_priorities &&
	sync_priorities &&
	flux python places.py bio
'
test_expect_success 'in each bank no job starts while one of a higher priority waits' '
	flux cancel $(cat other) &&
	flux queue drain -t 120 &&
	flux python starts.py &&
	flux module remove job-priority
'
test_done
