#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='partitions of a stock Flux run jobs as its owner, so they take no job of another user; and a running job keeps its time limit'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

follow_in_flux partitions.md
test "$(nproc)" -ge 2 || { skip_all='two partitions want two cores'; test_done; }

test_expect_success 'a copy of the prefix with Weir, configured as the page says' '
	copy_prefix && block "file: conf.d/partitions.toml" >copy/etc/flux/system/conf.d/partitions.toml
'
# A job that user 65534 submitted, as job-ingest hands it to the job-manager once it has checked the signature: there is
# no flux-security here that could sign it.
cat >other_user.py <<\EOF
import base64, json, sys, time
import flux, flux.job, flux.kvs
from flux.job import JobID, JobspecV1
h = flux.Flux()
spec = JobspecV1.from_command(sys.argv[3:], num_tasks=1, cores_per_task=1)
spec.cwd, spec.environment = "/", {"PATH": "/usr/bin:/bin"}
spec.setattr("system.queue", sys.argv[1])
jobid = int(flux.job.submit(h, spec, urgency=0)) + (1 << 24)
if sys.argv[2] == "bypass":
    spec.setattr("system.alloc-bypass", 1)
text = spec.dumps()
parts = b"version\0i1\0userid\0i65534\0mechanism\0snone\0\0", text.encode()
J = ".".join(base64.b64encode(part).decode() for part in parts) + ".none"
path = JobID(jobid).kvs
flux.kvs.put(h, path + ".J", J)
flux.kvs.put(h, path + ".jobspec", json.loads(text))
flux.kvs.commit(h)
redacted = json.loads(text)
redacted["attributes"]["system"].pop("environment", None)
job = {"id": jobid, "userid": 65534, "urgency": 16, "flags": 0, "t_submit": time.time(), "jobspec": redacted}
print(json.dumps(h.rpc("job-manager.submit", {"jobs": [job]}).get()))
EOF
cat >other.sh <<\EOF
flux queue start --all --quiet
flux submit --queue=batch --wait true && echo mine ran
for kind in plain bypass; do
	flux python other_user.py batch $kind touch "$PWD/by-another"
	flux python other_user.py instances $kind touch "$PWD/by-another"
done
flux submit --queue=batch --wait true && echo mine ran again
test -e by-another || echo it did not run
EOF
test_expect_success 'refused at submission, also in the queue of the partitions themselves, and with the attribute alloc-bypass' '
	inside other.sh >out 2>&1; code=$?; cat out && test $code = 0 && grep "^mine ran again" out && grep "^it did not run" out &&
	test "$(grep -c "the partitions of the queue batch run jobs as the owner of this instance, so they take no other user.s job" out)" = 2 &&
	test "$(grep -c "the queue instances is for the partitions themselves: submit to batch" out)" = 2
'
cat >limit.sh <<\EOF
flux queue start --all --quiet
runs=$(flux submit --queue=batch -t 1h sleep inf)
flux job wait-event -q -t 60 $runs start
flux update $runs duration=2h || echo refused
flux cancel $runs && flux job wait-event -q -t 60 $runs clean
flux jobs -no '{exception.type}' $runs
EOF
test_expect_success 'the time limit of a job that runs in a partition does not change, and the request says so' '
	inside limit.sh >out 2>&1; code=$?; cat out && test $code = 0 && grep "^refused" out && grep "^cancel" out &&
	grep "the job runs in a partition, where its time limit does not change any more" out
'
test_done
