#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the default bank of a user, and of the owner, stands in the jobspec of a job that names none, on every broker here'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
require_some_broker

cat >shares.toml <<'EOF'
"physics" = 60
"physics/lattice" = 1
"physics/lattice/@alice" = 1
"physics/lattice/@bob" = 1
"bio" = 40
"bio/@bob" = { shares = 1, default = true }
"bio/@*" = 1
EOF
# Another user's job, as job-ingest hands it to the job-manager once it has checked the signature: there is no flux-security
# here that could sign it.
cat >submit_as.py <<'EOF'
import json, sys, time
import flux, flux.job, flux.kvs
from flux.job import JobID, JobspecV1
user, bank = int(sys.argv[1]), sys.argv[2]
h = flux.Flux()
spec = JobspecV1.from_command(["true"], num_tasks=1, cores_per_task=1)
spec.cwd, spec.environment = "/", {}
spec.setattr("system.exec.test.run_duration", "0.1s")
if bank:
    spec.setattr("system.bank", bank)
jobid = JobID(int(flux.job.submit(h, spec, urgency=0)) + (1 << 24))
flux.kvs.put(h, jobid.kvs + ".jobspec", json.loads(spec.dumps()))
flux.kvs.commit(h)
redacted = json.loads(spec.dumps())
del redacted["attributes"]["system"]["environment"]
job = {"id": int(jobid), "userid": user, "urgency": 16, "flags": 0, "t_submit": time.time(), "jobspec": redacted}
errors = h.rpc("job-manager.submit", {"jobs": [job]}).get()["errors"]
print(jobid.f58 if errors == [] else errors)
EOF
cat >script.sh <<'EOF'
submit_as() { flux python submit_as.py "$1" "$2"; }
has() {
    flux job wait-event -q -t 60 "$1" clean
    test "$(flux jobs -no '{userid} {bank}' "$1")" = "$2 $3"
    test "$(flux job info "$1" jobspec | jq -r .attributes.system.bank)" = "$3"
    test "$(flux job eventlog "$1" | grep -c "jobspec-update attributes.system.bank=\"$3\"")" = $4
}
sync_priorities
# his only bank
id=$(submit_as 5001 "")
has $id 5001 physics/lattice 1
# the one of several that is marked
id=$(submit_as 5002 "")
has $id 5002 bio 1
# the bank of any user
id=$(submit_as 5003 "")
has $id 5003 bio 1
# a bank that the job names stays
id=$(submit_as 5002 lattice)
has $id 5002 lattice 0
# of the owner's own job it says that it was filled in: an instance in it would be a partition
id=$(flux submit --setattr=system.exec.test.run_duration=0.1s true)
has $id $(id -u) bio 1
test "$(flux job info $id jobspec | jq -r .attributes.system.weir.default_bank)" = bio
# each is charged to it
sync_priorities
rpc job-priority.usage >usage
jq -e --arg me "bio/@$(id -un)" '[.nodes[] | select(.charged_core_us > 0) | .path] | sort ==
    (["bio", "bio/@5003", "bio/@bob", $me, "physics", "physics/lattice", "physics/lattice/@alice", "physics/lattice/@bob"] | sort)' usage
EOF
steps_of script.sh >steps.sh
SHARES=shares.toml
# has ID USER BANK COUNT: what stands in the jobspec, and how many events have put it there
for broker in $BROKERS; do
	each_step "$broker" in_instance "$broker" "$PWD/state-$broker" steps.sh
done
test_done
