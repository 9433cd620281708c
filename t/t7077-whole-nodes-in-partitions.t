#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='limits of cores of a partition, and jobs that request whole nodes: they count with all cores of these'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[resource]
noverify = true
[[resource.config]]
hosts = "n[0-3]"
cores = "0-3"
[weir.users]
alice = 5001
bob = 5002
[[partition]]
name = "wide"
queues = ["batch"]
nodes = 3
cores-per-node = 4
limits = { user-cores-max = 4 }
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# Arguments UID NODES: a job of so many whole nodes, which ends when it is cancelled. It asks for one core of each.
cat >whole.py <<EOF
import os, sys
sys.path.insert(0, os.path.join(os.environ["SHARNESS_TEST_SRCDIR"], "tools"))
import jobctl
spec = jobctl.jobspec(*jobctl.submit_words(["-q", "batch", "-r", "3600", "-t", "7200"]))
spec["resources"] = [{"type": "node", "count": int(sys.argv[2]), "exclusive": True, "with": spec["resources"]}]
print(jobctl.Client(os.environ["FLUX_URI"], int(sys.argv[1]), 3).submit(spec))
EOF
export SHARNESS_TEST_SRCDIR
# whole NAME UID NODES: $NAME is its id
whole() {
	id=$(python3 whole.py $2 $3) && eval "$1=$id"
}
# waits ID COUNT: wide has no place for it by its limit, as that many cores of its user are in use there
waits() {
	wait_until job-route.locate "{\"id\":$1}" ".child == 0 and .partitions[0].limit == \"runs jobs of a user on at most 4 cores; $2\"" >/dev/null
}
run_now() {
	call job-manager.list "{\"max_entries\":0,\"attrs\":[\"state\"]}" >jobs && cat jobs
}

test_expect_success 'of three jobs of a user, of a node each, one runs at a time' '
	start_weir --config site.toml && are_up wide &&
	whole a 5001 1 && wait_event $a start && whole b 5001 1 && whole c 5001 1 && waits $b "4 are in use" && waits $c "4 are in use" &&
	weir why $b | tee why && grep "^The partition wide runs jobs of a user on at most 4 cores; 4 are in use\.$" why
'
test_expect_success 'another user gets a node; his second one waits' '
	whole d 5002 1 && wait_event $d start && whole e 5002 1 && waits $e "4 are in use"
'
test_expect_success 'the next one starts at the end of the first, and the last one still waits' '
	weir cancel $a && wait_event $b start && waits $c "4 are in use"
'
test_expect_success 'two nodes are more than the limit, and one core fits no more beside a node' '
	whole f 5001 2 && waits $f "4 are in use" && g=$(weir submit --user alice -q batch --json --simulate=1h x | jq .id) && waits $g "4 are in use"
'
test_expect_success 'it is so when job-route is loaded anew' '
	load_route_again && are_up wide && waits $c "4 are in use" && weir cancel $b && wait_event $c start && waits $f "4 are in use"
'
test_done
