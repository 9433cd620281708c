#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='Prometheus scrapes weir serve: every panel of the dashboard has figures, and an alert fires when it should'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

command -v prometheus >/dev/null && command -v promtool >/dev/null || {
	skip_all='no prometheus and promtool here (the Debian package prometheus, which starts a server when it is installed)'
	test_done
}

write_departments 'update-interval = "1s"'
GRAFANA=$SHARNESS_TEST_SRCDIR/../etc/grafana
export GRAFANA
# With what the tests ask Prometheus: `from asking import *`.
cat >asking.py <<EOF
import json, os, select, time, urllib.parse, urllib.request
from compared import *

def asked(path, **parameters):
    link = "http://" + open("address").read().strip() + "/api/v1/" + path + "?" + urllib.parse.urlencode(parameters)
    with urllib.request.urlopen(link, timeout=60) as answer:
        return json.load(answer)["data"]

def series(expression):
    return asked("query", query=expression)["result"]

def until(holds, what):
    "Prometheus tells nobody that it has scraped: it is asked."
    end = time.monotonic() + 120
    while not (found := holds()):
        assert time.monotonic() < end, what
        select.select([], [], [], 0.2)
    return found
EOF

test_expect_success 'promtool takes the alerts' '
	promtool check rules "$GRAFANA/weir-alerts.yaml" >rules && grep "SUCCESS: 5 rules" rules
'
test_expect_success 'it scrapes an instance with the token of its page' '
	start_weir --tree shares.toml --config weir.toml && start_serve page --port 0 && weir metrics >metrics &&
	python3 - <<-\EOF &&
	from asking import *
	url = urllib.parse.urlsplit(load("page.json")["url"])
	with open("token", "w") as file:
	    file.write(url.fragment)
	with open("alerts.yaml", "w") as file:
	    file.write(open(os.environ["GRAFANA"] + "/weir-alerts.yaml").read().replace("for: 5m", "for: 1s"))
	# One that is quick, for this test, and one that waits as long as Prometheus does by itself.
	jobs = [{"job_name": name, "scrape_interval": interval, "authorization": {"credentials_file": "token"},
	         "static_configs": [{"targets": [url.netloc]}]} for name, interval in (("quick", "1s"), ("patient", "10s"))]
	with open("prometheus.yaml", "w") as file:
	    json.dump({"global": {"evaluation_interval": "1s"}, "rule_files": ["alerts.yaml"], "scrape_configs": jobs}, file)
	EOF
	mkfifo prometheus.log && exec 7<>prometheus.log &&
	{ prometheus --config.file=prometheus.yaml --storage.tsdb.path="$PWD/tsdb" --web.listen-address=127.0.0.1:0 2>prometheus.log 7<&- 8<&- & } &&
	WEIR_TEST_BROKERS="$WEIR_TEST_BROKERS $!" &&
	sed -n -u "s/.*\"Listening on\" address=//p; /Server is ready/q" <&7 >address && test -s address &&
	python3 - <<-\EOF
	from asking import *
	until(lambda: [s for s in series("count_over_time(weir_share_entitled_ratio[1m])") if float(s["value"][1]) >= 3], "three scrapes")
	same([t["lastError"] for t in asked("targets")["activeTargets"]], ["", ""])
	told = {s["metric"]["path"]: float(s["value"][1]) for s in series("weir_share_entitled_ratio")}
	same(told, {line.split(chr(34))[1]: float(line.split()[1]) for line in open("metrics") if line.startswith("weir_share_entitled_ratio{")})
	EOF
'
test_expect_success 'jobs have run: every line of the dashboard has figures, but for the link of an instance inside another' '
	for u in alice bob carol; do
		id=$(weir submit --user $u -n 2 --simulate=0.2s x) && ended $id || return 1
	done &&
	for i in 1 2 3; do weir submit -n 6 -t 1m --simulate=1s wait >last || return 1; done && weir why $(cat last) && ended $(cat last) &&
	python3 - <<-\EOF
	from asking import *
	panels = load(os.environ["GRAFANA"] + "/weir-dashboard.json")["panels"]
	shown = [(p["title"], t["expr"].replace("$instance", ".*")) for p in panels for t in p["targets"]]
	assert len(shown) > 15 and all("$" not in e for _, e in shown), shown
	same([e for _, e in shown if "weir_link" in e], ["weir_link_unacknowledged_records{instance=~\".*\"}"])
	for title, expression in shown:
	    if "weir_link" not in expression:
	        until(lambda: [s for s in series(expression) if s["value"][1] not in ("NaN", "+Inf")], f"{title}: {expression}")
	EOF
'
test_expect_success 'no alert fires; that of partitions does when they stop answering, and no other' '
	python3 - <<-\EOF &&
	from asking import *
	same(asked("alerts")["alerts"], [])
	EOF
	kill -STOP $(cat run/batch/broker.pid run/debug/broker.pid) &&
	python3 - <<-\EOF &&
	from asking import *
	def firing():
	    return {(a["labels"]["alertname"], a["labels"]["partition"]) for a in asked("alerts")["alerts"] if a["state"] == "firing"}
	until(lambda: len(firing()) >= 2, "two alerts that fire")
	same(firing(), {("WeirPartitionDown", "batch"), ("WeirPartitionDown", "debug")})
	EOF
	kill -CONT $(cat run/batch/broker.pid run/debug/broker.pid)
'
test_expect_success 'the instance ends' '
	stop_serve page && stop_weir
'

test_done
