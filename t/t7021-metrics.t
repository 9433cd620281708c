#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir metrics: OpenMetrics text that the reference parser accepts, with the figures of weir --json'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

# Debian's package is for Debian's interpreter; another one may come first in PATH.
for READER in python3 /usr/bin/python3 none; do
	"$READER" -c 'import prometheus_client.openmetrics.parser' 2>/dev/null && break
done
if test "$READER" = none; then
	skip_all="the parser of OpenMetrics is not installed (python3-prometheus-client)"
	test_done
fi

write_departments 'update-interval = "1s"'
cat >reading.py <<EOF
import json, sys
from compared import *
from prometheus_client.openmetrics.parser import text_string_to_metric_families
def families(name): return {f.name: f for f in text_string_to_metric_families(open(name).read())}
def values(name, family, *keys):
    return {tuple(s.labels[k] for k in keys): s.value for s in families(name)[family].samples}
EOF
URI=local://$WEIR_RUNDIR/local-0

test_expect_success 'an instance in which jobs have run' '
	start_weir --tree shares.toml --config weir.toml &&
	for u in alice bob carol; do
		id=$(weir submit --json --user $u -n 2 --simulate=0.2s x | python3 -c "import json, sys; print(json.load(sys.stdin)[\"id\"])") &&
		FLUX_URI=$URI wait_event $id clean || return 1
	done &&
	weir submit --user alice -n 6 -t 2h --simulate=1h long >long && for i in 1 2; do weir submit --user bob -n 6 --simulate=1h wait || return 1; done &&
	FLUX_URI=$URI wait_until job-priority.metrics "{\"depth\":1}" ".passes.count > 1 and ([.nodes[].running_cores] | add) == 6 and ([.nodes[].used] | min) > 0"
'
test_expect_success 'the reference parser accepts it, and every family has a help text' '
	weir metrics >m && tail -1 m | grep "^# EOF$" && "$READER" - <<-\EOF
	from reading import *
	found = families("m")
	same(len(found), 24)
	assert all(f.documentation for f in found.values())
	same(values("m", "weir_up", "module"), {("job-priority",): 1, ("job-list",): 1, ("job-route",): 1})
	EOF
'
test_expect_success 'entitlements are those of weir share show --json, to the digit; users have no series' '
	weir share show --json >show && "$READER" - <<-\EOF
	from reading import *
	accounts = [n for n in load("show")["nodes"] if n["kind"] == "account"]
	same(values("m", "weir_share_entitled_ratio", "path"), {(n["path"],): n["entitled"] for n in accounts})
	same(values("m", "weir_share_running_cores", "path"), {(n["path"],): n["running_cores"] for n in accounts})
	same(values("m", "weir_share_tree_revision"), {(): load("show")["revision"]})
	assert "@" not in open("m").read()
	used = values("m", "weir_share_used_ratio", "path")
	assert abs(used[("physics",)] + used[("chem",)] - 1) < 1e-12 and min(used.values()) > 0, used
	EOF
'
test_expect_success '--depth and --users choose the paths' '
	weir metrics --depth 1 >one && weir metrics --depth 9 --users >all && "$READER" - <<-\EOF
	from reading import *
	same(set(values("one", "weir_share_entitled_ratio", "path")), {("physics",), ("chem",)})
	same(len(values("all", "weir_share_entitled_ratio", "path")), 7)
	factors = values("all", "weir_share_factor", "path")
	assert ("physics/lattice/@alice",) in factors and all(0 <= f <= 1 for f in factors.values()), factors
	EOF
'
test_expect_success 'queues and partitions have the jobs that weir tree --json counts' '
	weir tree --json >tree && "$READER" - <<-\EOF
	from reading import *
	jobs, up = values("m", "weir_partition_jobs", "partition", "state"), values("m", "weir_partition_up", "partition")
	same(jobs, {(" and ".join(c["serves"]), s): c["jobs"][s] for c in load("tree")["children"] for s in ("pending", "running")})
	same(up, {(" and ".join(c["serves"]),): 1 for c in load("tree")["children"]})
	queues = values("m", "weir_queue_jobs", "queue", "state")
	same(sum(v for (q, s), v in queues.items() if s == "pending"), 2)
	EOF
'
test_expect_success 'waits are counted once a start; passes, pushes and commits have times' '
	"$READER" - <<-\EOF
	from reading import *
	waits = families("m")["weir_job_wait_seconds"].samples
	count = next(s.value for s in waits if s.name.endswith("_count"))
	assert 4 <= count <= 6, count  # four of users; the two partitions are jobs, too, and may have started before job-priority
	same(next(s.value for s in waits if s.labels.get("le") == "+Inf"), count)
	for name in ("weir_priority_pass_seconds", "weir_priority_push_seconds", "weir_state_commit_seconds"):
	    by = {s.name.rsplit("_", 1)[1]: s.value for s in families("m")[name].samples}
	    assert by["count"] >= 1 and 0 < by["sum"] < 60, (name, by)
	same(values("m", "weir_priority_plugin_up"), {(): 1})
	EOF
'
test_expect_success 'the error of estimated starts is that of each partition' '
	weir cancel $(cat long) && FLUX_URI=local://$WEIR_RUNDIR/batch/local-0 wait_until sched.stats-get "{}" ".estimates.count == 1" >stats &&
	weir metrics >m && "$READER" - <<-\EOF
	from reading import *
	errors = {(s.labels["partition"], s.name.rsplit("_", 1)[1]): s.value for s in families("m")["weir_sched_estimate_error_seconds"].samples}
	same(set(errors), {(p, kind) for p in ("", "batch", "debug") for kind in ("sum", "count")})
	same((errors["", "count"], errors["batch", "count"]), (0, 1))
	same(errors["batch", "sum"], load("stats")["estimates"]["total_s"])
	EOF
'
test_expect_success 'a file is replaced as a whole; a wrong depth is refused' '
	weir metrics -o weir.prom && "$READER" -c "from reading import *; assert families(\"weir.prom\")" &&
	test_expect_code 2 weir metrics --depth 0 2>err && test_must_fail weir metrics -o nowhere/weir.prom 2>err && grep nowhere err &&
	test_must_fail env "FLUX_URI=$URI" python3 "$WIRE" rpc job-priority.metrics "{\"depth\":100}"
'
test_expect_success 'every metric of the dashboard and of the alerts exists' '
	"$READER" - "$SHARNESS_TEST_SRCDIR/../etc/grafana" <<-\EOF
	import re
	from reading import *
	names = set()
	for f in families("m").values():
	    names |= {f.name} | {s.name for s in f.samples}
	names |= {"weir_link_up", "weir_link_unacknowledged_records"}  # of an instance inside another
	for name in ("weir-dashboard.json", "weir-alerts.yaml"):
	    used = set(re.findall(r"\bweir_[a-z_]+", open(sys.argv[1] + "/" + name).read()))
	    assert used and used <= names, used - names
	panels = load(sys.argv[1] + "/weir-dashboard.json")["panels"]
	places = [(p["gridPos"]["x"], p["gridPos"]["y"]) for p in panels]
	assert len(set(places)) == len(places) == len({p["id"] for p in panels}) and all(p["targets"] and p["description"] for p in panels), places
	shown = [t["expr"] for p in panels for t in p["targets"]]
	assert all(e.count("{instance=~") == len(re.findall(r"\bweir_[a-z_]+", e)) for e in shown), "each by the chosen instance"
	for family in ("share_used_ratio", "share_level", "queue_jobs", "partition_cores", "job_wait_seconds", "priority_pass_seconds", "sched_estimate_error_seconds", "state_commit_lag"):
	    assert any("weir_" + family in e for e in shown), family
	alerts = re.findall(r"alert: (\w+)\n\s+expr: .*\bweir_", open(sys.argv[1] + "/weir-alerts.yaml").read())
	same(len(alerts), 5)
	EOF
'
test_expect_success 'the instance ends' '
	stop_weir
'

test_done
